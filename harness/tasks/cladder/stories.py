"""CLadder's stories: what each variable of a graph is called, as the authors' files have it (MIT licence)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from harness.codec import uniform
from harness.tasks.cladder.graphs import GRAPHS, Graph, X, Y
from harness.tasks.data_files import shipped

ROLES: Mapping[str, Mapping[str, str]] = {
    "chain": {"V2": "Z"},
    "fork": {"V2": "Z"},
    "collision": {"V3": "Z"},
    "confounding": {"V1": "Z"},
    "mediation": {"V2": "Z"},
    "diamond": {"V2": "Z", "V3": "W"},
    "diamondcut": {"V1": "Z", "V3": "W"},
    "frontdoor": {"V1": "W", "V3": "Z"},
    "IV": {"V1": "W", "V2": "Z"},
    "arrowhead": {"V2": "W", "V3": "Z"},
}
"""What the stories call the variables besides X and Y, by graph."""


WRONG_SIDE = frozenset(
    ("manager", "vaccination", "vaccination status", "ability to swim", "solar eclipse", "full moon")
)
"""Treatments of which the words for "if it had not been" say that it had."""
ALIKE = frozenset(("CEO",))
"""Variables whose two values are called the same where probabilities are conditional on them."""


@cache
def orientations() -> Mapping[tuple[str, str, str], str]:
    """Return which way each name of a variable points: up, down or none; the file has the reason of each.

    The keys are the name and the words for its values 0 and 1. Up: more of what it names is the value 1. None: the name
    does not tell which value is more of it.
    """
    rows = csv.DictReader(shipped("cladder/orientation.csv").decode().splitlines())
    return {(row["name"], row["value 0"], row["value 1"]): row["direction"] for row in rows}


@cache
def points_up(name: str) -> bool:
    """Test whether a name alone tells that the value 1 is more of it, as invented names do."""
    return {way for (known, _, _), way in orientations().items() if known == name} <= {"up"}


@dataclass(frozen=True, slots=True)
class VariableWords:
    """What one variable is called; of pairs the first is for the value 0."""

    name: str
    noun: tuple[str, str]
    """As in: the probability of …"""
    where: tuple[str, str]
    """As in: for …, the probability …"""
    partial: tuple[str, str]
    """The same after another condition: for … and …"""
    sentence: tuple[str, str]
    """As in: we observed …"""
    condition: tuple[str, str] = ("", "")
    """Of X: if it had been …"""


@dataclass(frozen=True, slots=True, eq=False)
class GraphStory:
    """A graph whose variables are called something."""

    name: str
    graph: Graph
    words: Mapping[str, VariableWords]
    """By variable."""


@cache
def _data() -> Mapping[str, Any]:
    data: dict[str, Any] = json.loads(shipped("cladder/stories.json.gz"))
    return data


@cache
def names(*, nonsense: bool) -> tuple[str, ...]:
    """Return the names of the stories, those in invented words or those about something."""
    return tuple(name for name, story in _data()["stories"].items() if (len(story["graphs"]) > 1) == nonsense)


def graphs_of(name: str) -> tuple[str, ...]:
    """Return the graphs that a story can be told of: of one about something a single one."""
    return tuple(_data()["stories"][name]["graphs"])


def specs(name: str, difficulty: str) -> Sequence[Mapping[str, Any]]:
    """Return what a story says of the strength of its causes, easy (as expected) or hard (as not expected)."""
    found: Sequence[Mapping[str, Any]] = _data()["stories"][name].get(difficulty, ())
    return found


@cache
def story(name: str, graph: str, change: tuple[str, str] | None = None) -> GraphStory:
    """Return a story of a graph; `change` says which variable (X or Y) is replaced by which unrelated one."""
    told = _data()["stories"][name]["words"]
    roles = {X: X, Y: Y, **ROLES[graph]}
    words = {node: _words(told[roles[node]]) for node in GRAPHS[graph].nodes}
    if change is not None:
        variable, kind = change
        unrelated = _data()["unrelated"]
        subject = told[variable].get("subject", "person")
        subject = subject if subject in unrelated["plurals"] else "person"
        words[variable] = _words(
            unrelated["variables"][variable][kind], subject=subject, plural=unrelated["plurals"][subject]
        )
    return GraphStory(name, GRAPHS[graph], words)


def unrelated(name: str, *key: object) -> tuple[str, str]:
    """Draw an unrelated replacement for a story's treatment or outcome."""
    told, subjects = _data()["stories"][name]["words"], _data()["unrelated"]["subjects"]
    changes = [
        (variable, kind)
        for variable in (X, Y)
        for kind in subjects[variable].get(told[variable].get("subject", ""), ())
        if told[variable]["name"] != _data()["unrelated"]["variables"][variable][kind]["name"]
    ]
    return changes[int(uniform("cladder", "unrelated", name, *key) * len(changes))]


def renamed(story: GraphStory, called: Mapping[str, str]) -> GraphStory:
    """Return the story with its variables called by other words, in the form of the stories in invented words."""
    words = {node: invented(called[node]) for node in story.graph.nodes}
    return GraphStory(story.name, story.graph, words)


@cache
def invented(name: str) -> VariableWords:
    """Return the words for a variable with an invented, meaningless name."""
    return VariableWords(
        name=name,
        noun=(f"not {name}", name),
        where=(f"those who are not {name}", f"those who are {name}"),
        partial=(f"are not {name}", f"are {name}"),
        sentence=(f"an individual is not {name}", f"an individual is {name}"),
        condition=(
            f"if the individual was not {name} instead of {name}",
            f"if the individual was {name} instead of not {name}",
        ),
    )


@cache
def invented_names() -> tuple[str, ...]:
    """Return the words that mean nothing of the stories in invented words."""
    told = (_data()["stories"][name]["words"] for name in names(nonsense=True))
    several = (words["name"] for variables in told for words in variables.values())
    return tuple(dict.fromkeys(several))  # two stories share a word


def every_words() -> Iterator[VariableWords]:
    """Yield the words of every variable that a story or a replacement has."""
    for told in _data()["stories"].values():
        yield from map(_words, told["words"].values())
    unrelated = _data()["unrelated"]
    for variable in (X, Y):
        for kind in unrelated["variables"][variable].values():
            for subject, plural in unrelated["plurals"].items():
                yield _words(kind, subject=subject, plural=plural)


def _words(told: Mapping[str, Any], **subject: str) -> VariableWords:
    def pair(part: str) -> tuple[str, str]:
        first, second = (text.format(**subject) if subject else text for text in told.get(part, ("", "")))
        return first, second

    return VariableWords(
        told["name"],
        noun=pair("noun"),
        where=pair("wheresentence"),
        partial=pair("wherepartial"),
        sentence=pair("sentence"),
        condition=pair("sentence_condition"),
    )
