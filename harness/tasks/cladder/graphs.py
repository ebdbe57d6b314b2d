"""CLadder's ten causal graphs (treatment X, outcome Y, others V1, V2, V3; Jin et al. 2023), and models over them.

Models are the oracle: binary and structural, every question is answered by a sum over all worlds (Pearl 2009). A world
gives each variable 0 or 1. What a variable depends on besides its parents affects no other variable, so the
counterfactuals asked about (ETT, NDE, NIE) are sums over worlds as well: what X does not affect is the same in both
worlds, and what it affects follows its table for the X that it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from harness.causal.dag import DAG, mask_of
from harness.causal.separation import d_connected

X, Y = "X", "Y"
"""The treatment and the outcome."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph: its variables with their parents, causes before effects."""

    name: str
    parents: Mapping[str, tuple[str, ...]]
    """In the order of the conditions of each probability table, P(variable | parents)."""
    edges: tuple[tuple[str, str], ...]
    """(cause, effect), in the order in which the texts tell them."""
    unobserved: str = ""
    """The variable that the texts call unobserved, if there is one."""

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self.parents)

    @cached_property
    def dag(self) -> DAG:
        return tuple(map(self._mask, self.parents.values()))

    @cached_property
    def mediators(self) -> tuple[str, ...]:
        """Variables on a directed path from X to Y, in the order of their numbers."""
        below = self.descendants(X)
        return tuple(sorted(node for node in below if node != Y and Y in self.descendants(node)))

    @cached_property
    def collider(self) -> str:
        """The common effect of X and Y, or ""."""
        return next((node for node, causes in self.parents.items() if {X, Y} <= set(causes)), "")

    @cached_property
    def independent(self) -> bool:
        """Whether X and Y are independent, as no path joins them but through a common effect."""
        return self.separated(X, Y, ())

    def descendants(self, node: str) -> frozenset[str]:
        """Return what a variable affects, directly or through others."""
        below: set[str] = set()
        for effect, causes in self.parents.items():
            if set(causes) & (below | {node}):
                below.add(effect)
        return frozenset(below)

    def separated(self, a: str, b: str, given: tuple[str, ...]) -> bool:
        """Test whether two variables are d-separated by the others that are given."""
        return _separated(self.dag, self.nodes.index(a), self.nodes.index(b), self._mask(given))

    def admissible(self, given: tuple[str, ...]) -> bool:
        """Test the back-door criterion: do these variables let the effect of X on Y be read from what is observed?"""
        if set(given) & self.descendants(X):
            return False
        place = self.nodes.index(X)
        without = tuple(causes & ~(1 << place) for causes in self.dag)  # the edges out of X are taken away
        return _separated(without, place, self.nodes.index(Y), self._mask(given))

    def _mask(self, nodes: Iterable[str]) -> int:
        return mask_of(map(self.nodes.index, nodes))


@lru_cache(maxsize=1024)
def _separated(dag: DAG, a: int, b: int, given: int) -> bool:
    return not d_connected(dag, a, [given])[b]


def _graph(name: str, edges: str, tables: str, unobserved: str = "") -> Graph:
    """Return the graph of edges X->Y, … and probability tables Y|V1,X …, which give the order of everything."""
    parents = {}
    for table in tables.split():
        node, _, causes = table.partition("|")
        parents[node] = tuple(causes.split(",")) if causes else ()
    pairs = (edge.split("->") for edge in edges.split())
    return Graph(name, parents, tuple((cause, effect) for cause, effect in pairs), unobserved)


GRAPHS: Mapping[str, Graph] = {
    graph.name: graph
    for graph in (
        _graph("chain", "X->V2 V2->Y", "X V2|X Y|V2"),
        _graph("fork", "X->Y V2->Y", "V2 X Y|X,V2"),
        _graph("collision", "X->V3 Y->V3", "Y X V3|X,Y"),
        _graph("confounding", "V1->X V1->Y X->Y", "V1 X|V1 Y|V1,X"),
        _graph("mediation", "X->V2 X->Y V2->Y", "X V2|X Y|X,V2"),
        _graph("diamond", "X->V3 X->V2 V2->Y V3->Y", "X V3|X V2|X Y|V2,V3"),
        _graph("diamondcut", "V1->V3 V1->X X->Y V3->Y", "V1 V3|V1 X|V1 Y|X,V3"),
        _graph("frontdoor", "V1->X X->V3 V1->Y V3->Y", "V1 X|V1 V3|X Y|V1,V3", "V1"),
        _graph("IV", "V1->X V2->X V1->Y X->Y", "V2 V1 X|V1,V2 Y|V1,X", "V1"),
        _graph("arrowhead", "X->V3 V2->V3 X->Y V2->Y V3->Y", "V2 X V3|X,V2 Y|X,V2,V3", "V2"),
    )
}
"""By name."""


