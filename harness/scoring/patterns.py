"""How far a pattern lies from a true graph: an edge without direction claims that either direction may be true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from harness.causal.cpdag import cpdag, dag_in
from harness.causal.dag import DAG, bits, children, descendants, mask_of
from harness.causal.equivalence import members
from harness.causal.learned_graph import Pattern
from harness.scoring.graphs import mistakes

MOST_MEMBERS = 2_000
"""Orientations of one undirected component that are all looked through."""


def codes(pattern: Pattern) -> NDArray[np.int8]:
    """Return the n×n matrix of a pattern: 1 in row u and column v for u → v, 2 both ways for u – v. gadjid's codes."""
    matrix = np.zeros((len(pattern.directed),) * 2, dtype=np.int8)
    for code, masks in ((1, pattern.directed), (2, pattern.undirected)):
        for v, mask in enumerate(masks):
            matrix[list(bits(mask)), v] = code
    return matrix


def pattern_shd(first: Pattern, second: Pattern) -> int:
    """Count unordered pairs that differ, of the states no edge, →, ← and –: 0 … n(n-1)/2.

    Between completed patterns it is the SHD of Tsamardinos, Brown and Aliferis (2006, Table 1), which charges no
    direction that data cannot tell.
    """
    differ = codes(first) != codes(second)
    return int(np.triu(differ | differ.T).sum())


@dataclass(frozen=True)
class Bounds:
    """The least and the largest value over the DAGs of a pattern."""

    low: int
    high: int
    exact: bool = True
    """Whether DAGs of the pattern have these values; if not, none lies outside."""


def sid_bounds(true: DAG, pattern: Pattern) -> Bounds | None:
    """Return the bounds of `harness.scoring.graphs.sid` over the DAGs of a pattern; None where it has no DAG.

    The DAGs of a class differ in its undirected components alone, and direct each as if the others were not there
    (Peters and Bühlmann 2015, Section 2.4.3). Up to MOST_MEMBERS orientations of a component are all looked through;
    of a larger one each node has its least and its largest value alone, by the parents that are possible for it
    (Maathuis, Kalisch and Bühlmann 2009, Section 3): bounds that need not be reached.
    """
    member = dag_in(pattern)
    if member is None:
        return None
    whole, reach, below = cpdag(member), descendants(true), children(true)

    @cache
    def wrong(v: int, parents: int) -> int:
        return mistakes(true, below, reach, v, parents).bit_count()

    low = high = 0
    exact = True
    for component in _components(whole):
        parents = _parent_sets(component, whole, pattern, member)
        if parents is None:
            exact = False
            possible = (_possible(v, whole.undirected, pattern) for v in component)
            values = [
                [wrong(v, whole.directed[v] | above) for above in sets]
                for v, sets in zip(component, possible, strict=True)
            ]
            low, high = low + sum(map(min, values)), high + sum(map(max, values))
        else:
            totals = [sum(wrong(v, whole.directed[v] | above) for v, above in of.items()) for of in parents]
            low, high = low + min(totals), high + max(totals)
    return Bounds(low, high, exact)


def _parent_sets(component: list[int], whole: Pattern, pattern: Pattern, member: DAG) -> list[dict[int, int]] | None:
    """Return, for each orientation of a component that the pattern allows, the parents within it of each node.

    None if its class has more than MOST_MEMBERS orientations, and the pattern does not leave only one.
    """
    inside = {v: member[v] & whole.undirected[v] for v in component}
    known = {v: pattern.directed[v] & whole.undirected[v] for v in component}
    if inside == known:
        return [known]
    place = {v: k for k, v in enumerate(component)}
    local = tuple(mask_of(place[u] for u in bits(above)) for above in inside.values())
    dags = list(islice(members(local), MOST_MEMBERS + 1))
    if len(dags) > MOST_MEMBERS:
        return None
    sets = [
        dict(zip(component, (mask_of(component[k] for k in bits(above)) for above in dag), strict=True)) for dag in dags
    ]
    return [of for of in sets if all(not known[v] & ~of[v] for v in component)]


def _components(pattern: Pattern) -> Iterator[list[int]]:
    """Yield the nodes that undirected edges connect, a node without any alone."""
    rest = (1 << len(pattern.directed)) - 1
    while rest:
        component, step = 0, rest & -rest
        while step:
            component |= step
            around = 0
            for v in bits(step):
                around |= pattern.undirected[v]
            step = around & ~component
        rest &= ~component
        yield list(bits(component))


def _possible(v: int, undirected: tuple[int, ...], pattern: Pattern) -> Iterator[int]:
    """Yield the sets of undirected neighbours that can be parents of v: all adjacent, and none that is directed away.

    Directed as in the pattern where that has a direction.
    """
    required = pattern.directed[v] & undirected[v]
    barred = children(pattern.directed)[v]
    cliques = [0]
    for u in bits(undirected[v] & ~barred):
        cliques += [clique | 1 << u for clique in cliques if not clique & ~undirected[u]]
    yield from (clique for clique in cliques if not required & ~clique)
