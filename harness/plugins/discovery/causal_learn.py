"""PC, FCI, BOSS, GES and GRaSP of the optional library causal-learn (https://github.com/py-why/causal-learn).

It is imported when one of them runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module, metadata
from io import StringIO
from itertools import count
from random import Random
from types import ModuleType
from typing import Annotated, Any, ClassVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.cpdag import cpdag, nearest_dag
from harness.causal.dag import bits, children, mask_of
from harness.causal.learned_graph import Pattern
from harness.codec import shuffled
from harness.errors import ConfigError
from harness.plugins.discovery.algorithm import Observations, Score, Scored, Shuffled
from harness.runtime.environment import installing
from harness.types import JSON

_TAIL, _ARROW, _NONE = -1, 1, 0


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

    A tail is -1, an arrowhead 1, a circle 2, no edge 0. What is not a tail and an arrowhead is an undirected edge.
    """
    nodes = range(len(marks))
    directed = [mask_of(u for u in nodes if (marks[u][v], marks[v][u]) == (_TAIL, _ARROW)) for v in nodes]
    joined = [mask_of(u for u in nodes if marks[u][v] and marks[v][u]) for v in nodes]
    below = children(tuple(directed))
    undirected = [either & ~above & ~under for either, above, under in zip(joined, directed, below, strict=True)]
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
class FCI(Shuffled):
    """FCI, which allows for hidden common causes (Spirtes, Glymour and Scheines 2000; Zhang 2008), with G² tests.

    Its graph says less than a pattern, and is read so that it claims no more: i → j is directed, i ↔ j, where neither
    causes the other, is no edge, and what has a circle (i o→ j, i o-o j) is an edge whose direction is not known.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    max_condition: Annotated[int, Field(ge=0)] | None = None
    """The largest set of variables to condition on in the first search for separating sets."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {
            "kind": "fci",
            "test": "gsq",
            "alpha": self.alpha,
            "max_condition": self.max_condition,
            "causal-learn": version(),
        }

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the edges of the partial ancestral graph that was learned, as far as they say that one causes."""
        fci = library("search.ConstraintBased.FCI").fci
        depth = -1 if self.max_condition is None else self.max_condition
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            graph, _ = fci(data, "gsq", self.alpha, depth=depth, verbose=False, show_progress=False)
        marks = graph.graph.tolist()
        return pattern_of(
            [
                [_NONE if (here, marks[j][i]) == (_ARROW, _ARROW) else here for j, here in enumerate(row)]
                for i, row in enumerate(marks)
            ],
        )


@dataclass(frozen=True)
class BOSS(Scored):
    """Best order score search (Andrews et al. 2023): the order of the variables whose best parent sets score most.

    Without the backward search that ends the paper's algorithm, as in the library. The library's own scores are not
    used: its BIC takes the codes of states for measurements, its BDeu takes minutes and its arities from the data.
    """

    takes_knowledge: ClassVar[bool] = False

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("boss") | {"causal-learn": version()}

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned."""
        tree = library("search.PermutationBased.gst").GST
        move = library("search.PermutationBased.BOSS").better_mutation
        score = TreeScore(data, self.score_of(Observations(data, arities)))
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
        return cpdag(tuple(mask_of(above) for above in parents))


@dataclass(frozen=True)
class TreeScore:
    """Our scores under the interface of the library's trees."""

    data: NDArray[np.int64]
    table_score: Score

    def score(self, node: int, parents: Sequence[int]) -> float:
        return self.table_score(node, mask_of(parents))

    score_nocache = score


@dataclass(frozen=True)
class GES(Scored):
    """Greedy equivalence search (Chickering 2002): over classes, first edges that gain most, then those to delete.

    With our scores, as of BOSS, and two of the library's steps done by ours, which return the same in a fraction of the
    time: whether paths are blocked, and the completed pattern after each change.
    """

    takes_knowledge: ClassVar[bool] = False

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("ges") | {"causal-learn": version()}

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned."""
        module = library("search.ScoreBased.GES")
        score = self.score_of(Observations(data, arities))

        def local_score(_: object, node: int, parents: Sequence[int], parameters: object = None) -> float:
            return score(node, mask_of(int(u) for u in parents))

        ours: dict[str, Any] = {"insert_vc2_fast": blocked, "pdag2dag": lambda graph: graph, "dag2cpdag": completed}
        with patch.multiple(module, local_score_BDeu=local_score, **ours), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pattern_of(module.ges(data, "local_score_BDeu")["G"].graph.tolist())


def completed(graph: Any) -> Any:
    """Return a causal-learn graph made the completed pattern of its class, as the library's functions do in minutes."""
    whole = cpdag(nearest_dag(pattern_of(graph.graph.tolist())))
    graph.graph[:] = _NONE
    for v, (above, beside) in enumerate(zip(whole.directed, whole.undirected, strict=True)):
        graph.graph[list(bits(above)), v], graph.graph[v, list(bits(above))] = _TAIL, _ARROW
        graph.graph[list(bits(beside)), v] = _TAIL
    return graph


def blocked(first: int, last: int, given: set[int], below: Mapping[int, set[int]]) -> int:
    """Return 1 if every path from `first` to `last` along `below` has a node of `given`, else 0.

    The library's own test follows each path, of which there are exponentially many: minutes, of 56 variables.
    """
    reached, rest = {first}, [first]
    while rest:
        around = below[rest.pop()] - reached
        if last in around:
            return 0
        around -= given
        reached |= around
        rest += around
    return 1


@dataclass(frozen=True)
class GRaSP(Scored):
    """Greedy relaxation of the sparsest permutation (Lam, Andrews and Ramsey 2022), with our scores, as of BOSS."""

    depth: Annotated[int, Field(ge=1)] = 3
    """How many tucks that gain nothing may precede one that gains."""

    takes_knowledge: ClassVar[bool] = False

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("grasp") | {"causal-learn": version()}

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned."""
        module, tree = library("search.PermutationBased.GRaSP"), library("search.PermutationBased.gst").GST
        score = TreeScore(data, self.score_of(Observations(data, arities)))
        trees = [tree(v, score) for v in range(len(arities))]
        with patch.object(module, "random", Random(seed)):
            order = module.Order(len(arities), score)
            for place in range(len(arities)):
                v = order.get(place)
                order.set_local_score(v, trees[v].trace([order.get(k) for k in range(place)], order.get_parents(v)))
                order.bump_edges(len(order.get_parents(v)))
            while module.dfs(self.depth - 1, set(), [], order, trees):
                pass
        return cpdag(tuple(mask_of(order.get_parents(v)) for v in range(len(arities))))
