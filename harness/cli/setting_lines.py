"""The config files read without Hydra: settings, values, comments, kinds of models, and what a command line chooses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.codec import plain_text
from harness.config_files import CONFIGS, SAME_AS, is_shipped, listed, root_file
from harness.errors import DataError, unknown

_HIDDEN = ("_target_", "defaults", "hydra")


@dataclass(frozen=True)
class Setting:
    """A setting of a file."""

    name: str
    """With a dot where it is one of a section, as in price.input."""
    value: str
    """As the file has it; empty for a section."""
    comment: tuple[str, ...]
    """The lines of the comment beside it and below it."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that the comment lists, as in `test | train (…) | dev`; () where it lists none."""
        if self.value in ("true", "false"):
            return ("true", "false")
        first, *others = re.sub(r"\([^()]*\)|; null:.*", "", " ".join(self.comment[:1])).split(" | ")
        begins_with_text = re.fullmatch(r"\S+ .*?([\w.-]+)\s*", first) if not re.match(r"[\w.-]+:", first) else None
        names = [begins_with_text[1] if begins_with_text else first, *others] if others else []
        return tuple(match[0] for name in names if (match := re.match(r"[\w.-]+", name)))


def text_of(file: Path) -> str:
    """Return the text of a config or prompt file. Raises DataError, with the reason alone."""
    try:
        return plain_text(file)
    except UnicodeDecodeError:
        raise DataError("it is not UTF-8") from None
    except OSError as error:
        raise DataError(error.strerror or "it cannot be read") from None


def first_comment(file: Path) -> str:
    """Return the comment in a file's first line, or why the file cannot be read."""
    try:
        first = text_of(file).partition("\n")[0]
    except DataError as error:
        return f"(cannot be read: {error})"
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def settings_in(file: Path) -> list[Setting]:
    """Return the settings that stand in a file. Raises DataError where it is no YAML mapping."""
    text = text_of(file)
    return [*_settings(_root(text), text.splitlines())] if text.strip() else []


def settings_of(group: str, name: str) -> list[Setting]:
    """Return the settings of a choice of a group, with those of the files that it builds on: its own values win."""
    return [*_with_defaults(group, name, ()).values()]


def bases_of(group: str, name: str) -> list[str]:
    """Return the names that a file of a group lists as its defaults, in their order. Raises DataError."""
    text = text_of(listed(CONFIGS, group)[name])
    for key, value in _pairs(_root(text)) if text.strip() else ():
        if key.value == "defaults":
            names = [entry.value for entry in value.value if isinstance(entry.value, str)]
            return [name.rpartition(f"/{SAME_AS.get(group, group)}/")[2] for name in names]
    return []


def files_of(group: str, name: str, above: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the file of a choice of a group, and those that it builds on."""
    if name not in above and (file := listed(CONFIGS, group).get(name)) is not None:
        yield file
        for base in bases_of(group, name):
            yield from files_of(group, base, (*above, name))


def _with_defaults(group: str, name: str, above: Sequence[str]) -> dict[str, Setting]:
    """Return settings by name. A comment of a file's own stands below that of the file that it builds on."""
    bases = [base for base in bases_of(group, name) if base not in (*above, name)]
    settings: dict[str, Setting] = {}
    own = {setting.name: setting for setting in settings_in(listed(CONFIGS, group)[name])}
    for base in bases if "_self_" in bases else [*bases, "_self_"]:
        known = base in listed(CONFIGS, group)
        more = own if base == "_self_" else _with_defaults(group, base, (*above, name)) if known else {}
        for key, setting in more.items():
            below = settings[key].comment if key in settings else ()
            here = tuple(f"{name}: {line}" for line in setting.comment) if below else setting.comment
            settings[key] = replace(setting, comment=(*below, *here))
    return settings


def _root(text: str) -> Any:
    import yaml

    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).replace('in "<unicode string>", ', "").split())
        raise DataError(f"it is not YAML: {reason}") from None


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    from yaml import MappingNode

    if node is None:
        return []
    if not isinstance(node, MappingNode):
        raise DataError("it holds no settings (name: value)")
    return list(node.value)


def _settings(node: Any, lines: Sequence[str], prefix: str = "") -> Iterator[Setting]:
    from yaml import MappingNode

    for key, value in _pairs(node):
        if not prefix and key.value in _HIDDEN:
            continue
        section = isinstance(value, MappingNode) and not value.flow_style and value.value
        end = key.end_mark if section else value.end_mark
        written = "" if section else _written(value, lines)
        yield Setting(f"{prefix}{key.value}", written, tuple(_comment(lines, end.line, end.column)))
        if section:
            yield from _settings(value, lines, f"{prefix}{key.value}.")


