"""The words of replies, by role and language in words.yaml, and patterns of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern in which «role» stands for any of the words of a role; compiled when first asked for."""
    return re.compile(re.sub("«([a-z_]+)»", lambda role: f"(?:{any_of(_words()[role[1]])})", pattern))


def any_of(phrases: tuple[str, ...]) -> str:
    """Return the alternatives of a pattern that finds one of some words, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


def in_file(name: str) -> Mapping[str, Any]:
    """Return what a YAML file beside this one holds, all of it as text: to YAML itself, yes and no are no words."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # ten times as fast, where it was built
    content: Mapping[str, Any] = yaml.load(Path(__file__).with_name(name).read_text(encoding="utf-8"), loader)
    return content


@cache
def _words() -> Mapping[str, tuple[str, ...]]:
    """Return the words of each role in all languages."""
    roles = in_file("words.yaml").items()
    lists = {role: ", ".join(text.values()) if isinstance(text, dict) else text for role, text in roles}
    return {role: tuple(text.split(", ")) for role, text in lists.items()}


def label_of(match: re.Match[str]) -> int | None:
    """Return what the word found says: 1 for Yes, 0 for No, or a choice's place; None for a denied No ("not false")."""
    groups = match.groupdict()
    if option := groups.get("option"):
        return int(option)
    for label, names in enumerate((("no", "dissent", "n"), ("yes", "assent", "y"))):
        if any(groups.get(name) for name in names):
            return label
    if groups.get("denied"):
        return 0 if groups["positive"] else None
    return 1 if groups.get("positive") else 0 if groups.get("negative") else None
