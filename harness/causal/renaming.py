"""Classes up to renaming, one at a time: the smallest number of a class, and its symmetries."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

from harness.causal.dag import DAG, bits, children, from_integer, mask_of

Pattern = tuple[tuple[int, ...], tuple[int, ...]]
"""(neighbours, tails): for each node its neighbours in the skeleton, and the tails of the v-structures' arrows
into it. Equal for two DAGs iff they are Markov equivalent (Verma and Pearl 1990)."""


def smallest(dag: DAG) -> int:
    """Return the smallest number among the DAGs of this class up to renaming: its representative.

    A number is a DAG with one of its topological orders, and the orders of a class's members are those in
    which sinks can be taken from the pattern one by one (Dor and Tarsi 1992). A number's highest bits belong to
    the last places. So the places are filled from the last to the first, each with all nodes that make its bits
    smallest. Equal to the entry of `representatives` up to n = 7, and feasible beyond. Time and memory grow with
    the ties, of which only patterns with many symmetries have many.
    """
    n, pattern = len(dag), _pattern(dag)
    number, width = 0, n * (n - 1) // 2
    # What is left, and for each node the places after it that hold a neighbour: the future depends on no more.
    ties: set[tuple[int, tuple[int, ...]]] = {((1 << n) - 1, (0,) * n)}
    for place in reversed(range(n)):
        width -= n - 1 - place
        best = min(after[x] for rest, after in ties for x in _sinks(rest, pattern))
        number |= best >> place + 1 << width
        ties = {
            (
                rest & ~(1 << x),
                tuple(0 if u == x else a | (pattern[0][x] >> u & 1) << place for u, a in enumerate(after)),
            )
            for rest, after in ties
            for x in _without_twins(_sinks(rest, pattern), pattern)
            if after[x] == best
        }
    return number


def symmetries(dag: DAG) -> int:
    """Return how many renamings of the nodes leave the class as it is."""
    n, (neighbours, tails) = len(dag), _pattern(dag)
    heads = children(tails)
    kinds = [(len(list(bits(neighbours[v]))), tails[v].bit_count(), heads[v].bit_count()) for v in range(n)]
    # A symmetry keeps these of a node, and how many neighbours of each kind it has.
    alike = [(kinds[v], sorted(kinds[u] for u in bits(neighbours[v]))) for v in range(n)]
    candidates = [[w for w in range(n) if alike[w] == alike[v]] for v in range(n)]
    if all(len(images) == 1 for images in candidates):
        return 1

    def extensions(images: list[int]) -> int:
        """Return how many symmetries begin with these images of nodes 0, 1, …"""
        v = len(images)
        if v == n:
            return 1
        total = 0
        for w in candidates[v]:
            if w not in images and all(
                neighbours[v] >> u & 1 == neighbours[w] >> x & 1
                and tails[v] >> u & 1 == tails[w] >> x & 1
                and heads[v] >> u & 1 == heads[w] >> x & 1
                for u, x in enumerate(images)
            ):
                total += extensions([*images, w])
        return total

    return extensions([])


def labellings(n: int, number: int) -> int:
    """Return how many labelled classes an unlabelled one stands for: n! over the symmetries of its pattern."""
    return factorial(n) // symmetries(from_integer(n, number))


def _pattern(dag: DAG) -> Pattern:
    neighbours = tuple(above | below for above, below in zip(dag, children(dag), strict=True))
    tails = tuple(mask_of(u for u in bits(above) if above & ~neighbours[u] & ~(1 << u)) for above in dag)
    return neighbours, tails


def _sinks(rest: int, pattern: Pattern) -> Iterator[int]:
    """Yield the nodes of `rest` that are a sink of some member of the class restricted to `rest`."""
    neighbours, tails = pattern
    for x in bits(rest):
        around = neighbours[x] & rest
        undirected = list(bits(around & ~tails[x]))
        if not any(tails[y] >> x & 1 or around & ~neighbours[y] & ~(1 << y) for y in undirected):
            yield x


def _without_twins(nodes: Iterator[int], pattern: Pattern) -> list[int]:
    """Return the nodes without those that a symmetry exchanges with an earlier one."""
    neighbours, tails = pattern
    heads = children(tails)
    distinct: list[int] = []
    for x in nodes:
        for y in distinct:
            both = ~(1 << x | 1 << y)
            if all(not (kind[x] ^ kind[y]) & both for kind in (neighbours, tails, heads)):
                break
        else:
            distinct.append(x)
    return distinct
