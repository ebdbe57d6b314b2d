"""The G² test of conditional independence for discrete data."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from harness.causal.dag import bits
from harness.plugins.discovery.counting import Codes, Table, n_log_n


class Verdict(NamedTuple):
    """The result of a test."""

    statistic: float
    """G², never negative."""
    freedom: int
    """Degrees of freedom."""
    p: float
    """The probability of such a G² or a larger one under independence; 1 without a degree of freedom."""


class GSquare:
    """The tests on one table, each made once.

    G² = 2 Σ n(xyz) ln (n(xyz) n(z) / n(xz) n(yz)), χ²-distributed under independence (Spirtes, Glymour and Scheines
    2000, §5.5). Degrees of freedom are adjusted: a configuration z of the
    given variables adds (states of x seen with z − 1) (states of y seen with z − 1), so that rows and columns
    without a count, which cannot deviate, do not count. One that was seen with a single state of x adds none.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._n_log_n = n_log_n(table.rows)
        self._verdicts: dict[tuple[int, int, int], Verdict] = {}

    def __call__(self, x: int, y: int, given: int = 0) -> Verdict:
        """Test whether x and y, two different variables outside the set `given`, are independent given it."""
        key = min(x, y), max(x, y), given
        if key not in self._verdicts:
            self._verdicts[key] = self._test(*key)
        return self._verdicts[key]

    def rows_per_cell(self, x: int, y: int, given: int = 0) -> float:
        """Return the average number of rows for each combination of states, those that do not occur included."""
        return self._table.rows / prod(self._table.arities[k] for k in bits(given | 1 << x | 1 << y))

    def _test(self, x: int, y: int, given: int) -> Verdict:
        table, n_log_n = self._table, self._n_log_n
        z, size = table.configurations(bits(given))
        xz = table.plus(z, size, x)
        xz_seen, xz_counts = table.tally(*xz)
        yz_seen, yz_counts = table.tally(*table.plus(z, size, y))
        _, z_counts = table.tally(z, size)
        _, xyz_counts = table.tally(*table.plus(*xz, y))
        sums = [n_log_n[counts].sum() for counts in (xyz_counts, z_counts, xz_counts, yz_counts)]
        statistic = max(0.0, 2 * float(sums[0] + sums[1] - sums[2] - sums[3]))
        freedom = int(_spare(xz_seen // table.arities[x], size) @ _spare(yz_seen // table.arities[y], size))
        return Verdict(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def _spare(configurations: Codes, size: int) -> Codes:
    """Return, for each configuration of the conditioning set, the states seen with it, less one; 0 if none."""
    return np.maximum(np.bincount(configurations, minlength=size) - 1, 0)
