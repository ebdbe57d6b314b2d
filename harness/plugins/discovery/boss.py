"""The BOSS algorithm, by causal-learn's grow-shrink trees and best moves, with the scores of this project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import mask_of
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.counting import Table
from harness.plugins.discovery.library import library, pattern_of, version
from harness.plugins.discovery.ordering import in_random_order
from harness.plugins.discovery.scores import Score, ScoreName, settings_of
from harness.seeding import shuffled
from harness.types import JSON, Role


@dataclass(frozen=True)
class BOSS:
    """Best order score search (Andrews et al. 2023): the order of the variables whose best parent sets score most.

    Without the backward search that ends the paper's algorithm, as in the library. The library's own scores are not
    used: its BIC takes the codes of states for measurements, its BDeu takes minutes and its arities from the data.
    """

    name: str
    score: ScoreName = "bic"
    equivalent_sample_size: Annotated[float, Field(gt=0)] = 10.0
    """α of BDeu; BIC has none."""

    role: ClassVar[Role] = "algorithm"

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the graphs depend on."""
        return {"kind": "boss", "causal-learn": version()} | settings_of(self.score, self.equivalent_sample_size)

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned."""
        tree = library("search.PermutationBased.gst").GST
        move = library("search.PermutationBased.BOSS").better_mutation

        def search(data: NDArray[np.int64], arities: tuple[int, ...]) -> Pattern:
            score = _Score(data, Score(Table(data, arities), self.score, self.equivalent_sample_size))
            order = list(range(len(arities)))
            trees = [tree(v, score) for v in order]
            for sweep in count():
                # All of them, not only up to the first that improves the order.
                improvements = [move(v, order, trees) for v in shuffled(range(len(arities)), "boss", seed, sweep)]
                if not any(improvements):
                    break
            parents: list[list[int]] = [[] for _ in order]
            for place, v in enumerate(order):
                trees[v].trace(order[:place], parents[v])
            return _class_of(parents)

        return in_random_order(search, data, arities, seed)


@dataclass(frozen=True)
class _Score:
    """Our scores under the interface of the library's trees."""

    data: NDArray[np.int64]
    score: Score

    def score_nocache(self, node: int, parents: Sequence[int]) -> float:
        return self.score(node, mask_of(parents))


def _class_of(parents: Sequence[Sequence[int]]) -> Pattern:
    """Return the pattern of the Markov equivalence class of a DAG."""
    node = library("graph.GraphNode").GraphNode
    nodes = [node(str(v)) for v in range(len(parents))]
    graph = library("graph.GeneralGraph").GeneralGraph(nodes)
    for v, above in enumerate(parents):
        for u in above:
            graph.add_directed_edge(nodes[u], nodes[v])
    return pattern_of(library("utils.DAG2CPDAG").dag2cpdag(graph).graph.tolist())
