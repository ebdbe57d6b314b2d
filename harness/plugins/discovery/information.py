"""The mutual information of each pair of variables: which edges are worth a try."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from harness.plugins.discovery.counting import Table, n_log_n

Values = NDArray[np.float64]


def mutual_information(table: Table) -> tuple[Values, Values]:
    """Return (mutual information in nats, the same normalized), variables × variables, 0 on the diagonals.

    Normalized it is 2 I(x; y) / (H(x) + H(y)), between 0 and 1; 0 where both are constant.
    """
    n, of = table.variables, n_log_n(table.rows)
    single = [float(of[table.tally(*table.configurations([v]))[1]].sum()) for v in range(n)]
    entropies = (float(of[table.rows]) - np.array(single)) / table.rows
    information = np.zeros((n, n))
    for x in range(n):
        for y in range(x):
            pair = float(of[table.tally(*table.configurations([x, y]))[1]].sum())
            shared = (pair - single[x] - single[y] + float(of[table.rows])) / table.rows
            information[x, y] = information[y, x] = max(shared, 0.0)
    sums = entropies[:, None] + entropies[None, :]
    return information, np.divide(2 * information, sums, out=np.zeros((n, n)), where=sums > 0)


def dependent(table: Table, information: Values, alpha: float) -> NDArray[np.bool_]:
    """Return which pairs a G² test finds dependent at the level `alpha`: G² is 2 N times the mutual information."""
    states = np.array(table.arities) - 1
    found: NDArray[np.bool_] = chdtrc(np.maximum(np.outer(states, states), 1), 2 * table.rows * information) < alpha
    np.fill_diagonal(found, False)
    return found
