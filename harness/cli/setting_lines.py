"""The config files read without Hydra: names of settings, kinds of models, and what a command line chooses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.config_files import CONFIGS, SAME_AS, is_shipped, listed, root_file, settings_in, text_of
from harness.errors import ConfigError, unknown

_HIDDEN = ("_target_", "defaults", "hydra")


def first_comment(file: Path) -> str:
    """Return the comment in a file's first line, or why the file cannot be read."""
    try:
        first = text_of(file).partition("\n")[0]
        if not is_shipped(file):
            settings_in(file)
    except ConfigError as error:
        return f"({str(error).rstrip('.')})"
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def names_in(file: Path) -> dict[str, Any]:
    """Return the settings that stand in a file, and their values, with those of a section below it (price.input)."""
    content = settings_in(file)
    sections = {name: value for name, value in content.items() if isinstance(value, dict)}
    below = {f"{name}.{key}": value for name, section in sections.items() for key, value in section.items()}
    return {name: value for name, value in {**content, **below}.items() if name.partition(".")[0] not in _HIDDEN}


def bases_of(group: str, name: str) -> list[str]:
    """Return the names that a file of a group builds on, in their order. Raises ConfigError."""
    entries = settings_in(listed(CONFIGS, group)[name]).get("defaults") or []
    names = [entry for entry in entries if isinstance(entry, str) and entry != "_self_"]
    return [name.rpartition(f"/{SAME_AS.get(group, group)}/")[2] for name in names]


def files_of(group: str, name: str, above: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the file of a choice of a group, and those that it builds on."""
    if name not in above and (file := listed(CONFIGS, group).get(name)) is not None:
        yield file
        for base in bases_of(group, name):
            yield from files_of(group, base, (*above, name))


def groups(config_name: str) -> dict[str, str]:
    """Return the config groups that a command chooses from, as its file's `defaults:` list them, with what they are."""
    text = root_file(config_name).read_text(encoding="utf-8")
    return {group: name.strip("\"'") for group, name in re.findall(r"^  - (\w+): (\S+)", text, re.MULTILINE)}


def choice_of(group: str, config_name: str, arguments: Sequence[str]) -> str:
    """Return the name that a command line chooses for a group, the first one in a sweep; else that of the default."""
    names = [word.partition("=")[2] for word in arguments if word.startswith(f"{group}=")]
    return (names[-1].partition(",")[0] if names else "") or groups(config_name).get(group, "")


def unknown_choice(group: str, value: str, names: Mapping[str, Path]) -> str:
    """Return the sentence for a name that a group lacks, with how a model of the Hub or of a server is named."""
    if group in ("model", "judge") and "/" in value:
        ways = [way for way in ("causal_lm", "vllm") if way in names]
        use = " or, through vLLM, ".join(f"{group}={way} {group}.path={value}" for way in ways)
        provider, _, name = value.partition("/")
        of_provider = f"of a provider it is {group}={provider} {group}.model={name}, " if provider in names else ""
        return f"there is no {group} {value!r}: {of_provider}a checkpoint of the Hub is {use} (harness --help models)."
    sentence = unknown(group, value, names)
    if group == "model" and "openai" in names:
        sentence += f" One of a server is model=openai model.model={value} model.base_url=URL."
    return sentence


def settings(config_name: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a command and of the parts that its command line chooses, by their full names."""
    found: dict[str, Any] = {}
    for group in groups(config_name):
        with suppress(ConfigError):
            for file in files_of(group, choice_of(group, config_name, arguments)):
                found = {f"{group}.{name}": value for name, value in names_in(file).items()} | found
    return found | names_in(root_file(config_name))


_TITLES = {
    "own": "your own, in ./configs/model/",
    "api": "of providers and of servers of your own; openai, claude, gemini and their like take any model by its name",
    "local": "checkpoints on this machine, from the Hugging Face Hub or a package",
    "baseline": "baselines, and exact logic",
}


def models_by_kind(files: Mapping[str, Path]) -> list[tuple[str, dict[str, Path]]]:
    """Return the files of models by name under the title of their kind, in the order of the help."""
    groups: dict[str, dict[str, Path]] = {kind: {} for kind in _TITLES}
    for name, file in files.items():
        groups[_kind(name, file)][name] = file
    return [(_TITLES[kind], members) for kind, members in groups.items() if members]


def _kind(name: str, file: Path) -> str:
    """Return the kind of a model, by the room that its class is in."""
    if not is_shipped(file):
        return "own"
    targets = (settings_in(each).get("_target_") for each in files_of("model", name))
    target = str(next(filter(None, targets), ""))
    return next((kind for kind in ("api", "local") if f".{kind}." in target.replace(".served.", ".local.")), "baseline")
