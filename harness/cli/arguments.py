"""The arguments of a command that Hydra composes, checked before Hydra does, so that every error is one clear sentence.

Names are looked up in the config files themselves; Hydra's errors are not read.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

from harness.cli import setting_lines
from harness.cli.commands import summaries
from harness.cli.setting_lines import bases_of, settings_of, unknown_choice
from harness.config_files import CONFIGS, listed
from harness.errors import ConfigError, DataError, nearest, unknown

_FLAGS = {
    **dict.fromkeys(
        ("-h", "--help", "--hydra-help", "--version", "--resolve", "-r", "--run", "-m", "--multirun"), False
    ),
    **dict.fromkeys(("-c", "--cfg", "-p", "--package", "-cp", "--config-path", "-cn", "--config-name"), True),
    **dict.fromkeys(("-cd", "--config-dir", "--experimental-rerun"), True),
    **dict.fromkeys(("-i", "--info", "-sc", "--shell-completion"), False),
}
"""Hydra's own flags, and whether the next word is their value."""
_PLAIN = re.compile(r"[+~]{0,2}[\w/.@:]+=[\w./:@%+,\[\]{}\"'$-]*", re.ASCII)
"""A setting that Hydra reads as it is written, or refuses for what it is."""
_SETTING = re.compile(r"(?P<key>\+{0,2}[\w/.@:]+)=(?P<value>[^\[\]{},\"'$\\\n]+)", re.DOTALL)
"""A setting whose value is one text: no list, no quotes, no sweep."""


def ready_for_hydra(arguments: Sequence[str], config_name: str) -> list[str]:
    """Return the arguments as Hydra takes them. Raises ConfigError for an option that is a setting, and a bare word."""
    ready, is_value = [], False
    for number, argument in enumerate(arguments):
        if is_value:
            is_value = False
        elif argument.startswith("-") and not argument[1:2].isdigit():
            flag, equals, _ = argument.partition("=")
            if flag not in _FLAGS and not argument.startswith("-c"):
                raise ConfigError(_option(flag, equals, arguments[number:], arguments, config_name))
            if equals and flag.startswith("--") and _FLAGS.get(flag) is False and flag not in _TAKE_VALUES:
                raise ConfigError(f"{flag} takes no value: write {flag} alone.")
            is_value = _FLAGS.get(flag, False) and not equals
        elif "=" not in argument and not argument.startswith("~") and arguments[number - 1 : number] not in _TAKE_ONE:
            raise ConfigError(_bare(argument, arguments, config_name))
        ready.append(_quoted(argument))
    return ready


_UNREADABLE = object()
_TAKE_VALUES = ("--info", "--shell-completion")
_TAKE_ONE = (["-i"], ["--info"], ["-sc"], ["--shell-completion"])
"""Flags that may have a value."""


def _quoted(argument: str) -> str:
    """Return a setting in Hydra's quotes, if its value is one text that Hydra cannot read without them."""
    setting = None if _PLAIN.fullmatch(argument) else _SETTING.fullmatch(argument)
    if setting is None:
        return argument
    value = _value(argument)
    is_text = value is _UNREADABLE or (isinstance(value, str) and value != setting["value"])
    return f'{setting["key"]}="{setting["value"]}"' if is_text else argument


def quoting_hint(arguments: Sequence[str]) -> str:
    """Return how the first setting that Hydra cannot read would be written if its value is one text."""
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if equals and not argument.startswith("-") and _value(argument) is _UNREADABLE:
            quoted = shlex.quote(f"{key}={json.dumps(value, ensure_ascii=False)}")
            return (
                f"{argument} cannot be read as a setting: a list is [a,b], and a text with commas, brackets or quotes "
                f"takes quotes of its own, {quoted}."
            )
    return "Write key=value, and quotes around values that hold spaces, commas or brackets."


