"""Markov equivalence classes as patterns: the one of a DAG, a DAG in one, and the nearest where it has none."""

from __future__ import annotations

from harness.causal.dag import DAG, bits, children, mask_of
from harness.causal.equivalence import extend
from harness.causal.learned_graph import Pattern


def cpdag(dag: DAG) -> Pattern:
    """Return the completed pattern of a DAG's class: an edge is directed iff all members direct it alike.

    The edges of v-structures, and what follows from them by Meek's rules 1 to 3 (Meek 1995, "Causal inference and
    causal explanation with background knowledge"; his fourth rule needs directions that come from elsewhere).
    """
    n = len(dag)
    adjacent = [above | below for above, below in zip(dag, children(dag), strict=True)]
    into = [mask_of(u for u in bits(above) if above & ~adjacent[u] & ~(1 << u)) for above in dag]
    changed = True
    while changed:
        changed = False
        for v in range(n):
            for u in bits(dag[v] & ~into[v]):
                if _forced(u, v, adjacent, into):
                    into[v] |= 1 << u
                    changed = True
    undirected = [0] * n
    for v in range(n):
        for u in bits(dag[v] & ~into[v]):
            undirected[v] |= 1 << u
            undirected[u] |= 1 << v
    return Pattern(tuple(into), tuple(undirected))


def _forced(u: int, v: int, adjacent: list[int], into: list[int]) -> bool:
    """Test whether one of Meek's rules directs u – v as u → v."""
    if into[u] & ~adjacent[v]:  # 1: w → u, and w is not adjacent to v
        return True
    if any(into[w] >> u & 1 for w in bits(into[v])):  # 2: u → w → v
        return True
    # 3: u – w → v and u – x → v, with w and x not adjacent
    between = mask_of(w for w in bits(into[v] & adjacent[u]) if not into[u] >> w & 1 and not into[w] >> u & 1)
    return any(between & ~adjacent[w] & ~(1 << w) for w in bits(between))


def dag_in(pattern: Pattern) -> DAG | None:
    """Return a DAG with the edges of a pattern, its directions, and no v-structure that it lacks; None without one."""
    adjacent = [
        above | below | beside
        for above, below, beside in zip(pattern.directed, children(pattern.directed), pattern.undirected, strict=True)
    ]
    return extend(adjacent, list(pattern.directed))


def nearest_dag(pattern: Pattern) -> DAG:
    """Return a DAG with the edges of a pattern in which there is none, by few changes: `dag_in` where there is one.

    As Dor and Tarsi (1992) take one sink after another, but where no node can be one, the node that needs the fewest
    changes is taken (directed edges to turn, pairs of parents that come to collide), the first of equals. A heuristic.
    """
    below = children(pattern.directed)
    adjacent = [
        above | child | beside for above, child, beside in zip(pattern.directed, below, pattern.undirected, strict=True)
    ]
    parents, rest = [0] * len(adjacent), (1 << len(adjacent)) - 1

    def changes(x: int) -> int:
        around = adjacent[x] & rest
        new = around & ~pattern.directed[x]
        return (around & below[x]).bit_count() + sum((around & ~adjacent[y] & ~(1 << y)).bit_count() for y in bits(new))

    while rest:
        sink = min(bits(rest), key=changes)
        parents[sink] = adjacent[sink] & rest
        rest &= ~(1 << sink)
    return tuple(parents)
