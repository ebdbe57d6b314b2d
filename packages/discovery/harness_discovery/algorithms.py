"""Discovery algorithms of causal-learn, pgmpy and pybnesian under one interface.

A library is imported when one of its algorithms runs. Files of networks list causes before their effects more often
than not, and where directions score alike, an algorithm that takes the first of equals reads that order off: it would
be right for a wrong reason (Kitson and Constantinou 2024, "The impact of variable ordering on Bayesian network
structure learning"). So each algorithm sees the columns in an order drawn from the seed.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from io import StringIO
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import bits, children, mask_of, relabel
from harness.causal.learned_graph import Pattern
from harness.codec import shuffled
from harness.errors import ConfigError
from harness.types import JSON, Role
from harness_discovery.patterns import cpdag, dag_in
from harness_discovery.scores import Observations, Score, ScoreName

Data = NDArray[np.int64]
_TAIL, _ARROW, _NONE = -1, 1, 0


@dataclass(frozen=True)
class OfLibrary(ABC):
    """An algorithm of a library; its fields are its settings."""

    name: str

    role: ClassVar[Role] = "algorithm"
    kind: ClassVar[str]
    library: ClassVar[str] = "causal-learn"
    """The distribution, whose version is part of the identity."""
    fixed: ClassVar[Mapping[str, JSON]] = {}
    """What is part of the identity beside the settings."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        settings = {name: value for name, value in asdict(self).items() if name != "name"}
        if settings.get("score") == "bic":
            del settings["equivalent_sample_size"]  # BIC has none
        return {"kind": self.kind, **self.fixed, **settings, self.library: _version(self.library)}

    def learn(self, data: Data, arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the graph over the columns of `data`, as `Algorithm.learn` has it."""
        order = tuple(shuffled(range(len(arities)), "columns", seed))
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")  # "more features than samples": so they are
            pattern = self.search(data[:, order], tuple(arities[k] for k in order), seed)
        return Pattern(relabel(pattern.directed, order), relabel(pattern.undirected, order))

    @abstractmethod
    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the graph over columns that come in a random order: a DAG, or the pattern of a class."""


@dataclass(frozen=True)
class Scored(OfLibrary):
    """A search for the graph with the best score, which is this package's (`scores`)."""

    score: ScoreName = "bic"
    equivalent_sample_size: Annotated[float, Field(gt=0)] = 10.0
    """α of BDeu; BIC has none."""

    def score_of(self, data: Data, arities: Sequence[int]) -> Score:
        return Score(Observations(data, arities), self.score, self.equivalent_sample_size)


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


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
class Tested(OfLibrary):
    """A search by tests of independence."""

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level of the tests."""
    max_condition: Annotated[int, Field(ge=0)] | None = None
    """The largest set of variables to condition on, of FCI in its first search for separating sets."""


@dataclass(frozen=True)
class PC(Tested):
    """PC with a stable skeleton (Spirtes, Glymour and Scheines 2000; Colombo and Maathuis 2014) and G² tests.

    Degrees of freedom do not count rows and columns of a table that are empty, and tables may be sparse: every test is
    made. Of two colliders that disagree the first stands, in an order of the variables drawn from the seed; the
    skeleton depends on no order.
    """

    kind = "pc"
    fixed = {"test": "gsq", "stable": True, "colliders": "first"}  # noqa: RUF012

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned. With many conflicts it may contain no DAG."""
        result = import_module("causallearn.search.ConstraintBased.PC").pc(
            data, alpha=self.alpha, indep_test="gsq", stable=True, uc_rule=0, uc_priority=2,
            max_k=self.max_condition, verbose=False, show_progress=False,
        )  # fmt: skip
        return pattern_of(result.G.graph.tolist())


@dataclass(frozen=True)
class FCI(Tested):
    """FCI, which allows for hidden common causes (Spirtes, Glymour and Scheines 2000; Zhang 2008), with G² tests.

    Its graph says less than a pattern, and is read so that it claims no more: i → j is directed, i ↔ j, where neither
    causes the other, is no edge, and what has a circle (i o→ j, i o-o j) is an edge whose direction is not known.
    """

    kind = "fci"
    fixed = {"test": "gsq"}  # noqa: RUF012

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the edges of the partial ancestral graph that was learned, as far as they say that one causes."""
        depth = -1 if self.max_condition is None else self.max_condition
        graph, _ = import_module("causallearn.search.ConstraintBased.FCI").fci(
            data, "gsq", self.alpha, depth=depth, verbose=False, show_progress=False
        )
        marks = np.array(graph.graph)
        marks[(marks == _ARROW) & (marks.T == _ARROW)] = _NONE
        return pattern_of(marks.tolist())


@dataclass(frozen=True)
class ByOurScore(Scored):
    """A search of causal-learn whose function is called as `ges` is."""

    place: ClassVar[str]
    """The module and function below causallearn.search."""

    def called(self, data: Data, arities: tuple[int, ...], **more: Any) -> Pattern:
        """Return the pattern of the class that the library's function returns, where it scores by our score.

        `more` are the function's other parameters, and names of its module that are to be another value.
        """
        path, _, function = self.place.rpartition(".")
        module, score = import_module(f"causallearn.search.{path}"), self.score_of(data, arities)

        def local_score(_: object, node: int, parents: Sequence[int], parameters: object = None) -> float:
            return score(node, mask_of(map(int, parents)))

        ours = {name: more.pop(name) for name in [*more] if hasattr(module, name)}
        with patch.multiple(module, local_score_BDeu=local_score, dag2cpdag=completed, **ours):
            learned = getattr(module, function)(data, "local_score_BDeu", **more)
        return pattern_of((learned["G"] if isinstance(learned, dict) else learned).graph.tolist())


@dataclass(frozen=True)
class BOSS(ByOurScore):
    """Best order score search (Andrews et al. 2023): the order of the variables whose best parent sets score most.

    Without the backward search that ends the paper's algorithm, as in the library.
    """

    kind = "boss"
    place = "PermutationBased.BOSS.boss"

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        sweeps = count()

        def shuffle(variables: list[int]) -> None:
            variables[:] = shuffled(range(len(variables)), "boss", seed, next(sweeps))

        return self.called(data, arities, random=SimpleNamespace(shuffle=shuffle), verbose=False)


@dataclass(frozen=True)
class GRaSP(ByOurScore):
    """Greedy relaxation of the sparsest permutation (Lam, Andrews and Ramsey 2022)."""

    kind = "grasp"
    place = "PermutationBased.GRaSP.grasp"

    depth: Annotated[int, Field(ge=1)] = 3
    """How many tucks that gain nothing may precede one that gains."""

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        return self.called(data, arities, random=Random(seed), depth=self.depth, verbose=False)


@dataclass(frozen=True)
class GES(ByOurScore):
    """Greedy equivalence search (Chickering 2002): over classes, first edges that gain most, then those to delete.

    Two of the library's steps are done by ours, which return the same in a fraction of the time: whether paths are
    blocked, and the completed pattern after each change.
    """

    kind = "ges"
    place = "ScoreBased.GES.ges"

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        return self.called(data, arities, insert_vc2_fast=blocked, pdag2dag=lambda graph: graph)


def completed(graph: Any) -> Any:
    """Return a causal-learn graph made the completed pattern of its class, as the library's functions do in minutes."""
    dag = dag_in(pattern_of(graph.graph.tolist()))
    assert dag is not None  # a valid change of a class leads to one (Chickering 2002, Theorems 15 and 17)
    whole = cpdag(dag)
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
class Exact(Scored):
    """A DAG that no other outscores, by A* over sets of variables (Yuan and Malone 2013): the ceiling of any search."""

    kind = "exact"
    most_variables: ClassVar[int] = 12
    """Each one more doubles time and memory: twelve take a few seconds."""

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed. Raises ConfigError where there are too many columns."""
        if len(arities) > self.most_variables:
            most = f"at most {self.most_variables} variables, and the network has {len(arities)}"
            raise ConfigError(f"algorithm={self.name} takes {most}: choose a search without that limit (hc, boss).")
        module = import_module("causallearn.search.ScoreBased.ExactSearch")
        score = self.score_of(data, arities)

        def cost(_: object, node: int, parents: Sequence[int]) -> float:
            return -score(node, mask_of(map(int, parents)))

        with patch.object(module, "bic_score_node", cost):
            edges, _ = module.bic_exact_search(data)
        return Pattern.of(tuple(mask_of(np.flatnonzero(column).tolist()) for column in edges.T))


@dataclass(frozen=True)
class HillClimbing(Scored):
    """Hill climbing from the empty graph to a DAG that no single change improves (Heckerman et al. 1995, §7)."""

    kind = "hill climbing"
    library = "pgmpy"

    max_parents: Annotated[int, Field(ge=1)] | None = None

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        import pandas
        from pgmpy.causal_discovery import HillClimbSearch
        from pgmpy.structure_score import BaseStructureScore

        score, frame = self.score_of(data, arities), pandas.DataFrame(data)

        class OurScore(BaseStructureScore):
            def local_score(self, node: int, parents: Sequence[int]) -> float:
                return score(node, mask_of(map(int, parents)))

        search = HillClimbSearch(OurScore(frame), max_indegree=self.max_parents, return_type="dag", show_progress=False)
        graph = search.fit(frame).causal_graph_
        return Pattern.of(tuple(mask_of(graph.get_parents(v)) for v in range(len(arities))))


@dataclass(frozen=True)
class MMHC(OfLibrary):
    """Max-min hill climbing (Tsamardinos, Brown and Aliferis 2006): tests select edges, and BDeu chooses among them.

    pybnesian's, with its χ² tests and its score.
    """

    kind = "mmhc"
    library = "pybnesian"

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level of the tests."""
    equivalent_sample_size: Annotated[float, Field(gt=0)] = 10.0
    """α of BDeu."""
    max_parents: Annotated[int, Field(ge=1)] | None = None

    def search(self, data: Data, arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed. Raises ConfigError without pybnesian."""
        import pandas

        try:
            pybnesian = import_module("pybnesian")
        except ImportError as error:
            raise ConfigError("algorithm=mmhc needs pybnesian, which has no wheel for Python 3.14 yet.") from error
        names = [str(v) for v in range(len(arities))]
        frame = pandas.DataFrame({
            name: pandas.Categorical.from_codes(column, [str(state) for state in range(arity)])
            for name, column, arity in zip(names, data.T, arities, strict=True)
        })  # fmt: skip
        network = pybnesian.MMHC().estimate(
            pybnesian.ChiSquare(frame), pybnesian.ArcOperatorSet(),
            pybnesian.BDe(frame, iss=self.equivalent_sample_size), names, bn_type=pybnesian.DiscreteBNType(),
            alpha=self.alpha, max_indegree=self.max_parents or 0,
        )  # fmt: skip
        return Pattern.of(tuple(mask_of(map(int, network.parents(name))) for name in names))
