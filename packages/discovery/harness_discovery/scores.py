"""BIC and BDeu of discrete data, which the searches of the libraries maximize.

The libraries' own are not used: causal-learn's BIC takes the codes of states for measurements, and pgmpy's counts only
the states that occur in the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from harness.causal.dag import bits

Codes = NDArray[np.int64]
ScoreName = Literal["bic", "bdeu"]


class Observations:
    """A table of discrete data, ready to be counted.

    `data` is rows × variables, cells are codes 0 … arity − 1.
    """

    def __init__(self, data: NDArray[np.int64], arities: Sequence[int]) -> None:
        self.rows: int = data.shape[0]
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

    def counts(self, codes: Codes, size: int) -> Codes:
        """Return how often each code that occurs does, of codes 0 … size − 1."""
        if size > 4 * self._dense:
            return np.unique(codes, return_counts=True)[1]
        counts = np.bincount(codes, minlength=size)
        return counts[counts > 0]


class Score:
    """The local scores of the nodes of one table, each computed once.

    A node's number of states r and its number q of parent configurations come from the arities: states and
    configurations that never occur count. Both scores are equal for Markov equivalent DAGs.
    """

    def __init__(self, table: Observations, score: ScoreName, equivalent_sample_size: float) -> None:
        self._table = table
        self._local = {"bic": self._bic, "bdeu": self._bdeu}[score]
        self._sample_size = equivalent_sample_size
        n = np.arange(table.rows + 1, dtype=np.float64)
        self._n_log_n = n * np.log(np.maximum(n, 1))
        self._scores: dict[tuple[int, int], float] = {}

    def __call__(self, node: int, parents: int) -> float:
        key = node, parents
        if key not in self._scores:
            self._scores[key] = self._local(node, parents)
        return self._scores[key]

    def _bic(self, node: int, parents: int) -> float:
        """Return ln L − ½ k ln N with k = (r − 1) q (Schwarz 1978)."""
        of_parents, of_family = self._counted(node, parents)
        likelihood = float(self._n_log_n[of_family].sum() - self._n_log_n[of_parents].sum())
        free = (self._table.arities[node] - 1) * self._parent_configurations(parents)
        return likelihood - free * log(self._table.rows) / 2

    def _bdeu(self, node: int, parents: int) -> float:
        """Return the log marginal likelihood under Dirichlet priors of α/(r q) a cell, α the equivalent sample size.

        Buntine (1991); Heckerman, Geiger and Chickering (1995). Cells and configurations without a row
        add nothing, so only the others are visited.
        """
        of_parents, of_family = self._counted(node, parents)
        prior = self._sample_size / self._parent_configurations(parents)
        cell = prior / self._table.arities[node]
        family = gammaln(of_family + cell).sum() - len(of_family) * gammaln(cell)
        return float(family - gammaln(of_parents + prior).sum() + len(of_parents) * gammaln(prior))

    def _counted(self, node: int, parents: int) -> tuple[Codes, Codes]:
        """Return the counts of the parents' configurations, and those of configurations with a state of the node."""
        table = self._table
        codes, size = table.configurations(bits(parents))
        arity = table.arities[node]
        return table.counts(codes, size), table.counts(codes * arity + table.columns[node], size * arity)

    def _parent_configurations(self, parents: int) -> int:
        return prod(self._table.arities[k] for k in bits(parents))
