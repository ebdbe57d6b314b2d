"""By which rules replies are read: what a manifest says of it, so that no result rests on older rules unnoticed."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harness.types import JSON

VERSION = 7
"""Raised with every change of the rules that can read a reply otherwise; a manifest without one is of version 0."""
_RULES = ("parsing.py", "reading/*.py", "reading/*.yaml")


@cache
def _digest() -> str:
    home, rules = Path(__file__).resolve().parent, hashlib.sha256()
    for file in sorted(file for pattern in _RULES for file in home.glob(pattern)):
        content = file.read_bytes().replace(b"\r\n", b"\n")
        rules.update(b"\0".join((file.relative_to(home).as_posix().encode(), content, b"")))
    return rules.hexdigest()


def reading_version() -> dict[str, JSON]:
    """Return the version of the rules and a SHA-256 of their files, whatever line ends these have."""
    return {"version": VERSION, "rules": _digest()}


def by_other_rules(reading: Mapping[str, Any] | None) -> bool:
    """Return whether the replies of a run were read by other rules than today's, by this part of its manifest."""
    return reading != reading_version()


def other_rules_note(count: int, runs: str, folders: Iterable[str]) -> str:
    """Return the sentence that `count` runs were read by other rules, and the command that reads them again."""
    verb, those = ("was", "it") if count == 1 else ("were", "them")
    command = f"harness reread {shlex.join(folders)}"
    return f"{count:,} {runs} {verb} read by other rules than today's: {command} reads {those} again."
