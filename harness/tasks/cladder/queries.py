"""CLadder's ten kinds of question: what each gives, what it asks for, and how that follows (Jin et al. 2023, §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from harness.tasks.cladder.graphs import GRAPHS, Graph

Query = Literal[
    "marginal", "correlation", "exp_away", "ate", "backadj", "collider_bias", "ett", "nde", "nie", "det-counterfactual"
]
"""As the authors' files call them."""
_KINDS: Mapping[Query, tuple[int, str]] = {
    "marginal": (1, "marginal probability"),
    "correlation": (1, "conditional probability"),
    "exp_away": (1, "explaining away"),
    "ate": (2, "average treatment effect"),
    "backadj": (2, "back-door adjustment set"),
    "collider_bias": (2, "collider bias"),
    "ett": (3, "effect of the treatment on the treated"),
    "nde": (3, "natural direct effect"),
    "nie": (3, "natural indirect effect"),
    "det-counterfactual": (3, "deterministic counterfactual"),
}
RUNGS: Mapping[Query, int] = {query: rung for query, (rung, _) in _KINDS.items()}
TITLES: Mapping[Query, str] = {query: title for query, (_, title) in _KINDS.items()}
ORDER: tuple[Query, ...] = (
    "ate", "ett", "nie", "nde", "marginal", "correlation", "backadj", "collider_bias", "exp_away",
)  # fmt: skip
"""In which the questions about one model come; those about a deterministic one stand alone."""
EFFECTS: tuple[Query, ...] = ("ate", "ett", "nde", "nie", "correlation", "exp_away")
"""Questions about a difference of probabilities, which may be below, above or equal to 0."""
NUMERIC: tuple[Query, ...] = (*EFFECTS, "marginal")
"""Questions whose answer rests on a number."""

TableKey = tuple[str, tuple[str, ...]]
"""A probability table: the variable, and what it is conditional on."""

TOTAL, ADJUSTED, FRONT_DOOR = "Y|X", "Y|V1,X V1", "V3|X Y|X,V3 X"
_GIVEN: Mapping[Query, Mapping[str, str]] = {
    "ate": {
        **dict.fromkeys(("chain", "fork", "mediation", "diamond", "arrowhead"), TOTAL),
        **dict.fromkeys(("confounding", "diamondcut"), ADJUSTED),
        "frontdoor": FRONT_DOOR,
        "IV": "Y|V2 X|V2",
    },
    "ett": {
        **dict.fromkeys(("chain", "fork", "mediation", "diamond", "arrowhead"), TOTAL),
        "confounding": ADJUSTED,
        "diamondcut": "Y|X,V3 V3|X",
        "frontdoor": "Y|X,V3 V3|X",
    },
    "nie": {
        "chain": TOTAL,
        "diamond": TOTAL,
        "mediation": "Y|X,V2 V2|X",
        "arrowhead": "Y|X,V3 V3|X,V2 V2",
        "frontdoor": FRONT_DOOR,
    },
    "nde": {"mediation": "Y|X,V2 V2|X", "arrowhead": "Y|X,V3 V3|X,V2 V2"},
    "marginal": dict.fromkeys(GRAPHS, "X Y|X"),
    "exp_away": {"collision": "X Y|X,V3"},
}
"""The probability tables that a question gives, by graph."""
_WITHOUT_TABLES: Mapping[Query, tuple[str, ...]] = {
    "correlation": tuple(GRAPHS),
    "backadj": tuple(GRAPHS),
    "collider_bias": ("collision",),
    "det-counterfactual": tuple(name for name in GRAPHS if name != "collision"),
}


def asked_of(query: Query, graph: Graph) -> bool:
    return graph.name in _GIVEN.get(query, ()) or graph.name in _WITHOUT_TABLES.get(query, ())


def tables_given(query: Query, graph: Graph) -> tuple[TableKey, ...]:
    """Return the probability tables that the question gives, in their order."""
    keys = []
    for table in _GIVEN.get(query, {}).get(graph.name, "").split():
        node, _, causes = table.partition("|")
        keys.append((node, tuple(causes.split(",")) if causes else ()))
    return tuple(keys)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about a model, apart from its words."""

    query: Query
    polarity: bool = True
    """Whether it asks for more, larger, positive, an effect; False: for less, smaller, negative, that there is none."""
    methods: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """backadj: what each of the two methods looks at case by case."""
    observed: tuple[tuple[str, int], ...] = ()
    """det-counterfactual: what is observed of the causes besides X,"""
    action: int = 1
    """and the value that X is given."""


def asks(graph: Graph, *, deterministic: bool = False) -> tuple[Ask, ...]:
    """Return every question about a model of the graph, in the authors' order."""
    if deterministic:
        return _deterministic(graph) if asked_of("det-counterfactual", graph) else ()
    found: list[Ask] = []
    for query in ORDER:
        if not asked_of(query, graph):
            continue
        if query == "backadj":
            wrong, right = ((), candidate(graph)) if not graph.admissible(()) else (candidate(graph), ())
            found += [Ask(query, methods=(wrong, right)), Ask(query, methods=(right, wrong))]
        else:
            found += [Ask(query, polarity) for polarity in (True, False)]
    return tuple(found)


def candidate(graph: Graph) -> tuple[str, ...]:
    """Return the variable that one of the two methods of a back-door question looks at case by case."""
    preferred = {"IV": "V1", "arrowhead": "V3", "diamond": "V3", "diamondcut": "V3", "frontdoor": "V1"}
    return (preferred.get(graph.name) or next(node for node in sorted(graph.nodes) if node.startswith("V")),)


def _deterministic(graph: Graph) -> tuple[Ask, ...]:
    roots = [node for node, causes in graph.parents.items() if not causes and node != "X"]
    found = []
    for number in range(2 ** len(roots)):
        values = [number >> place & 1 for place in reversed(range(len(roots)))]
        observed = tuple(zip(roots, values, strict=True))
        found += [
            Ask("det-counterfactual", polarity, observed=observed, action=action)
            for action in (0, 1)
            for polarity in (True, False)
        ]
    return tuple(found)
