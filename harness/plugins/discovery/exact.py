"""The network that scores most of all: dynamic programming over sets of variables, for as many as fit in memory.

Both scores are differences of a number that belongs to a set of variables. With g(S) = Σ n ln n over the cells of the
table of S (BIC), or Σ ln Γ(α/|S| + n) − ln Γ(α/|S|), where |S| is the number of combinations of states (BDeu), the
local score of v with parents P is g(P ∪ v) − g(P), for BIC less its penalty. So 2ⁿ tables are counted, not n 2ⁿ⁻¹.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from harness.causal.dag import DAG
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.plugins.discovery.algorithm import Codes, Observations, Score, Scored, ScoreName, n_log_n
from harness.runtime.under_way import STEPS
from harness.types import JSON

Values = NDArray[np.float64]
_REPORT_EVERY = 4096


class SubsetScores:
    """The local scores of all families of one table; of BIC, −∞ for those that cannot be part of a best network.

    With BIC a family is left out where its score is no more than that of its node without parents even if its
    likelihood were that with all other variables as parents: so are all larger ones then, as the penalty grows.
    """

    def __init__(self, table: Observations, score: ScoreName, equivalent_sample_size: float) -> None:
        n = table.variables
        self._table, self._bic = table, score == "bic"
        self._sample_size = equivalent_sample_size
        self._n_log_n = n_log_n(table.rows)
        self._log_gamma = lru_cache(maxsize=128)(self._log_gammas)
        self._combinations = np.ones(1 << n)
        """By set: |S|, a float, which is exact below 2⁵³; a set with more is left out."""
        for v, arity in enumerate(table.arities):
            self._combinations[1 << v : 2 << v] = self._combinations[: 1 << v] * arity
        self._of_set: Values = np.full(1 << n, -np.inf)
        single = Score(table, score, equivalent_sample_size)
        self._limit = max((self._useful(single, v) for v in range(n)), default=0.0)
        self._done = self._reported = 0
        codes, _ = table.configurations(())
        self._of_set[0] = self._value(np.array([table.rows]), 0)
        self._visit(0, codes, 1, 0)
        STEPS.end()

    def local(self, node: int) -> Values:
        """Return the node's local scores, by set of parents; of a set of parents the node's own bit is left out."""
        pairs = self._of_set.reshape(-1, 2, 1 << node)
        without, family = pairs[:, 0].ravel(), pairs[:, 1].ravel()
        scored = family > -np.inf
        scores: Values = np.full(len(family), -np.inf)
        scores[scored] = family[scored] - without[scored]
        if self._bic:
            configurations = self._combinations.reshape(-1, 2, 1 << node)[:, 0].ravel()
            scores -= (self._table.arities[node] - 1) * log(self._table.rows) / 2 * configurations
        return scores

    def _useful(self, single: Score, node: int) -> float:
        """Return with how many combinations of states a set is no family of the node any more, nor its parents."""
        arity, alone = self._table.arities[node], single(node, 0)
        if not self._bic:
            return np.inf
        if arity == 1:
            return 0.0
        others = [v for v in range(self._table.variables) if v != node]
        codes, size = self._table.configurations(others)
        _, of_others = self._table.tally(codes, size)
        _, of_all = self._table.tally(*self._table.plus(codes, size, node))
        most = float(self._n_log_n[of_all].sum() - self._n_log_n[of_others].sum())
        return (most - alone) / ((arity - 1) * log(self._table.rows) / 2) * arity if most > alone else 0.0

    def _visit(self, subset: int, codes: Codes, size: int, first: int) -> None:
        """Enter the values of the sets of this one, whose codes are 0 … size − 1, and variables from `first` on."""
        for v in range(first, self._table.variables):
            larger = subset | 1 << v
            self._tell(1)
            # Single variables stay: their scores without parents are what the bound compares with.
            if subset and self._combinations[larger] >= self._limit:
                self._tell((1 << self._table.variables - v - 1) - 1)
                continue
            refined, most = self._table.plus(codes, size, v)
            present, counts = self._table.tally(refined, most)
            self._of_set[larger] = self._value(counts, larger)
            renumbered = np.empty(most, dtype=np.int64)
            renumbered[present] = np.arange(len(present))
            self._visit(larger, renumbered[refined], len(present), v + 1)

    def _value(self, counts: Codes, subset: int) -> float:
        if self._bic:
            return float(self._n_log_n[counts].sum())
        return float(self._log_gamma(self._combinations[subset])[counts].sum())

    def _log_gammas(self, combinations: float) -> Values:
        """Return ln Γ(α/|S| + n) − ln Γ(α/|S|) for n = 0 … rows."""
        prior = self._sample_size / combinations
        values: Values = gammaln(prior + np.arange(self._table.rows + 1)) - gammaln(prior)
        return values

    def _tell(self, sets: int) -> None:
        self._done += sets
        if self._done - self._reported >= _REPORT_EVERY:
            self._reported = self._done
            STEPS.tell(self._done, 1 << self._table.variables, "sets of variables scored")


def squeezed(subset: NDArray[np.int64] | int, node: int) -> NDArray[np.int64] | int:
    """Return sets without the node as `SubsetScores.local` numbers them: the node's bit taken out."""
    low = (1 << node) - 1
    return (subset & low) | (subset >> 1 & ~low)


