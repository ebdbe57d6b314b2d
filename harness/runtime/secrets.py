"""Keep keys out of settings, which are written to manifests and caches, and out of all that is printed.

A key is what stands in an environment variable that is named like one, what has the form of a provider's keys, and what
a setting, a parameter or an address calls a key. Settings with one are refused; in what is printed it is masked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.errors import ConfigError

SECRET = 16
"""The least length of a key in the environment: shorter ones (none, EMPTY) are placeholders, and words of replies."""
_FORM = re.compile(
    r"\b(?:sk|pk|rk|xai|nvapi|github_pat|glpat|xox[abeprs])[-_][\w-]{16,}|\b(?:hf|gsk|gh[opsru]|r8|tgp)_[A-Za-z0-9]{16,}"
    r"|\bAIza[\w-]{30,}|\bA[KS]IA[A-Z0-9]{16}\b|\b[Bb]earer\s+[\w.~+/-]{8,}"
)
"""How the keys of the larger providers look."""
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@'\"]+(?=@)|(?<=[?&]key=)[^&\s'\"]+")
"""user:password in an address, and the key in its query."""
_NAME = r"(?:[\w-]*[_-])?(?:(?:api|access|auth|private|secret|subscription|functions)[_-]?key|secret|password|passwd"
_NAME += r"|(?:api|access|auth|session|refresh|bearer|hf|id)[_-]?token|token|authorization|credentials|cookie)"
_BETWEEN = r"""['"]?(?:\s?[=:]\s?|,\s?|\s)['"]?"""
_NAMED = re.compile(rf"(?<![\w-])({_NAME}{_BETWEEN})(?![$<\[`/~-])([^\s\"',;&}}\])]+)", re.I)
"""A name and its value: name=value, 'name': 'value', --name value."""
_ALONE = re.compile(_NAME, re.I)
_VARIABLE = re.compile(r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)", re.I)
_NO_SECRET = re.compile(r"(?:stop|eos|bos|pad|unk|sep|mask|max)[_-]?token", re.I)


def secret_name(name: str) -> bool:
    """Test whether a parameter is named like a key: x-api-key, sessionToken, password."""
    return _ALONE.fullmatch(name) is not None and _NO_SECRET.fullmatch(name) is None


def looks_like_key(value: str) -> bool:
    return _masked_forms(value) != value


def mask_keys(text: str) -> str:
    """Return the text with [the key] or [a key] in the place of every key."""
    return _NAMED.sub(lambda named: f"{named[1]}[a key]" if _is_secret(named) else named[0], _masked_forms(text))


def _masked_forms(text: str) -> str:
    for key in in_environment().values():
        if len(key) >= SECRET and not key.startswith(("/", "~", ".")):  # the path of a file with a key
            text = text.replace(key, "[the key]")
    return _CREDENTIALS.sub("[a key]", _FORM.sub("[a key]", text))


def _is_secret(named: re.Match[str]) -> bool:
    """Test whether a value is a key by the name before it, and not a word of a sentence about keys."""
    marked = named[1].rstrip("\"' ")[-1:] in "=:" or named[0].startswith("-")
    return marked and len(named[2]) >= 8 and secret_name(re.split(r"['\"=:, ]", named[1].lstrip("-"))[0])


def in_environment() -> dict[str, str]:
    """Return the environment variables that are named like keys, by name."""
    return {name: content.strip() for name, content in os.environ.items() if _VARIABLE.fullmatch(name)}


def refuse(settings: Mapping[str, Any], key: str, key_env: str) -> None:
    """Raise ConfigError for a model's settings that hold a key. The sentence names the setting, never its value."""
    _refuse(_strings(settings, "model"), key, key_env)


def refuse_config(config: Mapping[str, Any]) -> None:
    """Raise ConfigError for a composed config that holds a key: manifests hold it."""
    _refuse((where.lstrip("."), value) for where, value in _strings(config, ""))


def refuse_arguments(arguments: Sequence[str]) -> None:
    """Raise ConfigError for a command line that holds a key. A sweep writes it down before it looks at a setting."""
    for argument in arguments:
        name, _, value = argument.lstrip("+~").partition("=")
        _refuse([(name, value), ("", argument)])


def _refuse(settings: Iterable[tuple[str, str]], key: str = "", key_env: str = "") -> None:
    for where, value in settings:
        # A setting is a key by its name, too, if it does not refer to the environment or to a file.
        named = secret_name(where.rpartition(".")[2]) and len(value) >= 8 and not value.startswith(("$", "<", "/", "~"))
        if not named and mask_keys(value) == value and not (len(key) >= SECRET and key in value):
            continue
        name = where if where and mask_keys(where) == where else "a setting"
        variable = key_env if key_env and not looks_like_key(key_env) else "OPENAI_API_KEY"
        raise ConfigError(
            f"{name} looks like a key, and settings are written to manifests and to the cache: put the key into the "
            f"environment variable {variable} (or another one that model.api_key_env names), from where it goes to the "
            "server and nowhere else."
        )


def _strings(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield every text below a setting with its place; the words of a list as one line too: [--api-key, KEY]."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield where, str(name)
            yield from _strings(below, f"{where}.{name}")
    elif isinstance(value, list | tuple):
        yield where, " ".join(word for word in value if isinstance(word, str))
        for below in value:
            yield from _strings(below, where)
    elif isinstance(value, str):
        yield where, value
