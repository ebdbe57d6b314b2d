"""d-separation (Pearl 1988) by a Bayes ball that tries many conditioning sets at once.

The ball's states are (node, came from a child) and (node, came from a parent). For each state we keep a bit
mask over the *conditioning sets*: bit s says that the ball gets there when set s is given. One sweep thus
answers for all 2^n sets of a small graph, or all n single variables of a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

from harness.causal.dag import DAG, bits, children, mask_of


def d_connected(dag: DAG, source: int, given: Sequence[int]) -> tuple[int, ...]:
    """For each node, which of the conditioning sets leave it d-connected with `source`.

    Entry v has bit s set iff v is d-connected with `source` given the set `given[s]`. A set that contains
    `source` or v says nothing about them: its bit is 0.
    """
    return _ball(dag, children(dag), source, _holders(len(dag), given), (1 << len(given)) - 1)


def _ball(dag: DAG, below: DAG, source: int, has: Sequence[int], everything: int) -> tuple[int, ...]:
    """`d_connected` with the children at hand and, for every node, which of the sets hold it."""
    n = len(dag)
    up, down = [0] * n, [0] * n  # the ball came from a child; from a parent
    up[source] = everything & ~has[source]
    work = [source]
    while work:
        v = work.pop()
        # A given node sends the ball back to its parents. That opens the colliders above it too: the ball goes
        # down to the given node and comes back up.
        to_parents = up[v] & ~has[v] | down[v] & has[v]
        to_children = (up[v] | down[v]) & ~has[v]
        for u in bits(dag[v]):
            if to_parents & ~up[u]:
                up[u] |= to_parents
                work.append(u)
        for w in bits(below[v]):
            if to_children & ~down[w]:
                down[w] |= to_children
                work.append(w)
    return tuple(0 if v == source else (up[v] | down[v]) & ~has[v] for v in range(n))


def _holders(n: int, given: Sequence[int]) -> tuple[int, ...]:
    """For each node, which of the sets hold it."""
    return tuple(mask_of(s for s, z in enumerate(given) if z >> v & 1) for v in range(n))


@cache
def _holders_of_all(n: int) -> tuple[int, ...]:
    """The same for all 2^n sets of nodes, set s at place s."""
    return _holders(n, range(1 << n))


def d_separated(dag: DAG, a: int, b: int, given: int = 0) -> bool:
    """Whether `given` (a set of nodes) d-separates a from b, two different nodes outside it."""
    return not d_connected(dag, a, [given])[b]


@cache
def conditioning_sets(n: int, i: int, j: int) -> tuple[tuple[int, ...], ...]:
    """All sets of the other nodes as sorted tuples, in lexicographic order: (), (2,), (2, 3), (3,), …"""
    others = [k for k in range(n) if k not in (i, j)]
    return tuple(sorted(s for size in range(len(others) + 1) for s in combinations(others, size)))


Independence = tuple[int, int, tuple[int, ...]]
"""(i, j, conditioning set): nodes i < j are independent given the sorted set."""


def independences(dag: DAG) -> list[Independence]:
    """Every d-separation of the graph, in lexicographic order of (i, j, conditioning set)."""
    n = len(dag)
    below, has, everything = children(dag), _holders_of_all(n), (1 << (1 << n)) - 1
    connected = [_ball(dag, below, i, has, everything) for i in range(n)]
    return [
        (i, j, given)
        for i, j in combinations(range(n), 2)
        for mask, given in _numbered_sets(n, i, j)
        if not connected[i][j] >> mask & 1
    ]


@cache
def _numbered_sets(n: int, i: int, j: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((mask_of(given), given) for given in conditioning_sets(n, i, j))
