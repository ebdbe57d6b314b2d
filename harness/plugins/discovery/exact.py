"""The network that scores most of all: dynamic programming over sets of variables, for as many as fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import DAG
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.plugins.discovery.counting import Table
from harness.plugins.discovery.ordering import in_random_order
from harness.plugins.discovery.scores import ScoreName, settings_of
from harness.plugins.discovery.subset_scores import SubsetScores, Values, spread, squeezed
from harness.types import JSON, Role

MOST_VARIABLES = 20
"""Each one more doubles time and memory: 20 take up to about 200 MB, whatever the number of rows."""
_TIE = 1e-7


@dataclass(frozen=True)
class Exact:
    """A DAG that no other outscores (Silander and Myllymäki 2006; Koivisto and Sood 2004): the ceiling of any search.

    Of sets of parents that score alike it takes a smallest, of DAGs that do the first, in an order of the variables
    drawn from the seed.
    """

    name: str
    score: ScoreName = "bic"
    equivalent_sample_size: Annotated[float, Field(gt=0)] = 10.0
    """α of BDeu; BIC has none."""

    role: ClassVar[Role] = "algorithm"

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the graphs depend on."""
        return {"kind": "exact"} | settings_of(self.score, self.equivalent_sample_size)

    @property
    def most_variables(self) -> int:
        """How many variables it takes."""
        return MOST_VARIABLES

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed. Raises ConfigError where there are too many columns."""
        if len(arities) > MOST_VARIABLES:
            raise ConfigError(
                f"exact search takes at most {MOST_VARIABLES} variables, and the data have {len(arities)}: "
                "use a search without that limit, such as hill climbing or BOSS."
            )

        def search(data: NDArray[np.int64], arities: tuple[int, ...]) -> Pattern:
            return Pattern.of(best_network(Table(data, arities), self.score, self.equivalent_sample_size))

        return in_random_order(search, data, arities, seed)


def best_network(table: Table, score: ScoreName, equivalent_sample_size: float) -> DAG:
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
    """Yield the sets of 1, 2, … n variables."""
    sizes = np.bitwise_count(np.arange(1 << n))
    for size in range(1, n + 1):
        yield np.flatnonzero(sizes == size)


def _smallest_best(scores: Values, candidates: int, node: int) -> int:
    """Return a smallest of the subsets of the candidates that score most as parents of the node."""
    subsets = np.flatnonzero(np.arange(len(scores)) & ~squeezed(candidates, node) == 0)
    ties = subsets[scores[subsets] >= scores[subsets].max() - _TIE]
    return spread(int(ties[np.argmin(np.bitwise_count(ties))]), node)
