"""Settings become parts: the class of `_target_`, validated, and one sentence for everything that does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from harness.codec import content_digest, user_path
from harness.errors import ConfigError, DataError, nearest, unknown
from harness.protocols import Model, Task

_OFFERS: Mapping[str, type] = {"model": Model, "judge": Model, "task": Task}
"""The protocol that a part of a group implements."""
T = TypeVar("T")


def build(section: Mapping[str, Any], group: str) -> Any:
    """Return the part that a section of the config describes: the class named by `_target_`, its settings validated.

    Raises ConfigError.
    """
    if "_target_" not in section:
        raise ConfigError(f"the {group}'s config says no class: give it a _target_.")
    settings = {str(name): value for name, value in section.items() if name != "_target_"}
    target = class_of(str(section["_target_"]), group)
    if not is_dataclass(target):
        raise ConfigError(
            f"{group}._target_={section['_target_']} is no dataclass, whose fields would be its settings: write "
            "@dataclass(frozen=True) above the class."
        )
    check_keys(settings, [f.name for f in fields(target) if f.init], f"{group}.")
    for key, value in settings.items():
        if value == "???":
            raise ConfigError(f"{group}.{key} has to be given: add {group}.{key}=… to the command.")
    try:
        part = adapter(target).validate_python(settings)
    except ValidationError as error:
        raise ConfigError(first_sentence(error, f"{group}.")) from None
    needed = [name for name in vars(_OFFERS[group]) if not name.startswith("_")] if group in _OFFERS else []
    if missing := [name for name in needed if name not in dir(part)]:
        raise ConfigError(
            f"{group}._target_={section['_target_']} has no {', '.join(missing)}: a {group} has {', '.join(needed)} "
            f"(harness.protocols.{_OFFERS[group].__name__} says what each one is)."
        )
    return part


adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""What validates settings of a class: made once, since that takes milliseconds and sweeps have many jobs."""


def class_of(target: str, group: str) -> Any:
    """Return the class that a config names by `_target_`. Raises ConfigError where it cannot be imported."""
    module, _, name = target.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # a module of the user's own may raise anything
        kind = "" if isinstance(error, (ImportError, AttributeError, ValueError)) else f"{type(error).__name__}: "
        raise ConfigError(f"{group}._target_={target} cannot be imported: {kind}{str(error).rstrip('.')}.") from error


def first_sentence(error: ValidationError, prefix: str, *, in_file: bool = False) -> str:
    """Return the first complaint of a validation as a sentence about the setting, of a command or of a file."""
    first = error.errors(include_url=False)[0]
    where = prefix + ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"there is no setting {where}."
    if first["type"] in ("missing", "missing_argument"):
        return f"{where} has to be given."
    got = first["input"]
    hint = nearest(str(got), re.findall(r"'([^']+)'", first["msg"]))
    if first["type"] == "string_type" and not isinstance(got, list | dict):
        quoted = f'takes quotes: {where}: "…"' if in_file else f"is quoted twice: '{where}=\"…\"'"
        hint = f" (a word that YAML has as a number, true, false or null {quoted})"
    return f"{where}={got}: {first['msg'][0].lower()}{first['msg'][1:].rstrip('.')}{hint}."


CacheMode = Literal["on", "off", "frozen", "refresh"]
"""The files of configs/cache/ say what each one means."""


@dataclass(frozen=True)
class Cache:
    """The answers that were paid for."""

    mode: CacheMode
    path: Annotated[str, Field(min_length=1)]


Amount = Annotated[float, Field(ge=0)] | None


@dataclass(frozen=True)
class Limits:
    """What may be spent; configs/config.yaml says what each one means."""

    usd: Amount = None
    requests: Amount = None

    def __bool__(self) -> bool:
        return any(value is not None for value in vars(self).values())

    def __str__(self) -> str:
        return ", ".join(f"budget.{name}={value:g}" for name, value in vars(self).items() if value is not None)


@dataclass(frozen=True)
class Main:
    """The main command's own settings; configs/config.yaml says what each one means."""

    task: dict[str, Any]
    model: dict[str, Any]
    results: Annotated[str, Field(min_length=1)]
    cache: Cache
    judge: dict[str, Any] | None = None
    prompt: str | None = None
    replies: Literal["model", "fixed"] = "model"
    answer: Literal["text", "choice"] = "text"
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    samples: Annotated[int, Field(ge=1)] = 1
    budget: Limits = field(default_factory=Limits)
    overwrite: bool = False
    dry_run: bool = False
    debug: bool = False
    own_files: dict[str, str] = field(default_factory=dict)
    """The files of the working directory that it is composed of: {path: SHA-256}. No setting: composing fills it in."""


def build_main(config: Mapping[str, Any]) -> Main:
    """Return the composed config, validated."""
    names = [f"budget.{name}=…" for name in vars(Limits())]
    if not isinstance(config.get("budget", {}), dict | Limits):
        raise ConfigError(f"budget={config['budget']} does not say of what: write {', '.join(names)}.")
    for name, kind in (("cache", Cache), ("budget", Limits)):
        if isinstance(config.get(name), dict):
            check_keys(config[name], [setting.name for setting in fields(kind)], f"{name}.")
    return validated(Main, config)


def validated(kind: type[T], config: Mapping[str, Any]) -> T:
    """Return a command's settings from its composed config. Raises ConfigError, also for keys that nothing reads."""
    check_keys(config, [setting.name for setting in fields(kind)], "")  # type: ignore[arg-type]
    try:
        settings: T = adapter(kind).validate_python(dict(config))
        return settings
    except ValidationError as error:
        raise ConfigError(first_sentence(error, "")) from None


def check_keys(section: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
    """Raise ConfigError for unknown keys: with `+key=value` Hydra accepts any."""
    for key in section:
        if key not in known:
            raise ConfigError(unknown("setting", f"{prefix}{key}", (f"{prefix}{name}" for name in known)))


LOCAL = {"local": True}
"""Metadata of a setting of type str that may name a file or a folder of this machine; one of type Path always does."""


def chosen(part: Any) -> dict[str, Any]:
    """Return the settings of a part, as validated, that differ from its class's defaults; sorted by name.

    Settings without a default (a task's name) are what the part is called, not how it is set. A file or a folder stands
    by its name and its content, never by its path: this is what tables show and what is published.
    """
    settings = {}
    for setting in sorted(fields(part), key=lambda setting: setting.name):
        default = setting.default_factory() if setting.default_factory is not MISSING else setting.default
        value = getattr(part, setting.name)
        if setting.init and default is not MISSING and value != default:
            value = without_path(value) if value is not None and "local" in setting.metadata else value
            settings[setting.name] = list(map(_flat, value)) if isinstance(value, tuple) else _flat(value)
    return settings


def without_path(place: str | Path) -> str:
    """Return the name of a file or folder with the beginning of its content's digest, such as mine.csv-1a2b3c4d.

    Another content has another name. What is not there, such as a data set of the Hub, keeps the name that it has.
    Raises DataError for what cannot be read.
    """
    path = user_path(place)
    try:
        name = path.name if path.name.strip(".") else path.resolve().name  # of the folders . and ..
        return f"{name}-{content_digest(path)[:8]}" if path.exists() else str(place)
    except OSError as error:
        raise DataError(f"{place} cannot be read ({error.strerror}).") from None


def _flat(value: Any) -> Any:
    """Return an enumeration's member as its value, a path as a name."""
    if isinstance(value, Path):
        return without_path(value)
    return value.value if isinstance(value, Enum) else value
