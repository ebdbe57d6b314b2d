"""Max-min hill climbing (MMHC): tests select candidate edges, and a score chooses among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import chdtrc

from harness.causal.dag import bits, mask_of
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.algorithm import Codes, Observations, Scored, ScoreName, n_log_n
from harness.plugins.discovery.hill_climbing import climb
from harness.types import JSON


class Independence(NamedTuple):
    """The result of a test."""

    statistic: float
    """G², never negative."""
    freedom: int
    """Degrees of freedom."""
    p: float
    """The probability of such a G² or a larger one under independence; 1 without a degree of freedom."""


class GSquare:
    """G² tests on one table, each computed once.

    G² = 2 Σ n(xyz) ln (n(xyz) n(z) / n(xz) n(yz)), χ²-distributed under independence (Spirtes, Glymour and Scheines
    2000, §5.5). Degrees of freedom are adjusted: a configuration z of the
    given variables adds (states of x seen with z − 1) (states of y seen with z − 1), so that rows and columns
    without a count, which cannot deviate, do not count. One that was seen with a single state of x adds none.
    """

    def __init__(self, table: Observations) -> None:
        self._table = table
        self._n_log_n = n_log_n(table.rows)
        self._verdicts: dict[tuple[int, int, int], Independence] = {}

    def __call__(self, x: int, y: int, given: int = 0) -> Independence:
        """Test whether x and y, two different variables outside the set `given`, are independent given it."""
        key = min(x, y), max(x, y), given
        if key not in self._verdicts:
            self._verdicts[key] = self._test(*key)
        return self._verdicts[key]

    def rows_per_cell(self, x: int, y: int, given: int = 0) -> float:
        """Return the average number of rows for each combination of states, those that do not occur included."""
        return self._table.rows / prod(self._table.arities[k] for k in bits(given | 1 << x | 1 << y))

    def _test(self, x: int, y: int, given: int) -> Independence:
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
        return Independence(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def _spare(configurations: Codes, size: int) -> Codes:
    """Return, for each configuration of the conditioning set, the states seen with it, less one; 0 if none."""
    return np.maximum(np.bincount(configurations, minlength=size) - 1, 0)


@dataclass(frozen=True)
class MMHC(Scored):
    """MMPC's skeleton, then hill climbing inside it (Tsamardinos, Brown and Aliferis 2006, algorithms 1 to 3).

    The climb has no tabu list, which theirs has.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level of the G² tests."""
    max_condition: Annotated[int, Field(ge=0)] = 3
    """The largest set of variables to condition on."""
    rows_per_cell: Annotated[float, Field(ge=0)] = 5.0
    """Average rows per cell of a table below which no test is made."""
    score: ScoreName = "bdeu"
    max_parents: Annotated[int, Field(ge=1)] | None = None

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("mmhc")

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed."""
        table = Observations(data, arities)
        candidates = skeleton(table, self.alpha, self.max_condition, self.rows_per_cell)
        empty = (0,) * len(arities)
        return Pattern.of(climb(self.score_of(table), empty, candidates=candidates, max_parents=self.max_parents))


def skeleton(table: Observations, alpha: float, max_condition: int, rows_per_cell: float) -> tuple[int, ...]:
    """Return MMPC's skeleton: entry v holds the nodes u such that each of u and v was selected for the other."""
    finder = MMPC(GSquare(table), alpha, max_condition, rows_per_cell)
    neighbours = [finder.around(target, table.variables) for target in range(table.variables)]
    return tuple(
        mask_of(u for u in range(table.variables) if neighbours[v] >> u & 1 and neighbours[u] >> v & 1)
        for v in range(table.variables)
    )


Association = tuple[float, float]
"""(−p, G²): the larger the tuple, the stronger. G² decides where p is too small for a float."""


@dataclass(frozen=True)
class MMPC:
    """Max-min parents and children: of the variables left, the one whose weakest association is strongest comes next.

    A variable that any set of those found makes independent of the target is out. A set is only tried where there
    are `rows_per_cell` rows for each cell of the table.
    """

    test: GSquare
    alpha: float
    max_condition: int
    rows_per_cell: float

    def around(self, target: int, variables: int) -> int:
        """Return the parents and children selected for a variable, before the symmetry correction."""
        selection: list[int] = []
        weakest: dict[int, Association] = {}
        for x in range(variables):
            association = None if x == target else self._association(x, target, ())
            if association is not None and self._dependent(association):
                weakest[x] = association
        while weakest:
            # The first of equals, in an order that is the caller's.
            new = max(weakest, key=lambda x: weakest[x])
            del weakest[new]
            for x in list(weakest):
                # Sets without the newcomer were tried before.
                for condition in _subsets(selection, self.max_condition - 1):
                    association = self._association(x, target, (*condition, new))
                    if association is None:
                        continue
                    if not self._dependent(association):
                        del weakest[x]
                        break
                    weakest[x] = min(weakest[x], association)
            selection.append(new)
        for x in list(selection):
            others = [y for y in selection if y != x]
            associations = (
                self._association(x, target, condition) for condition in _subsets(others, self.max_condition)
            )
            if any(association is not None and not self._dependent(association) for association in associations):
                selection.remove(x)
        return mask_of(selection)

    def _dependent(self, association: Association) -> bool:
        return -association[0] <= self.alpha

    def _association(self, x: int, y: int, condition_set: tuple[int, ...]) -> Association | None:
        """Return the association of x and y, None where the table is too sparse for a test.

        Without a test there is evidence of neither dependence nor independence.
        """
        mask = mask_of(condition_set)
        if self.test.rows_per_cell(x, y, mask) < self.rows_per_cell:
            return None
        result = self.test(x, y, mask)
        return -result.p, result.statistic


def _subsets(nodes: Sequence[int], largest: int) -> Iterator[tuple[int, ...]]:
    """Yield all subsets of at most `largest` nodes, small ones first."""
    for size in range(largest + 1):
        yield from combinations(nodes, size)
