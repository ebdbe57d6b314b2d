"""The models that questions are about: fresh ones without end, and the authors' own, made again from their parameters.

Fresh models are drawn from a seed, in the stories' words and with the strengths that the stories name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count, product
from typing import Any, Literal

from harness.codec import uniform
from harness.tasks.cladder.graphs import GRAPHS, Graph, Scm, Table
from harness.tasks.cladder.queries import asked_of
from harness.tasks.cladder.questions import ToldModel
from harness.tasks.cladder.stories import graphs_of, names, specs, story, unrelated
from harness.tasks.data_files import shipped

Variant = Literal["easy", "hard", "commonsense", "anticommonsense", "nonsense"]
"""
- easy: causes are as strong and as directed as the story leads one to expect; hard: as it does not.
- commonsense: easy and hard by turns.
- anticommonsense: the treatment or the outcome is replaced by something that has nothing to do with the rest; easy and
  hard by turns, too.
- nonsense: all variables have invented names, and their probabilities are drawn at random.
"""
LEVELS = ((0.02, 0.2), (0.4, 0.6), (0.8, 0.98))
"""The probabilities of a variable without causes, by what a story calls 0, 1 and 2."""
LEAST, MOST = 0.02, 0.98
SAMPLE_VARIANTS: Mapping[str, tuple[str, str]] = {
    "easy": ("commonsense", "easy"),
    "hard": ("commonsense", "hard"),
    "anticommonsense": ("anticommonsense", "easy"),
    "nonsense": ("nonsense", "random"),
    "deterministic": ("commonsense", ""),
}
"""Variant and difficulty of the authors' files."""


def rounds(variants: Sequence[Variant], seed: int) -> Iterator[Iterator[ToldModel]]:
    """Yield rounds without end. In each, every story is told once in each variant, or its graph in invented words.

    Beside each model comes a deterministic one of the same story, for the questions that are asked about those alone.
    """
    return (round_of(variants, seed, number) for number in count())


def round_of(variants: Sequence[Variant], seed: int, number: int) -> Iterator[ToldModel]:
    """Yield the models of a round."""
    for place, name in enumerate(names(nonsense=False)):
        for variant in variants:
            yield from _models(place, name, variant, seed, number)


def _models(place: int, name: str, variant: Variant, seed: int, number: int) -> Iterator[ToldModel]:
    """Yield the models of one story, at this place among all, in one variant and round."""
    (graph,) = graphs_of(name)
    key = (seed, variant, name, number)
    told, kind = story(name, graph), "commonsense"
    difficulty = by_turns = "hard" if (number + place) % 2 else "easy"
    twin = turn = ""
    if variant == "nonsense":
        invented = names(nonsense=True)
        told, kind, difficulty = story(invented[int(_draw("nonsense", *key) * len(invented))], graph), variant, "random"
        twin = f"-{place}"  # several models of a round may have one such story
    elif variant == "anticommonsense":
        told, kind = story(name, graph, unrelated(name, *key)), variant
        turn = "-hard" if by_turns == "hard" else ""  # once all were easy: old names mean those
    elif variant != "commonsense":
        difficulty = variant
    label = f"{told.name}-{graph}-{variant}-s{seed}r{number}{twin}{turn}"
    tables = _tables(GRAPHS[graph], _spec(name, difficulty, key), key)
    yield ToldModel(label, kind, difficulty, told, Scm(GRAPHS[graph], tables))
    if asked_of("det-counterfactual", GRAPHS[graph]):
        yield ToldModel(f"{label}-det", kind, "", told, Scm(GRAPHS[graph], _mechanisms(GRAPHS[graph], key)))


def _spec(name: str, difficulty: str, key: tuple[object, ...]) -> Mapping[str, Any] | None:
    """Return what a story says of strengths, one of several at random; None where they are free."""
    found = specs(name, difficulty)
    return found[int(_draw("spec", *key) * len(found))] if found else None


