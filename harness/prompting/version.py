"""By which rules replies are read: what a manifest says of it, so that no result rests on older rules unnoticed."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from harness.types import JSON

VERSION = 1
"""Raised with every change of the rules that can read a reply otherwise; a manifest without one is of version 0."""
_RULES = ("constrained.py", "parsing.py", "reading/*.py")


@cache
def reading_version() -> dict[str, JSON]:
    """Return the version of the rules and a SHA-256 of their files, whatever line ends these have."""
    home = Path(__file__).resolve().parent
    rules = hashlib.sha256()
    for file in sorted(file for pattern in _RULES for file in home.glob(pattern)):
        rules.update(file.relative_to(home).as_posix().encode() + b"\0")
        rules.update(file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return {"version": VERSION, "rules": rules.hexdigest()}
