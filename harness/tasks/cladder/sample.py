"""The authors' own questions, made again from their parameters: harness/data/cladder/sample.json.gz."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

from harness.tasks.cladder.graphs import GRAPHS
from harness.tasks.cladder.numbers import Published
from harness.tasks.cladder.queries import asks
from harness.tasks.cladder.questions import Question, ToldModel
from harness.tasks.cladder.scm import Scm, Table
from harness.tasks.cladder.stories import Story, story


@dataclass(frozen=True)
class SampleModel:
    """A model of the authors' files."""

    id: int
    spec: int
    variant: str
    """easy, hard, anticommonsense, nonsense; deterministic."""
    story: Story
    scm: Scm

    def questions(self) -> Iterator[tuple[str, Question]]:
        """Yield the questions about it, with the authors' names for them."""
        counts: dict[str, int] = {}
        model = ToldModel(self.story, self.scm, Published(self.scm), self._mechanisms_in_words)
        for ask in asks(self.scm.graph, deterministic=self.variant == "deterministic"):
            number = counts[ask.query] = counts.get(ask.query, -1) + 1
            name = f"{self.story.name}-{self.scm.graph.name}-{ask.query}-model{self.id}-spec{self.spec}-q{number}"
            yield name, Question(model, ask)

    @cached_property
    def _mechanisms_in_words(self) -> Mapping[str, Table] | None:
        """The mechanisms that the words tell of: of diamondcut they negate X where the parameters negate V3."""
        tables = self.scm.tables
        if self.variant != "deterministic" or self.scm.graph.name != "diamondcut":
            return None
        return {**tables, "X": tables["V3"], "V3": tables["X"]}


@cache
def sample() -> tuple[SampleModel, ...]:
    """Return the models of the authors' five files, in their order."""
    file = resources.files("harness") / "data" / "cladder" / "sample.json.gz"
    return tuple(map(_model, json.loads(gzip.decompress(file.read_bytes()))))


def _model(row: Mapping[str, Any]) -> SampleModel:
    graph = GRAPHS[str(row["graph"])]
    tables = dict(zip(graph.nodes, map(tuple, row["tables"]), strict=True))
    change = (row["change"][0], row["change"][1]) if "change" in row else None
    told = story(str(row["story"]), graph.name, change)
    return SampleModel(int(row["id"]), int(row["spec"]), str(row["variant"]), told, Scm(graph, tables))
