"""The base of all algorithms: columns in a random order, counts of the data, and scores.

Files of networks list causes before their effects more often than not, many of them always. Wherever directions
score alike, an algorithm that takes the first of equals reads that order off: it would be right for a wrong reason
(Kitson and Constantinou 2024, "The impact of variable ordering on Bayesian network structure learning"). So each
algorithm sees the columns in an order drawn from the seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from functools import partial
from math import log, prod
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import chdtrc, gammaln

from harness.causal.dag import DAG, bits, relabel
from harness.causal.learned_graph import Pattern
from harness.codec import shuffled
from harness.types import JSON, Role

Learn = Callable[[NDArray[np.int64], tuple[int, ...]], Pattern]


@dataclass(frozen=True)
class Shuffled(ABC):
    """An algorithm that sees the columns in an order drawn from the seed."""

    name: str

    role: ClassVar[Role] = "algorithm"

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the graph over the columns of `data`, as `Algorithm.learn` has it."""
        return in_random_order(partial(self.search, seed=seed), data, arities, seed)

    @abstractmethod
    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the graph over columns that come in a random order."""


@dataclass(frozen=True)
class Scored(Shuffled):
    """An algorithm that looks for the graph with the best score."""

    score: ScoreName = "bic"
    equivalent_sample_size: Annotated[float, Field(gt=0)] = 10.0
    """α of BDeu; BIC has none."""
    gains: ClassVar[NDArray[np.float64] | None] = None
    """Entry (u, v): what the edge u → v adds to the score, data apart. No setting: `knowing` sets it of an instance."""

    takes_knowledge: ClassVar[bool] = True
    """Whether it uses `gains`, and keeps directions that data cannot tell: none that returns a class does."""

    def score_of(self, table: Observations) -> Score:
        return Score(table, self.score, self.equivalent_sample_size, self.gains)

    def knowing(self, gains: NDArray[np.float64]) -> Self:
        """Return the algorithm with an amount that each edge adds to the score, in the order of the data's columns."""
        informed = copy(self)
        object.__setattr__(informed, "gains", gains)
        return informed

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        if self.gains is None:
            return super().learn(data, arities, seed=seed)
        order = column_order(len(arities), seed)
        informed = self.knowing(self.gains[np.ix_(order, order)])
        return in_random_order(partial(informed.search, seed=seed), data, arities, seed)

    def identity_as(self, kind: str) -> dict[str, JSON]:
        """Return an identity of all settings; BIC has no equivalent sample size."""
        left_out = {"name"} | ({"equivalent_sample_size"} if self.score == "bic" else set())
        settings = {name: value for name, value in asdict(self).items() if name not in left_out}
        return {"kind": kind, **settings}


def in_random_order(learn: Learn, data: NDArray[np.int64], arities: Sequence[int], seed: int) -> Pattern:
    """Apply `learn` to the columns in a random order and return its pattern in the order of `data`.

    Raises ValueError where `data` is not rows × variables, has no rows, or holds a code that is not a state.
    """
    _check(data, arities)
    order = column_order(len(arities), seed)
    pattern = learn(data[:, order], tuple(arities[k] for k in order))
    back = tuple(order)
    return Pattern(relabel(pattern.directed, back), relabel(pattern.undirected, back))


def column_order(n: int, seed: int) -> list[int]:
    return list(shuffled(range(n), "columns", seed))


def _check(data: NDArray[np.int64], arities: Sequence[int]) -> None:
    if data.ndim != 2 or data.shape[1] != len(arities) or not data.shape[0]:
        raise ValueError(f"data of shape {data.shape} for {len(arities)} variables")
    if not np.issubdtype(data.dtype, np.integer):
        raise ValueError(f"data of type {data.dtype}: states are coded by integers")
    wrong = np.flatnonzero((data.min(axis=0) < 0) | (data.max(axis=0) >= np.array(arities, dtype=np.int64)))
    if wrong.size:
        raise ValueError(f"column {wrong[0]} holds a code outside 0 … {arities[wrong[0]] - 1}")


Codes = NDArray[np.int64]


class Observations:
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


ScoreName = Literal["bic", "bdeu"]


class Score:
    """The local scores of the nodes of one table, each computed once.

    A node's number of states r and its number q of parent configurations come from the arities: states and
    configurations that never occur count. Both scores are equal for Markov equivalent DAGs, the gains of edges apart.
    """

    def __init__(
        self,
        table: Observations,
        score: ScoreName,
        equivalent_sample_size: float,
        gains: NDArray[np.float64] | None = None,
    ) -> None:
        self._table = table
        self._gains = gains
        self._local = {"bic": self._bic, "bdeu": self._bdeu}[score]
        self._sample_size = equivalent_sample_size
        self._n_log_n = n_log_n(table.rows)
        self._scores: dict[tuple[int, int], float] = {}

    def __call__(self, node: int, parents: int) -> float:
        key = node, parents
        if key not in self._scores:
            known = 0.0 if self._gains is None else float(self._gains[list(bits(parents)), node].sum())
            self._scores[key] = self._local(node, parents) + known
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


Values = NDArray[np.float64]


def mutual_information(table: Observations) -> tuple[Values, Values]:
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


def dependent(table: Observations, information: Values, alpha: float) -> NDArray[np.bool_]:
    """Return the pairs that a G² test finds dependent at the level `alpha`: G² is 2 N times the mutual information."""
    states = np.array(table.arities) - 1
    pairs: NDArray[np.bool_] = chdtrc(np.maximum(np.outer(states, states), 1), 2 * table.rows * information) < alpha
    np.fill_diagonal(pairs, False)
    return pairs
