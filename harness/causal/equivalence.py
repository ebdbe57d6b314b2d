"""Markov equivalence: the members of a class, one DAG for a pattern, and classes up to renaming, all or one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from harness.causal.dag import DAG, bits, children, mask_of
from harness.causal.separation import Independence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def members(dag: DAG) -> Iterator[DAG]:
    """Yield all DAGs that are Markov equivalent to `dag`, itself first.

    Any two members are joined by reversals of covered edges, x → y with pa(y) = pa(x) ∪ {x}
    (Chickering 1995, Theorem 2).
    """
    visited, work = {dag}, [dag]
    while work:
        here = work.pop()
        yield here
        for y, above in enumerate(here):
            for x in bits(above):
                if above != here[x] | 1 << x:
                    continue
                turned = list(here)
                turned[y] ^= 1 << x
                turned[x] |= 1 << y
                there = tuple(turned)
                if there not in visited:
                    visited.add(there)
                    work.append(there)


def from_independences(n: int, statements: Iterable[Independence]) -> DAG | None:
    """Return a DAG with the skeleton and v-structures that a complete list of independences implies.

    This is the PC algorithm's first half (Spirtes et al. 2000), with every separating set known, then the
    extension of Dor and Tarsi (1992). None where no DAG has that pattern. Whether the DAG's independences
    are exactly the given ones is for the caller to check.
    """
    separating = {(i, j): mask_of(condition) for i, j, condition in statements}
    adjacent = [0] * n
    for i, j in combinations(range(n), 2):
        if (i, j) not in separating:
            adjacent[i] |= 1 << j
            adjacent[j] |= 1 << i
    into = [0] * n  # the tails of arrows that v-structures force
    for (i, j), condition in separating.items():
        for k in bits(adjacent[i] & adjacent[j] & ~condition):
            into[k] |= 1 << i | 1 << j
    return extend(adjacent, into)


def extend(adjacent: list[int], into: list[int]) -> DAG | None:
    """Direct the undirected edges of a pattern without a cycle or a new v-structure (Dor and Tarsi 1992).

    Return the DAG, or None if no DAG extends the pattern.
    """
    n = len(adjacent)
    parents, out_of = [0] * n, children(tuple(into))
    rest = (1 << n) - 1
    while rest:
        for x in bits(rest):
            around = adjacent[x] & rest
            if around & out_of[x]:
                continue
            if all(not around & ~adjacent[y] & ~(1 << y) for y in bits(around & ~into[x])):
                parents[x] = around
                rest &= ~(1 << x)
                break
        else:
            return None
    return tuple(parents)


def representatives(n: int) -> list[int]:
    """Return a DAG for each Markov equivalence class over n nodes up to renaming: its smallest number, ascending.

    2, 5, 20, 142 and 2,201 for n = 2 … 6. Numbers as in `dag.from_integer`. Memory and time grow with
    2^(n(n-1)/2): n = 7 takes seconds, n = 8 is out of reach.

    They are the least of each component that swaps of neighbouring positions k, k+1 connect: a number is a DAG together
    with one of its topological orders. Swapping neighbours without an edge leads to another order of the same DAG, and
    such swaps reach all its orders. Swapping neighbours whose edge is covered amounts to reversing that edge; every
    covered edge has neighbours for ends in some order, and covered reversals reach the whole class (see `members`). So
    no canonical form has to be computed.
    """
    import numpy as np

    size = 1 << (n * (n - 1) // 2)
    numbers = np.arange(size, dtype=np.int64)
    swaps = [_swap(n, k, numbers) for k in range(n - 1)]
    least = numbers.copy()
    while True:
        before = least
        for other in swaps:
            least = np.minimum(least, least[other])
        least = least[least]
        if np.array_equal(least, before):
            return [int(number) for number in np.flatnonzero(least == numbers)]


def _swap(n: int, k: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each number with positions k and k+1 swapped where that is allowed, itself elsewhere."""
    index = {pair: bit for bit, pair in enumerate(combinations(range(n), 2))}
    exchanged = [(index[i, k], index[i, k + 1]) for i in range(k)]
    columns = len(exchanged)
    exchanged += [(index[k, j], index[k + 1, j]) for j in range(k + 2, n)]
    swapped = numbers.copy()
    same_parents = numbers == numbers
    for at, (a, b) in enumerate(exchanged):
        differ = (numbers >> a ^ numbers >> b) & 1
        swapped ^= differ << a | differ << b
        if at < columns:
            same_parents &= differ == 0
    edge = (numbers >> index[k, k + 1] & 1).astype(bool)
    allowed = ~edge | same_parents
    swapped[~allowed] = numbers[~allowed]
    return swapped


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
    n, own = len(dag), pattern_of(dag)
    number, width = 0, n * (n - 1) // 2
    # What is left, and for each node the places after it that hold a neighbour: the future depends on no more.
    ties: set[tuple[int, tuple[int, ...]]] = {((1 << n) - 1, (0,) * n)}
    for place in reversed(range(n)):
        width -= n - 1 - place
        best = min(after[x] for rest, after in ties for x in _sinks(rest, own))
        number |= best >> place + 1 << width
        ties = {
            (
                rest & ~(1 << x),
                tuple(0 if u == x else a | (own[0][x] >> u & 1) << place for u, a in enumerate(after)),
            )
            for rest, after in ties
            for x in _without_twins(_sinks(rest, own), own)
            if after[x] == best
        }
    return number


def pattern_of(dag: DAG) -> Pattern:
    """Return what tells the classes apart."""
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
