"""The models that questions are about: fresh ones without end, and the authors' own, made again from their parameters.

Fresh models are drawn from a seed, in the stories' words and with the strengths that the stories name.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import count, product
from typing import Any, Literal

from harness.codec import uniform
from harness.tasks.cladder.graphs import GRAPHS, Graph, Scm, Table
from harness.tasks.cladder.queries import asked_of, asks
from harness.tasks.cladder.questions import ExactNumbers, PublishedNumbers, ToldModel, ToldQuestion
from harness.tasks.cladder.stories import GraphStory, graphs_of, names, specs, story, unrelated

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


@dataclass(frozen=True, eq=False)
class FreshModel:
    """A randomly drawn model, with the story that tells it."""

    name: str
    variant: str
    """commonsense, anticommonsense or nonsense."""
    difficulty: str
    """easy, hard, or random where no story says anything of strengths; "" of a deterministic model."""
    story: GraphStory
    scm: Scm
    deterministic: bool = False

    @property
    def cluster(self) -> str:
        return self.name

    def questions(self) -> Iterator[tuple[str, ToldQuestion]]:
        """Yield what is asked about it, each with a name: of a deterministic one both ways about one thing observed."""
        model = ToldModel(self.story, self.scm, ExactNumbers(self.scm), by_value=True)
        asked = asks(self.scm.graph, deterministic=self.deterministic)
        if self.deterministic:
            pair = 2 * int(_draw("asked", self.name) * (len(asked) // 2))
            asked = asked[pair : pair + 2]
        for place, ask in enumerate(asked):
            yield f"{self.name}-{ask.query}-q{place % 2}", ToldQuestion(model, ask)


def rounds(variants: Sequence[Variant], seed: int) -> Iterator[Iterator[FreshModel]]:
    """Yield rounds without end. In each, every story is told once in each variant, or its graph in invented words.

    Beside each model comes a deterministic one of the same story, for the questions that are asked about those alone.
    """
    for number in count():
        yield _round(variants, seed, number)


def _round(variants: Sequence[Variant], seed: int, number: int) -> Iterator[FreshModel]:
    for place in range(len(names(nonsense=False))):
        for variant in variants:
            yield from _models(place, variant, seed, number, hard=(number + place) % 2 == 1)


def _models(place: int, variant: Variant, seed: int, number: int, *, hard: bool) -> Iterator[FreshModel]:
    """Yield the models of one story in one variant and round.

    `place` is that of the story among all; `hard` counts for the variants that have easy and hard by turns.
    """
    name = names(nonsense=False)[place]
    (graph,) = graphs_of(name)
    key = (seed, variant, name, number)
    told, kind, difficulty = _story_of(variant, name, graph, key, hard=hard)
    twin = f"-{place}" if variant == "nonsense" else ""  # several models of a round may have one such story
    turn = "-hard" if variant == "anticommonsense" and hard else ""  # once all were easy: old names mean those
    label = f"{told.name}-{graph}-{variant}-s{seed}r{number}{twin}{turn}"
    tables = _tables(GRAPHS[graph], _spec(name, difficulty, key), key)
    yield FreshModel(label, kind, difficulty, told, Scm(GRAPHS[graph], tables))
    if asked_of("det-counterfactual", GRAPHS[graph]):
        mechanisms = Scm(GRAPHS[graph], _mechanisms(GRAPHS[graph], key))
        yield FreshModel(f"{label}-det", kind, "", told, mechanisms, deterministic=True)


def _story_of(
    variant: Variant, name: str, graph: str, key: tuple[object, ...], *, hard: bool
) -> tuple[GraphStory, str, str]:
    """Return the story of a model, its variant and its difficulty."""
    if variant == "nonsense":
        invented = names(nonsense=True)
        return story(invented[int(_draw("nonsense", *key) * len(invented))], graph), variant, "random"
    by_turns = "hard" if hard else "easy"
    if variant == "anticommonsense":
        return story(name, graph, unrelated(name, *key)), variant, by_turns
    difficulty = by_turns if variant == "commonsense" else variant
    return story(name, graph), "commonsense", difficulty


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


@dataclass(frozen=True)
class SampleModel:
    """A model of the authors' files; the deterministic ones stand in stories as they are."""

    id: int
    spec: int
    variant: str
    """commonsense, anticommonsense or nonsense."""
    difficulty: str
    """easy, hard or random; "" of a deterministic model."""
    story: GraphStory
    scm: Scm

    @property
    def cluster(self) -> str:
        return f"{self.story.name}-model{self.id}"

    def questions(self) -> Iterator[tuple[str, ToldQuestion]]:
        """Yield the questions about it, with the authors' names for them."""
        counts: dict[str, int] = {}
        model = ToldModel(self.story, self.scm, PublishedNumbers(self.scm), self._mechanisms_in_words)
        for ask in asks(self.scm.graph, deterministic=not self.difficulty):
            number = counts[ask.query] = counts.get(ask.query, -1) + 1
            name = f"{self.story.name}-{self.scm.graph.name}-{ask.query}-model{self.id}-spec{self.spec}-q{number}"
            yield name, ToldQuestion(model, ask)

    @cached_property
    def _mechanisms_in_words(self) -> Mapping[str, Table] | None:
        """The mechanisms that the words tell of: of diamondcut they negate X where the parameters negate V3."""
        tables = self.scm.tables
        if self.difficulty or self.scm.graph.name != "diamondcut":
            return None
        return {**tables, "X": tables["V3"], "V3": tables["X"]}


@cache
def sample() -> tuple[SampleModel, ...]:
    """Return the models of the authors' five files, in their order."""
    file = resources.files("harness") / "data" / "cladder" / "sample.json.gz"
    return tuple(map(_model, json.loads(gzip.decompress(file.read_bytes()))))


def _model(row: Mapping[str, Any]) -> SampleModel:
    graph = GRAPHS[row["graph"]]
    tables = dict(zip(graph.nodes, map(tuple, row["tables"]), strict=True))
    change = (row["change"][0], row["change"][1]) if "change" in row else None
    variant, difficulty = SAMPLE_VARIANTS[row["variant"]]
    told = story(row["story"], graph.name, change)
    return SampleModel(row["id"], row["spec"], variant, difficulty, told, Scm(graph, tables))
