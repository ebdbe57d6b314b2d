"""The arguments of a command that Hydra composes, before Hydra sees them: it would refuse them in its own words."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from harness.cli import setting_lines
from harness.cli.commands import summaries
from harness.errors import ConfigError, nearest

_FLAGS = {
    **dict.fromkeys(
        ("-h", "--help", "--hydra-help", "--version", "--resolve", "-r", "--run", "-m", "--multirun"), False
    ),
    **dict.fromkeys(("-c", "--cfg", "-p", "--package", "-cp", "--config-path", "-cn", "--config-name"), True),
    **dict.fromkeys(("-cd", "--config-dir", "--experimental-rerun"), True),
    **dict.fromkeys(("-i", "--info", "-sc", "--shell-completion"), False),
}
"""Hydra's own flags, and whether the next word is their value."""
_PLAIN = re.compile(r"[+~]{0,2}[\w/.@:]+=[\w./:@%+,\[\]{}\"'$-]*")
"""A setting that Hydra reads as it is written, or refuses for what it is."""
_SETTING = re.compile(r"(?P<key>\+{0,2}[\w/.@:]+)=(?P<value>[^\[\]{},\"'$\\\n]+)", re.DOTALL)
"""A setting whose value is one text: no list, no quotes, no sweep."""


def readied(arguments: Sequence[str], config_name: str) -> list[str]:
    """Return the arguments as Hydra takes them. Raises ConfigError for an option that is a setting, and a bare word."""
    ready, is_value = [], False
    for number, argument in enumerate(arguments):
        if is_value:
            is_value = False
        elif argument.startswith("-") and not argument[1:2].isdigit():
            flag, equals, _ = argument.partition("=")
            if flag not in _FLAGS and not argument.startswith("-c"):
                raise ConfigError(_option(flag, equals, arguments[number:], arguments, config_name))
            is_value = _FLAGS.get(flag, False) and not equals
        elif "=" not in argument and not argument.startswith("~") and arguments[number - 1 : number] not in _TAKE_ONE:
            raise ConfigError(_bare(argument))
        ready.append(_quoted(argument))
    return without_switches(ready)


def without_switches(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without `model.batch=true` beside `model.batch.size=…`, which says it as well."""

    def said(argument: str) -> bool:
        switch = _SWITCH.fullmatch(argument)
        return switch is not None and any(other.lstrip("+").startswith(f"{switch[1]}.") for other in arguments)

    return [argument for argument in arguments if not said(argument)]


_SWITCH = re.compile(r"\+{0,2}((?:model|judge)\.batch)=(?:true|1|yes|on)", re.IGNORECASE)
_UNREADABLE = object()
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


def _value(argument: str) -> object:
    """Return the value that Hydra reads in a setting; _UNREADABLE where it can read none."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_override(argument).value()
    except HydraException:
        return _UNREADABLE


def _option(option: str, equals: str, arguments: Sequence[str], given: Sequence[str], config_name: str) -> str:
    """Return the sentence about an option, the first of the arguments: how it is written as a setting."""
    name = option.strip("-").replace("-", "_")
    settings = {setting.name: setting.value for setting in setting_lines.settings(config_name, given) if setting.value}
    known = [*setting_lines.groups(config_name), *settings]
    full_name = name if name in known else next((long for long in known if long.rpartition(".")[2] == name), "")
    if not full_name:
        return f"there is no option {option}{nearest(name, known)}: settings are key=value (--help lists them)."
    following = arguments[1] if len(arguments) > 1 and "=" not in arguments[1] and arguments[1][:1] != "-" else ""
    value = arguments[0].partition("=")[2] if equals else following
    if not value:
        value = "true" if settings.get(full_name) == "false" else "…"
    return f"there is no option {option}: write {full_name}={value}, as all settings are key=value (--help lists them)."


def _bare(word: str) -> str:
    if word in summaries():
        return f"{word} is a command, which comes first: harness {word} …"
    return f"{word!r} is no setting: write key=value, such as model={word} (--help lists the settings)."
