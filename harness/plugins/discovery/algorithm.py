"""What algorithms have in common: their columns in an order that tells nothing, and a score.

Files of networks list causes before their effects more often than not, many of them always. Wherever directions
score alike, an algorithm that takes the first of equals reads that order off: it would be right for a wrong reason
(Kitson and Constantinou 2024, "The impact of variable ordering on Bayesian network structure learning"). So each
algorithm sees the columns in an order drawn from the seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import relabel
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.scores import Observations, Score, ScoreName
from harness.seeding import shuffled
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
        """Return the graph over columns whose order says nothing."""


@dataclass(frozen=True)
class Scored(Shuffled):
    """An algorithm that looks for the graph with the best score."""

    score: ScoreName = "bic"
    equivalent_sample_size: Annotated[float, Field(gt=0)] = 10.0
    """α of BDeu; BIC has none."""

    def score_of(self, table: Observations) -> Score:
        return Score(table, self.score, self.equivalent_sample_size)

    @property
    def score_json(self) -> dict[str, JSON]:
        """What the identity says of the score."""
        sizes: dict[str, JSON] = {"equivalent_sample_size": self.equivalent_sample_size}
        return {"score": self.score} | (sizes if self.score == "bdeu" else {})


def in_random_order(learn: Learn, data: NDArray[np.int64], arities: Sequence[int], seed: int) -> Pattern:
    """Apply `learn` to the columns in a random order and return its pattern in the order of `data`.

    Raises ValueError where `data` is not rows × variables, has no rows, or holds a code that is not a state.
    """
    _check(data, arities)
    order = shuffled(range(len(arities)), "columns", seed)
    pattern = learn(data[:, order], tuple(arities[k] for k in order))
    back = tuple(order)
    return Pattern(relabel(pattern.directed, back), relabel(pattern.undirected, back))


def _check(data: NDArray[np.int64], arities: Sequence[int]) -> None:
    if data.ndim != 2 or data.shape[1] != len(arities) or not data.shape[0]:
        raise ValueError(f"data of shape {data.shape} for {len(arities)} variables")
    if not np.issubdtype(data.dtype, np.integer):
        raise ValueError(f"data of type {data.dtype}: states are coded by integers")
    wrong = np.flatnonzero((data.min(axis=0) < 0) | (data.max(axis=0) >= np.array(arities, dtype=np.int64)))
    if wrong.size:
        raise ValueError(f"column {wrong[0]} holds a code outside 0 … {arities[wrong[0]] - 1}")
