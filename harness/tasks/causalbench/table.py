"""The questions about one network as columns of small numbers: win95pts has 378,876 of them for one task."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG
from harness.causal.separation import d_connected
from harness.codec import uniform
from harness.tasks.base import quotas
from harness.tasks.causalbench.networks import Network
from harness.tasks.causalbench.structures import Matrix

if TYPE_CHECKING:
    from harness.tasks.causalbench.templates import Template


QuestionTable = NDArray[np.void]
"""A row for each question: `template`, its number, the variables `a`, `b` and `c`, and a 0 or 1 by label set."""


def _table(template: Any, a: NDArray[Any], b: NDArray[Any], c: Any = -1, **labels: NDArray[Any]) -> QuestionTable:
    """Return a table of columns; `template` and `c` may be the same for all, c is -1 where a template has no third."""
    places = [("template", "i1"), ("a", "i2"), ("b", "i2"), ("c", "i2"), *((name, "i1") for name in labels)]
    table = np.zeros(len(a), dtype=places)
    for name, column in {"template": template, "a": a, "b": b, "c": c, **labels}.items():
        table[name] = column
    return table


def table_of_pairs(
    templates: Mapping[str, Template], matrices: Mapping[str, NDArray[np.bool_]], pairs: NDArray[np.bool_]
) -> QuestionTable:
    """Return every chosen ordered pair under each template; `matrices` hold what is true, by structure."""
    a, b = np.nonzero(pairs)
    blocks = (
        _table(number, a, b, exact=matrices[template.exact][a, b], paper=matrices[template.paper][a, b])
        for number, template in enumerate(templates.values())
    )
    return np.concatenate(list(blocks))


def subset(tables: Mapping[str, QuestionTable], limit: int, *, label_set: str, seed: int) -> dict[str, QuestionTable]:
    """Draw `limit` questions of all networks: each network with its share, and in it each label with its share.

    In their original order. Which questions of a network and label are taken depends on the seed and on nothing
    outside them, and a smaller subset of them is part of a larger one.
    """
    shares = quotas({name: len(table) for name, table in tables.items()}, limit, seed=seed)
    chosen = {}
    for name, table in tables.items():
        rows = [np.flatnonzero(table[label_set] == label) for label in (0, 1)]
        quota = quotas({label: len(rows[label]) for label in (0, 1)}, shares[name], seed=seed)
        places = [_draw(rows[label], quota[label], seed, name, label) for label in (0, 1)]
        chosen[name] = table[np.sort(np.concatenate(places))]
    return {name: table for name, table in chosen.items() if len(table)}


def _draw(rows: NDArray[np.intp], count: int, *parts: Hashable) -> NDArray[np.intp]:
    """Return the first `count` rows in an order drawn from the parts, by NumPy's frozen generator."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return np.random.RandomState(int.from_bytes(digest[:4], "big")).permutation(rows)[:count]


def exact_skeleton(network: Network, adjacent: Matrix, *, seed: int) -> QuestionTable:
    """Ask of every unordered pair: is it adjacent; and, for every other variable c, is it d-connected given c?

    Which of a pair is named first is drawn from the seed.
    """
    n = len(network.variables)
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int16)
    swapped = np.array([uniform(seed, network.name, *(network.variables[k] for k in pair)) < 0.5 for pair in pairs])
    pairs[swapped] = pairs[swapped][:, ::-1]
    direct = _table(0, pairs[:, 0], pairs[:, 1], exact=adjacent[pairs[:, 0], pairs[:, 1]])
    a, b, c = _with_third(pairs, n)
    return np.concatenate([direct, _table(1, a, b, c, exact=connected_given(network.dag)[a, b, c])])


def paper_skeleton(network: Network, adjacent: Matrix, either_way: Matrix) -> QuestionTable:
    """Follow the published rule, item for item (established from the released data).

    For every ordered pair (a, b): if b is an ancestor or a descendant of a, one item "directly related", labelled 1.
    Otherwise one item for every c, labelled 1 iff c is an ancestor or a descendant of both; the label is also in the
    question's words, "conditionally" or "not conditionally related". The labels `exact` of the same items are
    adjacency, and d-connection given c.
    """
    n = len(network.variables)
    ordered = np.argwhere(~np.eye(n, dtype=bool)).astype(np.int16)
    kin = either_way[ordered[:, 0], ordered[:, 1]]
    near, far = ordered[kin], ordered[~kin]
    direct = _table(
        0,
        near[:, 0],
        near[:, 1],
        exact=adjacent[near[:, 0], near[:, 1]],
        paper=np.ones(len(near), dtype=bool),
    )
    a, b, c = _with_third(far, n)
    labels = either_way[a, c] & either_way[b, c]
    given = _table(np.where(labels, 1, 2), a, b, c, exact=connected_given(network.dag)[a, b, c], paper=labels)
    return np.concatenate([direct, given])


def connected_given(dag: DAG) -> NDArray[np.bool_]:
    """Return n×n×n; entry (a, b, c) says whether a and b are d-connected given c; False where c is a or b."""
    n = len(dag)
    singles = [1 << c for c in range(n)]
    masks = (mask.to_bytes((n + 7) // 8, "little") for a in range(n) for mask in d_connected(dag, a, singles))
    octets = np.frombuffer(b"".join(masks), dtype=np.uint8).reshape(n, n, -1)
    return np.unpackbits(octets, axis=2, count=n, bitorder="little").astype(np.bool_)


def _with_third(pairs: NDArray[np.int16], n: int) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.int16]]:
    """Return every pair with every third variable."""
    a, b = np.repeat(pairs[:, 0], n), np.repeat(pairs[:, 1], n)
    c = np.tile(np.arange(n, dtype=np.int16), len(pairs))
    third = (c != a) & (c != b)
    return a[third], b[third], c[third]
