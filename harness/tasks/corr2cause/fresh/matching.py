"""The index of pairs that ships: claims that counting cannot tell apart. tools/pairs.py made it."""

from __future__ import annotations

import hashlib
import io
import json
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

from harness.causal.relations import Relation
from harness.tasks.corr2cause.shortcut import CLAIMS

SIZES = (5, 6, 7)
Matching = Literal["counts", "strict"]
FILE = "pairs.npz"
FLOOR = "pairs_floor.json"


class Half(NamedTuple):
    """A claim of one kind: class `number`, variables i and j."""

    number: int
    i: int
    j: int


class Pair(NamedTuple):
    """Two claims that are matched: one that follows, and one that does not."""

    n: int
    kind: Relation
    yes: Half
    no: Half


@cache
def floors(name: str) -> dict[str, tuple[float, float]]:
    """Return what counting reaches on a list, by kind of claim: tools/pair_trees.py measured it on pairs not fitted.

    The first number is the percentage of pairs with both halves right, the second that of halves.
    """
    return {kind: tuple(of) for kind, of in json.loads(_file(FLOOR)).get(name, {}).items()}


def _file(name: str = FILE) -> bytes:
    return (resources.files("harness") / "data" / "corr2cause" / name).read_bytes()


@cache
def index_digest() -> str:
    """Return the SHA-256 of the index."""
    return hashlib.sha256(_file()).hexdigest()


@cache
def index(name: str) -> tuple[Pair, ...]:
    """Return the pairs of a list: counts, strict, and of one premise counts_same and strict_same.

    A row of the file holds n, the kind's place in CLAIMS, and of the half that follows and of the other one the class
    and the two variables.
    """
    import numpy as np

    with np.load(io.BytesIO(_file()), allow_pickle=False) as lists:
        rows = lists[name].tolist()
    return tuple(Pair(n, CLAIMS[kind], Half(*of[:3]), Half(*of[3:])) for n, kind, *of in rows)
