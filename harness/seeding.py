"""Random draws as functions of what they are for: the same on every machine, in any order, in any process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def uniform(*parts: object) -> float:
    """A draw from [0, 1) that depends on the parts and on nothing else (53 bits of a SHA-256)."""
    text = "\x1f".join(map(str, parts))
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11) / (1 << 53)


def shuffled(values: Sequence[T], *parts: object) -> list[T]:
    """The values in an order drawn from the parts."""
    order = sorted(range(len(values)), key=lambda k: uniform(*parts, k))
    return [values[k] for k in order]


def permuted(size: int, *parts: object) -> Iterator[int]:
    """0 … size-1 in an order drawn from the parts, one at a time.

    This is the shuffle of Fisher and Yates, of which only the entries that have moved are kept: the first k of
    many take time and memory for k.
    """
    moved: dict[int, int] = {}
    for k in range(size):
        other = k + int(uniform(*parts, k) * (size - k))
        yield moved.get(other, other)
        moved[other] = moved.pop(k, k)
