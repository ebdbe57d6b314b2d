"""Sizes of the public test split."""

from __future__ import annotations

SIZES = (6, 12, 18, 18, 34, 36, 36, 60, 60, 60, 60, 60, 60, 60, 60, 72, 90, 90, 90, 90, 90)
"""Items of the 21 premises of the public test split."""
