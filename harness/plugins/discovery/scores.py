"""Decomposable scores of a DAG over discrete data: BIC and BDeu. Higher is better; natural logarithms."""

from __future__ import annotations

from math import log, prod
from typing import Literal

from scipy.special import gammaln

from harness.causal.dag import DAG, bits
from harness.plugins.discovery.counting import Table, n_log_n
from harness.types import JSON

ScoreName = Literal["bic", "bdeu"]


class Score:
    """The local scores of the nodes of one table, each computed once.

    A node's number of states r and its number q of parent configurations come from the arities: states and
    configurations that never occur count. Both scores are equal for Markov equivalent DAGs.
    """

    def __init__(self, table: Table, score: ScoreName, equivalent_sample_size: float) -> None:
        self._table = table
        self._local = {"bic": self._bic, "bdeu": self._bdeu}[score]
        self._sample_size = equivalent_sample_size
        self._n_log_n = n_log_n(table.rows)
        self._scores: dict[tuple[int, int], float] = {}

    def __call__(self, node: int, parents: int) -> float:
        """Return the local score of a node with a set of parents."""
        key = node, parents
        if key not in self._scores:
            self._scores[key] = self._local(node, parents)
        return self._scores[key]

    def total(self, dag: DAG) -> float:
        """Return the score of a graph: the sum over its nodes."""
        return sum(self(node, parents) for node, parents in enumerate(dag))

    def _bic(self, node: int, parents: int) -> float:
        """Return ln L − ½ k ln N with k = (r − 1) q (Schwarz 1978)."""
        table = self._table
        codes, size = table.configurations(bits(parents))
        _, of_parents = table.tally(codes, size)
        _, of_family = table.tally(*table.plus(codes, size, node))
        likelihood = float(self._n_log_n[of_family].sum() - self._n_log_n[of_parents].sum())
        return likelihood - (table.arities[node] - 1) * self._parent_configurations(parents) * log(table.rows) / 2

    def _bdeu(self, node: int, parents: int) -> float:
        """Return the log marginal likelihood under Dirichlet priors of α/(r q) a cell, α the equivalent sample size.

        Buntine (1991); Heckerman, Geiger and Chickering (1995). Cells and configurations without a row
        add nothing, so only the others are visited.
        """
        table = self._table
        codes, size = table.configurations(bits(parents))
        _, of_parents = table.tally(codes, size)
        _, of_family = table.tally(*table.plus(codes, size, node))
        prior = self._sample_size / self._parent_configurations(parents)
        cell = prior / table.arities[node]
        family = gammaln(of_family + cell).sum() - len(of_family) * gammaln(cell)
        return float(family - gammaln(of_parents + prior).sum() + len(of_parents) * gammaln(prior))

    def _parent_configurations(self, parents: int) -> int:
        return prod(self._table.arities[k] for k in bits(parents))


def settings_of(score: ScoreName, equivalent_sample_size: float) -> dict[str, JSON]:
    """Return what an algorithm's identity says of its score: BIC has no equivalent sample size."""
    return {"score": score} | ({"equivalent_sample_size": equivalent_sample_size} if score == "bdeu" else {})
