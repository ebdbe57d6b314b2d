"""Where a key must not be: in a setting, which is written to manifests and caches, or in what a server sends back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.errors import ConfigError

SECRET = 16
"""Characters from which on a key is one. Shorter ones (none, EMPTY) are for local servers that ask for none: they are
words that replies may hold."""
_FORM = re.compile(
    r"\b(?:sk|pk|rk|hf|xai|gsk|ghp|gho|github_pat|nvapi|r8)[-_][\w-]{16,}|\bAIza[\w-]{30,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\beyJ[\w-]{8,}\.[\w-]+|\b[Bb]earer\s+\S{8,}"
)
"""How the keys of the larger providers look."""
_NAME = re.compile(
    r"(?:(?:.*[-_])?api[-_]?key|key|(?:access|auth|bearer|api|secret)[-_]?token|auth|authorization|(?:.*[-_])?secret"
    r"|(?:.*[-_])?password|credentials?|(?:extra[-_])?headers)",
    re.IGNORECASE,
)
"""Parameters that are made to hold one. Not prompt_cache_key, not stop_token_ids."""


def refuse(settings: Mapping[str, Any], key: str, key_env: str) -> None:
    """Raises ConfigError for settings that hold a key. The sentence names the setting and does not show its value."""
    for where, name, value in _strings(settings, "model"):
        if (len(key) >= SECRET and key in value) or _FORM.search(value) or _NAME.fullmatch(name):
            shown = where if not _FORM.search(name) else f"{where.rpartition('.')[0]}.…"
            raise ConfigError(
                f"{shown} looks like a key, and settings are written to manifests and to the cache: put the key into "
                f"the environment variable {key_env if not _FORM.search(key_env) else 'OPENAI_API_KEY'} (or another "
                "one that model.api_key_env names), from where it goes to the server and nowhere else."
            )


def _strings(value: Any, where: str, name: str = "", *, inside: bool = False) -> Iterator[tuple[str, str, str]]:
    """Every string below a setting: its place, the name beside it (only inside of model.extra), itself."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _strings(below, f"{where}.{key}", str(key) if inside else "", inside=inside or key == "extra")
            if inside:
                yield f"{where}.{key}", str(key), ""
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _strings(below, where, name, inside=inside)
    elif isinstance(value, str):
        yield where, name, value


def hidden(content: bytes, key: str) -> bytes:
    """What a server sent, without the key that it was sent: some repeat it in their errors."""
    if len(key) < SECRET:
        return content
    for form in (key.encode(), key.replace("/", r"\/").encode()):
        if form in content:
            content = content.replace(form, b"[the key]")
    return content