def _written(value: Any, lines: Sequence[str]) -> str:
    """Return a value as its file has it; the first line of one that takes several."""
    start, end = value.start_mark, value.end_mark
    if start.line == end.line:
        return str(lines[start.line][start.column : end.column])
    return f"{lines[start.line][start.column :].strip()} …"


def _comment(lines: Sequence[str], line: int, column: int) -> Iterator[str]:
    """Yield the comment after a value, and the lines below that go on with it."""
    comment = re.match(r"[^#'\"]*?(?:^|\s)#\s?(.*)", lines[line][column:]) if line < len(lines) else None
    if comment is None:
        return
    yield comment[1].strip()
    for below in lines[line + 1 :]:
        if not below.lstrip().startswith("#"):
            return
        yield below.lstrip().removeprefix("#").rstrip().removeprefix("  ")


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
    if group == "model" and "/" in value:
        ways = [way for way in ("causal_lm", "vllm") if way in names]
        use = " or, through vLLM, ".join(f"model={way} model.path={value}" for way in ways)
        return f"there is no model {value!r}: a checkpoint of the Hub is {use} (--help models lists names)."
    sentence = unknown(group, value, names)
    if group == "model" and "openai" in names:
        sentence += f" --help models lists all; one of a server is model=openai model.model={value} model.base_url=URL."
    return sentence


def settings(config_name: str, arguments: Sequence[str]) -> Iterator[Setting]:
    """Yield the settings of a command and of the parts that its command line chooses, by their full names."""
    with suppress(DataError):
        yield from settings_in(root_file(config_name))
    for group in groups(config_name):
        with suppress(DataError, KeyError):
            for setting in settings_of(group, choice_of(group, config_name, arguments)):
                yield replace(setting, name=f"{group}.{setting.name}")


_BASE = re.compile(r"^defaults: *\[(\w+), *_self_\]", re.MULTILINE)
_CLASS = re.compile(r"^_target_: *(\S+)", re.MULTILINE)
_NAMED = re.compile(r"^(?:model|path): *[^?\s]", re.MULTILINE)
_PAPER = re.compile(r"^# paper: *(.+?) *$", re.MULTILINE)
_TITLES = (
    "your own, in ./configs/model/",
    "any model by its name: of a provider, of a server of your own, or a checkpoint on this machine",
    "hosted models, November 2026",
    "checkpoints from the Hugging Face Hub, November 2026, on this machine",
)
_OWN, _ANY, _HOSTED, _CHECKPOINT = _TITLES
_BASELINE = "baselines, and exact logic"


def models_by_kind(files: Mapping[str, Path]) -> list[tuple[str, dict[str, Path]]]:
    """Return the files of models by name under the title of their kind, in the order of the help."""
    texts = {name: _text(file) for name, file in files.items()}
    titles = {name: _title(name, file, texts) for name, file in files.items()}
    papers = sorted({*titles.values()} - {*_TITLES, _BASELINE}, reverse=True)
    groups = {title: {n: files[n] for n in files if titles[n] == title} for title in (*_TITLES, *papers, _BASELINE)}
    return [(title, members) for title, members in groups.items() if members]


def _text(file: Path) -> str:
    """Return a file's text; "" for one that cannot be read, which the list says in its place."""
    try:
        return text_of(file)
    except DataError:
        return ""


def _title(name: str, file: Path, texts: Mapping[str, str]) -> str:
    if not is_shipped(file):
        return _OWN
    chain = _chain(name, texts)
    target = next((match[1] for text in chain if (match := _CLASS.search(text))), "")
    if ".api." not in target and ".local." not in target:
        return _BASELINE
    if paper := _PAPER.search(chain[0]):
        return f"those of the {paper[1]} paper"
    if not _NAMED.search(chain[0]):
        return _ANY
    return _HOSTED if ".api." in target else _CHECKPOINT


def _chain(name: str, texts: Mapping[str, str]) -> list[str]:
    """Return a config's text and the texts of those it is built on, the nearest first, each once."""
    names = [name]
    while (base := _BASE.search(texts[names[-1]])) and base[1] in texts and base[1] not in names:
        names.append(base[1])
    return [texts[each] for each in names]
