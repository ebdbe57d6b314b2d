"""JSON lines quickly: a long text that comes in line after line, alone or inside another, is encoded once.

Instead of json.dumps, with which the 198,090 items of Corr2Cause with six variables take 4.8 s of CPU, not 3.3 s.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring

from harness.types import JSON

LONG = 200
"""Characters from which on it pays to look for a text inside another."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


class Encoder:
    """Encodes mappings with string keys as json.dumps(…, ensure_ascii=False) does, byte for byte."""

    def __init__(self) -> None:
        """Create an encoder that has seen no text yet."""
        # The last long text that was new, how it begins, and what stands between its quotes.
        self._long, self._head, self._inside = "", "", ""

    def __call__(self, row: Mapping[str, JSON]) -> str:
        """Return the line of a row, with its newline."""
        parts = _form(tuple(row)).copy()
        parts[1::2] = [
            encode_basestring(value) if type(value) is str and len(value) < LONG else self._value(value)
            for value in row.values()
        ]
        return "".join(parts)

    def _value(self, value: JSON) -> str:
        if type(value) is str:
            return self._text(value)
        if type(value) is int:
            return str(value)
        return self(value)[:-1] if type(value) is dict else _encode(value)

    def _text(self, text: str) -> str:
        if text == self._long:
            return f'"{self._inside}"'
        at = text.find(self._head) if self._long else -1
        if at < 0 or not text.startswith(self._long, at):
            self._long, self._head, self._inside = text, text[:LONG], encode_basestring(text)[1:-1]
            return f'"{self._inside}"'
        before, after = text[:at], text[at + len(self._long) :]
        return f"{encode_basestring(before)[:-1]}{self._inside}{encode_basestring(after)[1:]}"


@lru_cache(maxsize=64)
def _form(keys: tuple[str, ...]) -> list[str]:
    """Return a line in parts; every second one is left for a value."""
    parts = ["{"]
    for key in keys:
        parts[-1] += f"{encode_basestring(key)}: "
        parts += ["", ", "]
    return [*parts[:-1], "}\n"] if keys else ["{}\n"]