def spread(subset: int, node: int) -> int:
    """Return the set that such a number stands for."""
    low = (1 << node) - 1
    return (subset & low) | (subset & ~low) << 1


MOST_VARIABLES = 20
"""Each one more doubles time and memory: 20 take up to about 200 MB, whatever the number of rows."""
_TIE = 1e-7


@dataclass(frozen=True)
class Exact(Scored):
    """A DAG that no other outscores (Silander and Myllymäki 2006; Koivisto and Sood 2004): the ceiling of any search.

    Of sets of parents that score alike it takes a smallest, of DAGs that do the first, in an order of the variables
    drawn from the seed.
    """

    takes_knowledge: ClassVar[bool] = False

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("exact")

    @property
    def most_variables(self) -> int:
        return MOST_VARIABLES

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed. Raises ConfigError where there are too many columns."""
        if len(arities) > MOST_VARIABLES:
            raise ConfigError(
                f"exact search takes at most {MOST_VARIABLES} variables, and the data have {len(arities)}: "
                "use a search without that limit, such as hill climbing or BOSS."
            )
        return Pattern.of(best_network(Observations(data, arities), self.score, self.equivalent_sample_size))


def best_network(table: Observations, score: ScoreName, equivalent_sample_size: float) -> DAG:
    """Return a DAG with the greatest score.

    A best network of a set of variables has a sink in it: a best network of the others, and for the sink the best of
    their subsets as its parents.
    """
    n = table.variables
    scores = SubsetScores(table, score, equivalent_sample_size)
    best = [_best_of_subsets(scores.local(v), n - 1) for v in range(n)]
    of_set = _networks(best, n)
    # Take one sink after the other off, last first.
    parents, rest = [0] * n, (1 << n) - 1
    while rest:
        inside = [v for v in range(n) if rest >> v & 1]
        totals = [float(of_set[rest ^ 1 << v] + best[v][squeezed(rest ^ 1 << v, v)]) for v in inside]
        sink = next(v for v, total in zip(inside, totals, strict=True) if total >= max(totals) - _TIE)
        rest ^= 1 << sink
        parents[sink] = _smallest_best(scores.local(sink), rest, sink)
    return tuple(parents)


def _best_of_subsets(scores: Values, n: int) -> Values:
    """Return, for each set, the greatest score of its subsets; the array itself is changed."""
    for v in range(n):
        pairs = scores.reshape(-1, 2, 1 << v)
        np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
    return scores


def _networks(best: Sequence[Values], n: int) -> Values:
    """Return the score of a best network of each set of variables."""
    of_set: Values = np.full(1 << n, -np.inf)
    of_set[0] = 0.0
    for layer in _layers(n):
        for v in range(n):
            with_v = layer[layer >> v & 1 == 1]
            others = with_v ^ (1 << v)
            of_set[with_v] = np.maximum(of_set[with_v], of_set[others] + best[v][squeezed(others, v)])
    return of_set


def _layers(n: int) -> Iterator[NDArray[np.int64]]:
    sizes = np.bitwise_count(np.arange(1 << n))
    for size in range(1, n + 1):
        yield np.flatnonzero(sizes == size)


def _smallest_best(scores: Values, candidates: int, node: int) -> int:
    """Return a smallest of the subsets of the candidates that score most as parents of the node."""
    subsets = np.flatnonzero(np.arange(len(scores)) & ~squeezed(candidates, node) == 0)
    ties = subsets[scores[subsets] >= scores[subsets].max() - _TIE]
    return spread(int(ties[np.argmin(np.bitwise_count(ties))]), node)
