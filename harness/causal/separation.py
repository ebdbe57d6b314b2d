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


def d_connected(dag: DAG, source: int, conditions: Sequence[int]) -> tuple[int, ...]:
    """Return, for each node, which of the conditioning sets leave it d-connected with `source`.

    Entry v has bit s set iff v is d-connected with `source` given the set `given[s]`. A set that contains
    `source` or v says nothing about them: its bit is 0.
    """
    start = [0] * len(dag)
    has = _holders(len(dag), conditions)
    start[source] = (1 << len(conditions)) - 1 & ~has[source]
    return tuple(0 if v == source else reached for v, reached in enumerate(_balls(dag, start, has)))


def _balls(dag: DAG, start: Sequence[int], has: Sequence[int]) -> list[int]:
    """Return, for each node, which balls get there, as a bit mask over the balls.

    Bit s of start[v] says that ball s begins at v, bit s of has[v] that the conditioning set of ball s holds v.
    """
    n, below = len(dag), children(dag)
    up, down = list(start), [0] * n  # the ball came from a child; from a parent
    work = [v for v in range(n) if start[v]]
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
    return [(up[v] | down[v]) & ~has[v] for v in range(n)]


def _holders(n: int, sets: Sequence[int]) -> list[int]:
    """Return, for each node, which of the sets hold it, as a bit mask over the sets."""
    return [mask_of(s for s, z in enumerate(sets) if z >> v & 1) for v in range(n)]


@cache
def conditioning_sets(n: int, i: int, j: int) -> tuple[tuple[int, ...], ...]:
    """Return all sets of the other nodes as sorted tuples, in lexicographic order: (), (2,), (2, 3), (3,), …"""
    others = [k for k in range(n) if k not in (i, j)]
    return tuple(sorted(s for size in range(len(others) + 1) for s in combinations(others, size)))


Independence = tuple[int, int, tuple[int, ...]]
"""(i, j, conditioning set): nodes i < j are independent given the sorted set."""


def independences(dag: DAG) -> list[Independence]:
    """Return every d-separation of the graph, in lexicographic order of (i, j, conditioning set)."""
    n = len(dag)
    start, has = _all_balls(n)
    reached = _balls(dag, start, has)
    statements: list[Independence] = []
    for i, j in combinations(range(n), 2):
        connected = reached[j] >> (i << n)
        statements += [(i, j, condition) for mask, condition in _numbered_sets(n, i, j) if not connected >> mask & 1]
    return statements


@cache
def _all_balls(n: int) -> tuple[list[int], list[int]]:
    """Return (start, has) for balls from each node with each conditioning set: ball i · 2^n + s is from i, given s."""
    holders, everything = _holders(n, range(1 << n)), (1 << (1 << n)) - 1
    start = [(everything & ~holders[v]) << (v << n) for v in range(n)]
    return start, [sum(holder << (i << n) for i in range(n)) for holder in holders]


@cache
def _numbered_sets(n: int, i: int, j: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((mask_of(condition), condition) for condition in conditioning_sets(n, i, j))