def several_values(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first setting with several values, where no sweep is asked for; "" without one."""
    if {"-m", "--multirun"} & set(arguments):
        return ""
    one_name = {*setting_lines.groups(config_name), "prompt"}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or argument.startswith("-") or not _is_sweep(argument):
            continue
        runs = f"{argument} has several values: for a run with each of them put -m first, harness -m {argument}"
        return f"{runs}." if key in one_name or "(" in value else f"{runs}; one list of them is '{key}=[{value}]'."
    return ""


def _is_sweep(argument: str) -> bool:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_override(argument).is_sweep_override()
    except HydraException:
        return False


def _value(argument: str) -> object:
    """Return the value that Hydra reads in a setting; _UNREADABLE where it can read none."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_override(argument).value()
    except HydraException:
        return _UNREADABLE


def _option(option: str, equals: str, arguments: Sequence[str], command_line: Sequence[str], config_name: str) -> str:
    """Return the sentence about an option, the first of the arguments: how it is written as a setting."""
    name = option.strip("-").replace("-", "_")
    settings = {
        setting.name: setting.value for setting in setting_lines.settings(config_name, command_line) if setting.value
    }
    known = [*setting_lines.groups(config_name), *settings]
    full_name = name if name in known else next((long for long in known if long.rpartition(".")[2] == name), "")
    if not full_name:
        return f"there is no option {option}{nearest(name, known)}: settings are key=value (--help lists them)."
    following = arguments[1] if len(arguments) > 1 and "=" not in arguments[1] and arguments[1][:1] != "-" else ""
    value = arguments[0].partition("=")[2] if equals else following
    if not value:
        value = "true" if settings.get(full_name) == "false" else "…"
    return f"there is no option {option}: write {full_name}={value}, as all settings are key=value (--help lists them)."


def _bare(word: str, command_line: Sequence[str], config_name: str) -> str:
    """Return the sentence about a word that is no setting: a command, the name of a setting, or a value."""
    if word in summaries():
        return f"{word} is a command, which comes first: harness {word} …"
    settings = {setting.name: setting.value for setting in setting_lines.settings(config_name, command_line)}
    if word in settings:
        return f"{word} alone is no setting: write {word}={'true' if settings[word] == 'false' else '…'}."
    return f"{word!r} is no setting: write key=value, such as model={word} (--help lists the settings)."


def mistake(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first name that is not in the command's config files, or ""."""
    return next(_mistakes(config_name, arguments), "")


def missing_setting(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first required setting that is missing, or ""."""
    present = {_key(argument) for argument in arguments}
    missing = (
        s.name for s in setting_lines.settings(config_name, arguments) if s.value == "???" and s.name not in present
    )
    return next((f"{name} has to be given: add {name}=… to the command." for name in missing), "")


def _mistakes(config_name: str, arguments: Sequence[str]) -> Iterator[str]:
    groups = setting_lines.groups(config_name)
    for argument in arguments:
        key, value = _key(argument), argument.partition("=")[2]
        if key in groups:
            yield from _wrong_choices(key, value, may_be_null=groups[key] == "null")
    for group in groups:
        yield from _wrong_bases(group, setting_lines.choice_of(group, config_name, arguments))
    for argument in arguments:
        if "=" in argument and argument[0] not in "+~-" and (key := _key(argument)) not in groups:
            yield from _wrong_setting(key, config_name, arguments)


def _key(argument: str) -> str:
    return argument.partition("=")[0].lstrip("+~")


def _wrong_choices(group: str, value: str, *, may_be_null: bool) -> Iterator[str]:
    """Yield the errors in the names chosen from a group."""
    if value.startswith("[") or (value in ("null", "") and not may_be_null):
        yield f"{group}= takes one name: {', '.join(listed(CONFIGS, group))}."
    for word in value.split(","):
        name = word.strip().strip("\"'")
        if name not in ("null", "") and name not in (files := listed(CONFIGS, group)):
            yield unknown_choice(group, name, files)


def _wrong_bases(group: str, name: str) -> Iterator[str]:
    """Yield the errors in the names that a chosen file extends."""
    try:
        bases = bases_of(group, name)
    except (DataError, KeyError):
        return
    for base in bases:
        if base.startswith("/"):
            continue  # another group's
        if base != "_self_" and base not in listed(CONFIGS, group):
            yield unknown_choice(group, base, listed(CONFIGS, group))


def _wrong_setting(key: str, config_name: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the error in the name of a setting."""
    section = key.partition(".")[0]
    if key.startswith("hydra") and not key.startswith("hydra.launcher."):
        return
    if section == "judge" and not any(argument.startswith("judge=") for argument in arguments):
        yield f"{key} is a setting of the judge, and the run has no judge: choose one with judge=…, as with model=…."
    names = _names(section, config_name, arguments)
    if key in names:
        return
    parent = key.rpartition(".")[0]
    if parent in names and not any(name.startswith(f"{parent}.") for name in names):
        yield f"a part of {parent} that is not there yet is added with a plus: +{key}=VALUE."
    everywhere = _names("", config_name, arguments)
    own = key.rpartition(".")[2]
    if elsewhere := [name for name in everywhere if name.rpartition(".")[2] == own]:
        yield f"there is no setting {key!r}: write {' or '.join(f'{name}=…' for name in elsewhere)}."
    yield unknown("setting", key, [name for name in names if name.startswith(f"{section}.")] or names)


def _names(section: str, config_name: str, arguments: Sequence[str]) -> list[str]:
    """Return the known settings; for a setting of Hydra's own, those of the launcher."""
    if section != "hydra":
        return [
            *setting_lines.groups(config_name),
            *(setting.name for setting in setting_lines.settings(config_name, arguments)),
        ]
    launcher = next((word.partition("=")[2] for word in arguments if word.startswith("hydra/launcher=")), "")
    with suppress(DataError, KeyError):
        return [f"hydra.launcher.{setting.name}" for setting in settings_of("hydra/launcher", launcher)]
    return []
