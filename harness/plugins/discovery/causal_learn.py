"""PC and BOSS of the optional library causal-learn (https://github.com/py-why/causal-learn), imported when one runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from itertools import count
from types import ModuleType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import mask_of
from harness.causal.learned_graph import Pattern
from harness.codec import shuffled
from harness.errors import ConfigError
from harness.plugins.discovery.algorithm import Observations, Score, Scored, Shuffled
from harness.runtime.environment import installing
from harness.types import JSON

_TAIL, _ARROW = -1, 1


def _missing() -> ConfigError:
    return ConfigError(f"this algorithm needs causal-learn, which is not installed: {installing('discovery')}.")


def library(module: str) -> ModuleType:
    """Import a module of causal-learn, such as "search.ConstraintBased.PC". Raises ConfigError if not installed."""
    try:
        return import_module(f"causallearn.{module}")
    except ImportError as error:
        raise _missing() from error


def version() -> str:
    """Return the version of causal-learn. Raises ConfigError if not installed."""
    try:
        return metadata.version("causal-learn")
    except metadata.PackageNotFoundError:
        raise _missing() from None


def pattern_of(marks: Any) -> Pattern:
    """Return the pattern of a causal-learn graph: entry (i, j) is the mark at i's end of the edge between i and j.

    A tail is -1, an arrowhead 1, no edge 0. Tails at both ends and arrowheads at both ends are undirected edges.
    """
    nodes = range(len(marks))
    directed = [mask_of(u for u in nodes if (marks[u][v], marks[v][u]) == (_TAIL, _ARROW)) for v in nodes]
    undirected = [mask_of(u for u in nodes if marks[u][v] == marks[v][u] != 0) for v in nodes]
    return Pattern(tuple(directed), tuple(undirected))


@dataclass(frozen=True)
class PC(Shuffled):
    """PC with a stable skeleton (Spirtes, Glymour and Scheines 2000; Colombo and Maathuis 2014) and G² tests.

    Degrees of freedom are adjusted as in `mmhc.GSquare`, and tables may be sparse: every test is made. Of
    two colliders that disagree the first stands, in an order of the variables drawn from the seed; the skeleton
    depends on no order.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level of the tests."""
    max_condition: Annotated[int, Field(ge=0)] | None = None
    """The largest set of variables to condition on."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {
            "kind": "pc",
            "test": "gsq",
            "stable": True,
            "colliders": "first",
            "alpha": self.alpha,
            "max_condition": self.max_condition,
            "causal-learn": version(),
        }

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned. With many conflicts it may contain no DAG."""
        pc = library("search.ConstraintBased.PC").pc
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "more features than samples": so they are
            result = pc(
                data, alpha=self.alpha, indep_test="gsq", stable=True, uc_rule=0, uc_priority=2,
                max_k=self.max_condition, verbose=False, show_progress=False,
            )  # fmt: skip
        return pattern_of(result.G.graph.tolist())


@dataclass(frozen=True)
class BOSS(Scored):
    """Best order score search (Andrews et al. 2023): the order of the variables whose best parent sets score most.

    Without the backward search that ends the paper's algorithm, as in the library. The library's own scores are not
    used: its BIC takes the codes of states for measurements, its BDeu takes minutes and its arities from the data.
    """

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("boss") | {"causal-learn": version()}

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned."""
        tree = library("search.PermutationBased.gst").GST
        move = library("search.PermutationBased.BOSS").better_mutation
        score = _Score(data, self.score_of(Observations(data, arities)))
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
