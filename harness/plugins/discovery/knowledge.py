"""Knowledge and data together: a model's answers about a network as a prior of the graph that is learned from data.

The prior takes edges for independent, an edge that the model names for one of probability 0.9, one that it denies for
one of 0.1: a graph's score is its log posterior, up to a constant, and each edge adds ± ln 9, times the weight
(Castelo and Siebes 2000, "Priors on network structures"). A pair without a readable answer adds nothing. With a large
weight named edges are required and denied ones forbidden.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from harness.causal.learned_graph import Algorithm
from harness.errors import ConfigError
from harness.plugins.discovery.graph_scores import answer_matrices
from harness.scoring.graphs import NO, YES
from harness.storage.runs import load
from harness.types import JSON, Role

LOG_ODDS = log(9)


@runtime_checkable
class Knowing(Algorithm, Protocol):
    """An algorithm that can take an amount for each edge into its score."""

    takes_knowledge: ClassVar[bool]

    def knowing(self, gains: NDArray[np.float64]) -> Algorithm: ...


@dataclass(frozen=True)
class Informed:
    """An algorithm that knows a model's answers about each network."""

    algorithm: Knowing
    model: str
    weight: float
    gains: Mapping[str, NDArray[np.float64]]
    """By network: what each edge adds to the score."""

    @property
    def name(self) -> str:
        return f"{self.algorithm.name}+{self.model}{'' if self.weight == 1 else f'({self.weight:g})'}"

    @property
    def role(self) -> Role:
        return self.algorithm.role

    @property
    def identity(self) -> Mapping[str, JSON]:
        answers = {name: hashlib.sha256(gains.tobytes()).hexdigest() for name, gains in sorted(self.gains.items())}
        return {**self.algorithm.identity, "prior": {"model": self.model, "weight": self.weight, "gains": {**answers}}}

    def of(self, network: str) -> Algorithm:
        """Return the algorithm with what is known of a network."""
        return self.algorithm.knowing(self.gains[network])


def informed(algorithm: Algorithm, prior: str, weight: float, networks: Iterable[str]) -> Informed:
    """Return the algorithm with the answers of a run as its prior. Raises ConfigError where they do not fit."""
    if not isinstance(algorithm, Knowing) or not algorithm.takes_knowledge:
        raise ConfigError(
            f"prior= is added to the score of each edge, which algorithm={algorithm.name} does not take (no "
            "score, one of its own, or a class as its result): choose hc, hc_bdeu, mmhc, genetic or ensemble."
        )
    run = load(Path(prior))
    gains = {
        network: weight * LOG_ODDS * ((cells == YES).astype(np.float64) - (cells == NO))
        for network, cells in answer_matrices(run)
    }
    if without := [network for network in networks if network not in gains]:
        raise ConfigError(
            f"prior={prior} has no answers to direct causes in {', '.join(without)}: a run of "
            f"task=causalbench/causality task.method=2 with these networks has."
        )
    return Informed(algorithm, run.model, weight, {network: gains[network] for network in networks})
