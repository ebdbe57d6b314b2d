"""Directed paths in many DAGs at once: bits for the DAGs, side by side in one int for all pairs of nodes.

A cell of `size` bits says in which of `size` DAGs something holds: bit k for DAG k. A row is n cells, cell v
for node v. A page is n rows, row w for node w. One operation on a page does what else were n² · size steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Cells:
    """Arithmetic for n nodes and `size` DAGs; `cells_of` makes it."""

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
