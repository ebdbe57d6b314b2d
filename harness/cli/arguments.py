"""The arguments of a command that Hydra composes, checked before Hydra does, so that every error is one clear sentence.

Names are looked up in the config files themselves; Hydra's errors are not read.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

from harness.cli.commands import summaries
from harness.cli.key_value import without_dashes
from harness.cli.setting_lines import bases_of, choice_of, files_of, groups, names_in, settings, unknown_choice
from harness.config_files import CONFIGS, listed
from harness.errors import MOST_LISTED, ConfigError, unknown

HYDRAS = re.compile(
    r"--(?!multirun)(cfg|package|resolve|run|info|config-|hydra-help|shell|experimental).*|-[cipr].*|-sc"
)
"""Hydra's own flags besides that of a sweep: with one of them it reads the command line alone."""
SWEEP = {"-m", "--multirun"}
_PLAIN = re.compile(r"[+~]{0,2}[\w/.@:]+=[\w./:@%+,\[\]{}\"'$-]*", re.ASCII)
"""A setting that Hydra reads as it is written, or refuses for what it is."""
_SETTING = re.compile(r"(?P<key>\+{0,2}[\w/.@:]+)=(?P<value>[^\[\]{},\"'$\\\n]+)", re.DOTALL)
"""A setting whose value is one text: no list, no quotes, no sweep."""
_NAME = re.compile(r"prompt|results|cache\.path|(?:model|judge|task)\.(?:name|model|path)")
"""Settings whose value is a name, also where YAML reads a number or a truth in it."""


def ready_for_hydra(arguments: Sequence[str], config_name: str) -> list[str]:
    """Return the arguments as Hydra takes them. Raises ConfigError for an option that is a setting, and a bare word."""
    if any(map(HYDRAS.fullmatch, arguments)):
        return list(arguments)
    for argument in arguments:
        if argument.startswith("-") and argument not in SWEEP and not argument[1:2].isdigit():
            raise ConfigError(without_dashes(argument))
        if "=" not in argument and argument[:1] not in "~-":
            raise ConfigError(_bare(argument, arguments, config_name))
    return list(map(_quoted, arguments))


def _quoted(argument: str) -> str:
    """Return a setting in quotes, if its value is one text that Hydra cannot read without them."""
    setting = _SETTING.fullmatch(argument)
    if setting is None or (_PLAIN.fullmatch(argument) and not _NAME.fullmatch(setting["key"])):
        return argument
    read, value, _ = _read(argument)
    is_name = _NAME.fullmatch(setting["key"]) and isinstance(value, int | float)
    is_text = is_name or not read or (isinstance(value, str) and value != setting["value"])
    return f'{setting["key"]}="{setting["value"]}"' if is_text else argument


def _read(argument: str) -> tuple[bool, object, bool]:
    """Return whether Hydra can read a setting, the value that it reads, and whether these are several."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        override = OverridesParser.create().parse_override(argument)
        return True, override.value(), override.is_sweep_override()
    except HydraException:
        return False, None, False


def quoting_hint(arguments: Sequence[str]) -> str:
    """Return how the first setting that Hydra cannot read would be written if its value is one text."""
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if equals and not argument.startswith("-") and not _read(argument)[0]:
            quoted = shlex.quote(f"{key}={json.dumps(value, ensure_ascii=False)}")
            return (
                f"{argument} cannot be read as a setting: a list is [a,b], and a text with commas, brackets or quotes "
                f"takes quotes of its own, {quoted}."
            )
    return "Write key=value, and quotes around values that hold spaces, commas or brackets."


def several_values(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first setting with several values, where no sweep is asked for; "" without one."""
    one_name = {*groups(config_name), "prompt"}
    for argument in arguments if not SWEEP & {*arguments} else ():
        key, equals, value = argument.partition("=")
        if equals and _read(argument)[2]:
            runs = f"{argument} has several values: for a run with each of them put -m first, harness -m {argument}"
            return f"{runs}." if key in one_name or "(" in value else f"{runs}; one list of them is '{key}=[{value}]'."
    return ""


def _bare(word: str, command_line: Sequence[str], config_name: str) -> str:
    """Return the sentence about a word that is no setting: a command, the name of a setting, or a value."""
    if word in summaries():
        return f"{word} is a command, which comes first: harness {word} …"
    there = settings(config_name, command_line)
    if word in there:
        return f"{word} alone is no setting: write {word}={'true' if there[word] is False else '…'}."
    return f"{word!r} is no setting: write key=value, such as model={word} (--help lists the settings)."


def mistake(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first name that is not in the command's config files, or ""."""
    return next(_mistakes(config_name, arguments), "")


def missing_setting(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first required setting that is missing, or ""."""
    present = {_key(argument) for argument in arguments}
    names = (name for name, value in settings(config_name, arguments).items() if value == "???" and name not in present)
    return next((f"{name} has to be given: add {name}=… to the command." for name in names), "")


def _mistakes(config_name: str, arguments: Sequence[str]) -> Iterator[str]:
    chosen = groups(config_name)
    for group, value in ((_key(argument), argument.partition("=")[2]) for argument in arguments):
        files = listed(CONFIGS, group) if group in chosen else {}
        if group in chosen and (value.startswith("[") or (value in ("null", "") and chosen[group] != "null")):
            names = ", ".join(files) if len(files) <= MOST_LISTED else f"harness --help {group}= lists {len(files)}"
            yield f"{group}= takes one name: {names}."
        for name in (word.strip().strip("\"'") for word in value.split(",") if group in chosen):
            if name not in ("null", "", *files):
                yield unknown_choice(group, name, files)
    for group in chosen:
        files = listed(CONFIGS, group)
        with suppress(ConfigError, KeyError):
            for base in bases_of(group, choice_of(group, config_name, arguments)):
                if base not in files and not base.startswith("/"):  # which is another group's
                    yield unknown_choice(group, base, files)
    for argument in arguments:
        if "=" in argument and argument[0] not in "+~-" and (key := _key(argument)) not in chosen:
            yield from _wrong_setting(key, config_name, arguments)


def _key(argument: str) -> str:
    return argument.partition("=")[0].lstrip("+~")


def _wrong_setting(key: str, config_name: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the error in the name of a setting."""
    section = key.partition(".")[0]
    if section.startswith("hydra"):
        launcher = next((word.partition("=")[2] for word in arguments if word.startswith("hydra/launcher=")), "")
        if launcher not in ("", "harness", *listed(CONFIGS, "hydra/launcher")):
            yield "hydra/launcher= starts the jobs of a sweep (-m), and needs the package that brings it."
        names = [f"hydra.launcher.{name}" for file in files_of("hydra/launcher", launcher) for name in names_in(file)]
        if names and key.startswith("hydra.launcher.") and key not in names:
            yield unknown("setting", key, names)
        return
    if section == "judge" and not any(argument.startswith("judge=") for argument in arguments):
        yield f"{key} is a setting of the judge, and the run has no judge: choose one with judge=…, as with model=…."
    names = [*groups(config_name), *settings(config_name, arguments)]
    if key in names:
        return
    parent, _, own = key.rpartition(".")
    if parent in names and not any(name.startswith(f"{parent}.") for name in names):
        yield f"a part of {parent} that is not there yet is added with a plus: +{key}=VALUE."
    if elsewhere := [name for name in names if name.rpartition(".")[2] == own]:
        yield f"there is no setting {key!r}: write {' or '.join(f'{name}=…' for name in elsewhere)}."
    yield unknown("setting", key, [name for name in names if name.startswith(f"{section}.")] or names)
