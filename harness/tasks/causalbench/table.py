"""The questions about one network as columns of small numbers: win95pts has 378,876 of them for one task."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
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
    from numpy.typing import NDArray

    from harness.tasks.causalbench.templates import Template


@dataclass(frozen=True)
class QuestionTable:
    """Parallel columns, one entry a question."""

    template: NDArray[np.int8]
    """The template's number."""
    a: NDArray[np.int16]
    b: NDArray[np.int16]
    c: NDArray[np.int16]
    """The third variable, -1 where the template has none."""
    labels: Mapping[str, NDArray[np.int8]]
    """0 or 1, by label set."""

    @classmethod
    def of(cls, template: Any, a: NDArray[Any], b: NDArray[Any], c: Any = -1, **labels: NDArray[Any]) -> QuestionTable:
        """Make a table from columns; template and c may be scalars."""
        return cls(
            np.broadcast_to(np.asarray(template, dtype=np.int8), a.shape),
            a.astype(np.int16),
            b.astype(np.int16),
            np.broadcast_to(np.asarray(c, dtype=np.int16), a.shape),
            {name: column.astype(np.int8) for name, column in labels.items()},
        )

    def __len__(self) -> int:
        return len(self.a)

    def __add__(self, other: QuestionTable) -> QuestionTable:
        """Return the questions of both, those of `other` last."""
        return QuestionTable(
            np.concatenate([self.template, other.template]),
            np.concatenate([self.a, other.a]),
            np.concatenate([self.b, other.b]),
            np.concatenate([self.c, other.c]),
            {name: np.concatenate([column, other.labels[name]]) for name, column in self.labels.items()},
        )

    def __getitem__(self, rows: NDArray[Any]) -> QuestionTable:
        labels = {name: column[rows] for name, column in self.labels.items()}
        return QuestionTable(self.template[rows], self.a[rows], self.b[rows], self.c[rows], labels)


def table_of_pairs(
    templates: Mapping[str, Template], matrices: Mapping[str, NDArray[np.bool_]], pairs: NDArray[np.bool_]
) -> QuestionTable:
    """Return every chosen ordered pair under each template; `matrices` hold what is true, by structure."""
    a, b = np.nonzero(pairs)
    blocks = [
        QuestionTable.of(number, a, b, exact=matrices[template.exact][a, b], paper=matrices[template.paper][a, b])
        for number, template in enumerate(templates.values())
    ]
    table = blocks[0]
    for block in blocks[1:]:
        table += block
    return table


def subset(tables: Mapping[str, QuestionTable], limit: int, *, label_set: str, seed: int) -> dict[str, QuestionTable]:
    """Draw `limit` questions of all networks: each network with its share, and in it each label with its share.

    In their original order. Which questions of a network and label are taken depends on the seed and on nothing
    outside them, and a smaller subset of them is part of a larger one.
    """
    shares = quotas({name: len(table) for name, table in tables.items()}, limit, seed=seed)
    chosen = {}
    for name, table in tables.items():
        rows = [np.flatnonzero(table.labels[label_set] == label) for label in (0, 1)]
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
    direct = QuestionTable.of(0, pairs[:, 0], pairs[:, 1], exact=adjacent[pairs[:, 0], pairs[:, 1]])
    a, b, c = _with_third(pairs, n)
    return direct + QuestionTable.of(1, a, b, c, exact=connected_given(network.dag)[a, b, c])


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
    direct = QuestionTable.of(
        0,
        near[:, 0],
        near[:, 1],
        exact=adjacent[near[:, 0], near[:, 1]],
        paper=np.ones(len(near), dtype=bool),
    )
    a, b, c = _with_third(far, n)
    labels = either_way[a, c] & either_way[b, c]
    return direct + QuestionTable.of(
        np.where(labels, 1, 2), a, b, c, exact=connected_given(network.dag)[a, b, c], paper=labels
    )


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
