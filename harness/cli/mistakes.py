"""What is wrong with the names on a command line, found in the config files themselves: Hydra's errors are not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from harness import engine, plugin
from harness.cli import setting_lines
from harness.cli.setting_lines import bases_of, settings_of
from harness.config_files import BUILTIN, CONFIGS, listed
from harness.errors import DataError, unknown

_OF_ENGINES = ("workers", "hydra/launcher")
"""Groups that the plug-in of engines brings."""


def mistake(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first name that the config files of a command do not know; "" where they know all."""
    return next(_mistakes(config_name, arguments), "")


def not_given(config_name: str, arguments: Sequence[str]) -> str:
    """Return the sentence on the first setting that has to be given and is not; "" where all are."""
    given = {_key(argument) for argument in arguments}
    missing = (
        s.name for s in setting_lines.settings(config_name, arguments) if s.value == "???" and s.name not in given
    )
    return next((f"{name} has to be given: add {name}=… to the command." for name in missing), "")


def _mistakes(config_name: str, arguments: Sequence[str]) -> Iterator[str]:
    groups = {**setting_lines.groups(config_name), "hydra/launcher": "null"}
    for argument in arguments:
        key, value = _key(argument), argument.partition("=")[2]
        if key in groups:
            yield from _wrong_choices(key, value, may_be_null=groups[key] == "null")
    for group in groups:
        yield from _wrong_bases(group, setting_lines.named(group, config_name, arguments))
    for argument in arguments:
        if "=" in argument and argument[0] not in "+~-" and (key := _key(argument)) not in groups:
            yield from _wrong_setting(key, config_name, arguments)


def _key(argument: str) -> str:
    return argument.partition("=")[0].lstrip("+~")


def _wrong_choices(group: str, value: str, *, may_be_null: bool) -> Iterator[str]:
    """Yield what is wrong with the names that are chosen of a group."""
    if group in _OF_ENGINES and not plugin.engines() and value != "null":
        yield engine.without_plugin(f"{group}=")
    if value.startswith("[") or (value in ("null", "") and not may_be_null):
        yield f"{group}= takes one name: {', '.join(listed(CONFIGS, group))}."
    for word in value.split(","):
        name = word.strip().strip("\"'")
        shipped = name.startswith(BUILTIN)
        files = listed(CONFIGS, group, own=not shipped)
        if name not in ("null", "") and name.removeprefix(BUILTIN) not in files:
            yield unknown(f"{'shipped ' * shipped}{group}", name.removeprefix(BUILTIN), files)


def _wrong_bases(group: str, name: str) -> Iterator[str]:
    """Yield what is wrong with the names that a chosen file extends."""
    try:
        bases = bases_of(group, name)
    except (DataError, KeyError):
        return
    for base in bases:
        if base != "_self_" and base.removeprefix(BUILTIN) not in listed(CONFIGS, group):
            yield unknown(group, base, listed(CONFIGS, group))


def _wrong_setting(key: str, config_name: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the name of a setting."""
    section = key.partition(".")[0]
    if section == "workers" and not plugin.engines():
        yield engine.without_plugin("workers=")
    if section == "hydra" and not key.startswith("hydra.launcher."):
        return
    if section == "judge" and not any(argument.startswith("judge=") for argument in arguments):
        yield f"{key} is a setting of the judge, and there is none: choose one with judge=…, as with model=…."
    names = _names(section, config_name, arguments)
    if key in names:
        return
    if (parent := key.rpartition(".")[0]) in names and parent not in setting_lines.groups(config_name):
        yield f"a part of {parent} that is not there yet is added with a plus: +{key}=VALUE."
    yield unknown("setting", key, [name for name in names if name.startswith(f"{section}.")] or names)


def _names(section: str, config_name: str, arguments: Sequence[str]) -> list[str]:
    """Return the settings that there are, those of a launcher for a setting of Hydra's own."""
    if section != "hydra":
        return [
            *setting_lines.groups(config_name),
            *(setting.name for setting in setting_lines.settings(config_name, arguments)),
        ]
    launcher = next((word.partition("=")[2] for word in arguments if word.startswith("hydra/launcher=")), "")
    with suppress(DataError, KeyError):
        return [f"hydra.launcher.{setting.name}" for setting in settings_of("hydra/launcher", launcher)]
    return []