Table = tuple[float, ...]
"""P(variable = 1) for every value of its parents: (0, 0), (0, 1), (1, 0), (1, 1), the last parent changing first."""
Event = tuple[tuple[str, int], ...]
"""Variables and their values."""


@dataclass(frozen=True, eq=False)
class Scm:
    """A graph and the probability tables of its variables."""

    graph: Graph
    tables: Mapping[str, Table]

    def probability(self, event: Mapping[str, int], given: Mapping[str, int] | None = None) -> float:
        """Return P(event | given): rung 1. Under a condition that never holds it is 0."""
        known = tuple((given or {}).items())
        whole = self._sum(known) if known else 1.0
        return self._sum((*known, *event.items())) / whole if whole else 0.0

    def outcome(self, direct: int, indirect: int, among: int | None = None) -> float:
        """Return P(Y = 1) where Y is shown X = `direct` and all else that X affects X = `indirect`: rungs 2 and 3.

        `among` takes only those whose X is that by itself. P(Y | do(X = x)) is outcome(x, x).
        """
        places = _places(self.graph, direct, indirect, among)
        weights = self._weights(places)
        happened = sum(weights[world] for world in _worlds(self.graph, ((X, 0), (Y, 1))))
        return happened / sum(weights[world] for world in _worlds(self.graph, ((X, 0),)))

    @cached_property
    def ate(self) -> float:
        """E[Y | do(X = 1)] - E[Y | do(X = 0)]."""
        return self.outcome(1, 1) - self._untreated

    @cached_property
    def ett(self) -> float:
        """E[Y_{X=1} - Y_{X=0} | X = 1]; 0 where X is never 1."""
        if not self.probability({X: 1}):
            return 0.0
        return self.outcome(1, 1, among=1) - self.outcome(0, 0, among=1)

    @cached_property
    def nde(self) -> float:
        """E[Y_{X=1, mediators as under X=0} - Y_{X=0}]."""
        return self.outcome(1, 0) - self._untreated

    @cached_property
    def nie(self) -> float:
        """E[Y_{X=0, mediators as under X=1} - Y_{X=0}]."""
        return self.outcome(0, 1) - self._untreated

    @cached_property
    def _untreated(self) -> float:
        return self.outcome(0, 0)

    @cached_property
    def _joint(self) -> list[float]:
        return self._weights(_places(self.graph))

    def _sum(self, event: Event) -> float:
        return sum(map(self._joint.__getitem__, _worlds(self.graph, event)))

    def _weights(self, places: Mapping[str, Sequence[int]]) -> list[float]:
        """Return for each world the product of P(variable | parents), each read at its place."""
        weights = [1.0] * 2 ** len(self.graph.nodes)
        for node, places_of_node in places.items():
            chances = [chance for one in self.tables[node] for chance in (1 - one, one)]
            weights = [weight * chances[place] for weight, place in zip(weights, places_of_node, strict=True)]
        return weights


def _all(graph: Graph) -> list[dict[str, int]]:
    values = product((0, 1), repeat=len(graph.nodes))
    return [dict(zip(graph.nodes, world, strict=True)) for world in values]


@lru_cache(maxsize=4096)
def _worlds(graph: Graph, event: Event) -> tuple[int, ...]:
    return tuple(number for number, world in enumerate(_all(graph)) if all(world[node] == v for node, v in event))


@lru_cache(maxsize=256)
def _places(
    graph: Graph, direct: int | None = None, indirect: int | None = None, among: int | None = None
) -> Mapping[str, Sequence[int]]:
    """Return where each variable's probability stands in every world: 2 * (number of its parents' values) + its own.

    With `direct` and `indirect` its parents' X is what `Scm.outcome` says, and X itself is left out, or is `among`.
    """
    places: dict[str, list[int]] = {}
    for node, causes in graph.parents.items():
        shown = direct if node == Y else indirect
        if node == X and direct is not None and among is None:
            continue
        places[node] = []
        for world in _all(graph):
            place = 0
            for cause in causes:
                place = 2 * place + (world[cause] if cause != X or shown is None else shown)
            value = world[node] if node != X or among is None else among
            places[node].append(2 * place + value)
    return places
