"""The questions of the skeleton task about one network, by either convention."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG
from harness.causal.separation import d_connected
from harness.seeding import uniform
from harness.tasks.causalbench.networks import Network
from harness.tasks.causalbench.structures import Matrix
from harness.tasks.causalbench.table import Table


def exact(network: Network, adjacent: Matrix, *, seed: int) -> Table:
    """Ask of every unordered pair: is it adjacent; and, for every other variable c, is it d-connected given c?

    Which of a pair is named first is drawn from the seed.
    """
    n = len(network.variables)
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int16)
    swapped = np.array([uniform(seed, network.name, *(network.variables[k] for k in pair)) < 0.5 for pair in pairs])
    pairs[swapped] = pairs[swapped][:, ::-1]
    direct = Table.of(0, pairs[:, 0], pairs[:, 1], exact=adjacent[pairs[:, 0], pairs[:, 1]])
    a, b, c = _with_third(pairs, n)
    return direct + Table.of(1, a, b, c, exact=connected_given(network.dag)[a, b, c])


def paper(network: Network, adjacent: Matrix, either_way: Matrix) -> Table:
    """Follow the published rule, item for item (established from the released data; see docs/conventions.md).

    For every ordered pair (a, b): if b is an ancestor or a descendant of a, one item "directly related", labelled 1.
    Otherwise one item for every c, labelled 1 iff c is an ancestor or a descendant of both; the label is also in the
    question's words, "conditionally" or "not conditionally related". The labels `exact` of the same items are
    adjacency, and d-connection given c.
    """
    n = len(network.variables)
    ordered = np.argwhere(~np.eye(n, dtype=bool)).astype(np.int16)
    kin = either_way[ordered[:, 0], ordered[:, 1]]
    near, far = ordered[kin], ordered[~kin]
    direct = Table.of(
        0,
        near[:, 0],
        near[:, 1],
        exact=adjacent[near[:, 0], near[:, 1]],
        paper=np.ones(len(near), dtype=bool),
    )
    a, b, c = _with_third(far, n)
    labels = either_way[a, c] & either_way[b, c]
    return direct + Table.of(np.where(labels, 1, 2), a, b, c, exact=connected_given(network.dag)[a, b, c], paper=labels)


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
