"""The six relations of Corr2Cause, in one DAG and in all DAGs of a Markov equivalence class.

The readings are those that the public labels follow; see `Relation`. Two sentences of the paper (Jin et al.
2024, §2.1 and §3.5) are stricter than its labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from harness.causal.dag import DAG, bits


@dataclass(frozen=True)
class Cells:
    """Directed paths in `size` DAGs over n nodes at once: bits for the DAGs, side by side in one int for all pairs.

    A cell of `size` bits says in which of the DAGs something holds: bit k for DAG k. A row is n cells, cell v for node
    v. A page is n rows, row w for node w. One operation on a page does what else were n² · size steps. `cells_of` makes
    it.
    """

    n: int
    size: int
    everywhere: int
    """One cell: holds in all DAGs."""
    row: int
    """A row of such cells."""
    to_cells: int
    """Times a cell: that cell n times, a row."""
    to_rows: int
    """Times a row: that row n times, a page."""
    first: int
    """The first cell of each of a page's rows."""
    allowed: tuple[int, ...]
    """Entry u: the cells (w, v) of a page with w neither u nor v."""

    def paths(self, edges: Sequence[int]) -> list[int]:
        """Return page u for every node u: row w, cell v says where a directed path leads from u to v and avoids w.

        Transitive closure as in Warshall (1962).
        """
        pages = [row * self.to_rows & self.allowed[u] for u, row in enumerate(edges)]
        for k in range(self.n):
            for u in range(self.n):
                to_k = pages[u] >> k * self.size & self.first
                if to_k:
                    pages[u] |= to_k * self.to_cells & pages[k]
        return pages

    def indirect(self, u: int, edges: int, pages: Sequence[int]) -> int:
        """Return the row that says where paths of two or more edges lead from u: an edge, then a path not through u."""
        reached = 0
        for k in range(self.n):
            to_k = edges >> k * self.size & self.everywhere
            if to_k:
                reached |= to_k * self.to_cells & self._row(pages[k], u)
        return reached

    def meet(self, pages: Sequence[int]) -> tuple[int, ...]:
        """Return rows whose entry (i, j) is 1 iff in all DAGs paths from i and from j meet only in some third node.

        It is enough that some node is reached from i without j and from j without i: the first node of the one
        path that lies on the other is such an end.
        """
        rows = [0] * self.n
        for i in range(self.n):
            for j in range(i):
                ends = self._row(pages[i], j) & self._row(pages[j], i)
                somewhere = 0
                while ends:
                    somewhere |= ends & self.everywhere
                    ends >>= self.size
                if somewhere == self.everywhere:
                    rows[i] |= 1 << j
                    rows[j] |= 1 << i
        return tuple(rows)

    def full(self, row: int) -> int:
        """Return the cells of a row that hold in all DAGs, as a set of nodes."""
        return sum(1 << v for v in range(self.n) if row >> v * self.size & self.everywhere == self.everywhere)

    def _row(self, page: int, w: int) -> int:
        return page >> w * self.n * self.size & self.row


@lru_cache(maxsize=64)
def cells_of(n: int, size: int) -> Cells:
    """Return the arithmetic for n nodes and `size` DAGs."""
    everywhere = (1 << size) - 1
    to_cells = sum(1 << v * size for v in range(n))
    to_rows = sum(1 << w * n * size for w in range(n))
    allowed = tuple(
        sum(everywhere << (w * n + v) * size for w in range(n) for v in range(n) if w not in (u, v)) for u in range(n)
    )
    return Cells(n, size, everywhere, everywhere * to_cells, to_cells, to_rows, everywhere * to_rows, allowed)


BATCH = 256
"""DAGs that are looked at together: enough to be fast, few enough for a class of any size."""


class Relation(StrEnum):
    """A claim of a hypothesis about (i, j); in Table 2's order.

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

    # Members are hashed for every item, and an enumeration's own hash is a Python function.
    __hash__ = str.__hash__


Holds = dict[Relation, tuple[int, ...]]
"""For each relation a matrix of bits: bit j of row i is set iff the relation holds of (i, j)."""


def relations(dag: DAG) -> Holds:
    """Return which relations hold in one DAG, for every ordered pair of nodes."""
    return common_relations([dag])


def common_relations(dags: Iterable[DAG]) -> Holds:
    """Return which relations hold in all of the DAGs: the valid hypotheses of a class (§3.5). Empty without DAGs."""
    common: Holds = {}
    source = iter(dags)
    while batch := list(islice(source, BATCH)):
        here = _common_to_batch(batch)
        common = {r: tuple(a & b for a, b in zip(common[r], here[r], strict=True)) for r in here} if common else here
        if not any(any(rows) for rows in common.values()):
            break
    return common


def _common_to_batch(dags: Sequence[DAG]) -> Holds:
    """Return which relations hold in all DAGs of one batch.

    A fact about (u, v) is a cell of bits, bit k for DAG k, and a row of cells is one int.
    """
    n, size = len(dags[0]), len(dags)
    forward, backward = [0] * n, [0] * n  # cell v of row u: is there an edge u → v (v → u)?
    for k, dag in enumerate(dags):
        for v, above in enumerate(dag):
            for u in bits(above):
                forward[u] |= 1 << v * size + k
                backward[v] |= 1 << u * size + k
    cells = cells_of(n, size)
    ahead = cells.paths(forward)
    parent = tuple(cells.full(row) for row in forward)
    ancestor = tuple(cells.full(cells.indirect(u, forward[u], ahead)) for u in range(n))
    return {
        Relation.PARENT: parent,
        Relation.ANCESTOR: ancestor,
        Relation.CHILD: _transpose(parent),
        Relation.DESCENDANT: _transpose(ancestor),
        Relation.COLLIDER: cells.meet(ahead),
        Relation.CONFOUNDER: cells.meet(cells.paths(backward)),  # the same in the reversed graphs
    }


def _transpose(rows: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(1 << i for i, row in enumerate(rows) if row >> j & 1) for j in range(len(rows)))
