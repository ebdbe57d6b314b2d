"""Texts in CSV files that people open in a spreadsheet."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so may be run by a spreadsheet."""


def inert(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs and every csv reader reads."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")  # which csv readers refuse
    return f"'{text}" if text.startswith(FORMULA) else text
