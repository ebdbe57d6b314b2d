"""The six relations of Corr2Cause, in one DAG and in all DAGs of a Markov equivalence class.

The readings are those that the public labels follow; see `Relation`. Two sentences of the paper (Jin et al.
2024, §2.1 and §3.5) are stricter than its labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from harness.causal.dag import DAG, bits, children, descendants


class Relation(StrEnum):
    """What a hypothesis claims of (i, j); in Table 2's order.

    - parent, child: the edge i → j (j → i) exists.
    - ancestor, descendant: a directed path of two or more edges leads from i to j (j to i), whether or not
      the direct edge is there too.
    - collider: some third node is reached from both by directed paths that meet only there.
    - confounder: some third node reaches both by directed paths that part only there.
    """

    PARENT = "parent"
    ANCESTOR = "ancestor"
    CHILD = "child"
    DESCENDANT = "descendant"
    COLLIDER = "collider"
    CONFOUNDER = "confounder"


Holds = dict[Relation, tuple[int, ...]]
"""For each relation a matrix of bits: bit j of row i is set iff the relation holds of (i, j)."""


def relations(dag: DAG) -> Holds:
    """Which relations hold in one DAG, for every ordered pair of nodes."""
    below = children(dag)
    reach = descendants(dag)
    indirect = tuple(_union(reach[w] for w in bits(below[v])) for v in range(len(dag)))
    return {
        Relation.PARENT: below,
        Relation.ANCESTOR: indirect,
        Relation.CHILD: dag,
        Relation.DESCENDANT: _transpose(indirect),
        Relation.COLLIDER: _meet(dag),
        Relation.CONFOUNDER: _meet(below),  # the same in the reversed graph
    }


def shared(dags: Iterable[DAG]) -> Holds:
    """Which relations hold in every one of the DAGs: the valid hypotheses of a class (§3.5)."""
    common: Holds = {}
    for dag in dags:
        here = relations(dag)
        if not common:
            common = here
        else:
            common = {r: tuple(a & b for a, b in zip(common[r], here[r], strict=True)) for r in Relation}
        if not any(any(rows) for rows in common.values()):
            break
    return common


def _meet(dag: DAG) -> tuple[int, ...]:
    """Bit j of row i: directed paths from i and from j end in some third node and share only that one.

    It is enough that some node is reached from i without j and from j without i: the first node of the one
    path that lies on the other is such an end.
    """
    n = len(dag)
    without = [descendants(dag, 1 << v) for v in range(n)]
    rows = [0] * n
    for i in range(n):
        for j in range(i):
            if without[j][i] & without[i][j]:
                rows[i] |= 1 << j
                rows[j] |= 1 << i
    return tuple(rows)


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _transpose(rows: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(1 << i for i, row in enumerate(rows) if row >> j & 1) for j in range(len(rows)))
