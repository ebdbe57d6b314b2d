"""Deterministic randomness: draws keyed by a SHA-256 of their arguments, the same on every machine and in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def uniform(*parts: object) -> float:
    """Return a draw from [0, 1) that depends on the parts and on nothing else (53 bits of a SHA-256)."""
    text = "\x1f".join(map(str, parts))
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11) / (1 << 53)


def shuffled(values: Sequence[T], *parts: object) -> list[T]:
    """Return the values in an order drawn from the parts."""
    order = sorted(range(len(values)), key=lambda k: uniform(*parts, k))
    return [values[k] for k in order]


def permuted(size: int, *parts: object) -> Iterator[int]:
    """Yield 0 … size-1 in an order drawn from the parts.

    This is the Fisher–Yates shuffle, keeping only the entries that were swapped: the first k of many values take time
    and memory for k.
    """
    entries: dict[int, int] = {}
    for k in range(size):
        other = k + int(uniform(*parts, k) * (size - k))
        yield entries.get(other, other)
        entries[other] = entries.pop(k, k)
