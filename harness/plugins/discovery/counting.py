"""How often each combination of states occurs: what scores and tests are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


class Table:
    """A table of discrete data, ready to be counted.

    `data` is rows × variables, cells are codes 0 … arity − 1.
    """

    def __init__(self, data: NDArray[np.int64], arities: Sequence[int]) -> None:
        self.rows: int = data.shape[0]
        self.variables: int = data.shape[1]
        self.arities = tuple(arities)
        self.columns = np.ascontiguousarray(data.T, dtype=np.int64)
        # Up to here an array over all combinations is cheaper than sorting the rows.
        self._dense = max(self.rows, 1 << 12)

    def configurations(self, variables: Iterable[int]) -> tuple[Codes, int]:
        """Return (a code for each row, how many codes there are): codes are equal iff rows agree in `variables`.

        Codes are mixed radix numbers. Long before these could outgrow an integer they are renumbered, with numbers
        for those alone that occur, so that there may be fewer codes than the product of the arities.
        """
        codes, size = np.zeros(self.rows, dtype=np.int64), 1
        for k in variables:
            codes = codes * self.arities[k] + self.columns[k]
            size *= self.arities[k]
            if size > self._dense:
                present, codes = np.unique(codes, return_inverse=True)
                size = len(present)
        return codes, size

    def tally(self, codes: Codes, size: int) -> tuple[Codes, Codes]:
        """Return (the codes that occur, ascending; how often each does), of codes 0 … size − 1."""
        if size > 4 * self._dense:
            return np.unique(codes, return_counts=True)
        counts = np.bincount(codes, minlength=size)
        present = np.flatnonzero(counts)
        return present, counts[present]

    def plus(self, codes: Codes, size: int, variable: int) -> tuple[Codes, int]:
        """Return the codes refined by one more variable, as code × arity + state, and how many codes there are."""
        return codes * self.arities[variable] + self.columns[variable], size * self.arities[variable]


def n_log_n(rows: int) -> NDArray[np.float64]:
    """Return n ln n for n = 0 … rows, where 0 ln 0 is 0."""
    n = np.arange(rows + 1, dtype=np.float64)
    return n * np.log(np.maximum(n, 1))