def _tables(graph: Graph, spec: Mapping[str, Any] | None, key: tuple[object, ...]) -> dict[str, Table]:
    """Draw the probability tables of a model."""
    tables: dict[str, Table] = {}
    for node, causes in graph.parents.items():
        told = None if spec is None else spec.get(node)
        if not causes:
            tables[node] = (_root(told, node, key),)
        elif spec is None:
            tables[node] = tuple(_between(LEAST, MOST, node, k, *key) for k in range(2 ** len(causes)))
        else:
            strengths = told if isinstance(told, Mapping) else {}
            tables[node] = _caused([_effect(strengths.get(cause), node, cause, key) for cause in causes], node, key)
    return tables


def _root(told: Any, node: str, key: tuple[object, ...]) -> float:
    """Draw the probability of a variable without causes: from an interval, or from one of three levels."""
    low, high = LEVELS[told] if isinstance(told, int) else told or (LEAST, MOST)
    return _between(max(low, LEAST), min(high, MOST), node, *key)


def _effect(told: Any, node: str, cause: str, key: tuple[object, ...]) -> float:
    """Draw how much a cause raises the probability: about what is told, or by a direction alone (-1, 0, 1)."""
    if told is None or told == 0:
        return _between(-0.2, 0.2, node, cause, *key)
    if isinstance(told, int):
        return told * _between(0.2, 0.5, node, cause, *key)
    size = abs(float(told)) + _between(0, 0.15, node, cause, *key)
    return size if told > 0 else -size


def _caused(effects: Sequence[float], node: str, key: tuple[object, ...]) -> Table:
    """Return a table in which each cause has its effect, and what causes do together is a little off their sum."""
    span = sum(map(abs, effects))
    scale = min(1.0, (MOST - LEAST) / span) if span else 1.0
    base = (
        _between(LEAST, MOST - span * scale, node, "base", *key) - sum(min(0.0, effect) for effect in effects) * scale
    )
    table = []
    for k, values in enumerate(product((0, 1), repeat=len(effects))):
        chance = base + scale * sum(effect for effect, value in zip(effects, values, strict=True) if value)
        table.append(min(MOST, max(LEAST, chance + _between(-0.03, 0.03, node, "off", k, *key))))
    return tuple(table)


def _mechanisms(graph: Graph, key: tuple[object, ...]) -> dict[str, Table]:
    """Draw a deterministic model: of several causes one is enough or all are needed, a single one may prevent."""
    tables: dict[str, Table] = {}
    for node, causes in graph.parents.items():
        drawn = _draw("mechanism", node, *key) < 0.5
        if not causes:
            tables[node] = (0.5,)
        elif len(causes) == 1:
            tables[node] = (1.0, 0.0) if drawn else (0.0, 1.0)
        else:
            size = 2 ** len(causes)
            tables[node] = (0.0,) * (size - 1) + (1.0,) if drawn else (0.0,) + (1.0,) * (size - 1)
    return tables


def _between(low: float, high: float, *key: object) -> float:
    return low + (high - low) * _draw(*key)


def _draw(*key: object) -> float:
    return uniform("cladder", *key)


@cache
def sample() -> tuple[ToldModel, ...]:
    """Return the models of the authors' five files, in their order."""
    return tuple(map(_model, json.loads(shipped("cladder/sample.json.gz"))))


def _model(row: Mapping[str, Any]) -> ToldModel:
    graph = GRAPHS[row["graph"]]
    tables = dict(zip(graph.nodes, map(tuple, row["tables"]), strict=True))
    change = (row["change"][0], row["change"][1]) if "change" in row else None
    variant, difficulty = SAMPLE_VARIANTS[row["variant"]]
    told = story(row["story"], graph.name, change)
    cluster, spec = f"{told.name}-model{row['id']}", f"model{row['id']}-spec{row['spec']}"
    return ToldModel(cluster, variant, difficulty, told, Scm(graph, tables), spec)
