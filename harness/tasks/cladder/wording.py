"""A question in words, byte for byte as the authors' files have them; and what a text's variables are called.

Names are the words that ship with the stories, or have the form of invented words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import product
from typing import NamedTuple

from harness.tasks.base import capitalised
from harness.tasks.cladder.graphs import Graph, Table, X, Y
from harness.tasks.cladder.queries import Ask, Query, TableKey
from harness.tasks.cladder.stories import GraphStory, VariableWords, every_words, invented, points_up
from harness.tasks.text_models import UnreadableText

OPENING = (
    "Imagine a self-contained, hypothetical world with only the following conditions, and without any unmentioned "
    "factors or causal relationships:"
)

ASKED: Mapping[Query, tuple[str, ...]] = {
    "ate": ("Will {x} increase the chance of {y}?", "Will {x} decrease the chance of {y}?"),
    "ett": (
        "For {x_where}, would it be more likely to see {y} if {x_otherwise}?",
        "For {x_where}, would it be less likely to see {y} if {x_otherwise}?",
    ),
    "nie": (
        "Does {x_name} positively affect {y_name} through {through}?",
        "Does {x_name} negatively affect {y_name} through {through}?",
    ),
    "nde": (
        "If we disregard the mediation effect through {through}, would {x_name} positively affect {y_name}?",
        "If we disregard the mediation effect through {through}, would {x_name} negatively affect {y_name}?",
    ),
    "marginal": ("Is {y} more likely than {not_y} overall?", "Is {y} less likely than {not_y} overall?"),
    "correlation": (
        "Is the chance of {y} larger when observing {x}?",
        "Is the chance of {y} smaller when observing {x}?",
    ),
    "collider_bias": (
        "If we look at {collider}, does it mean that {x} affects {y}?",
        "If we look at {collider}, does it mean that {x} does not affect {y}?",
    ),
    "exp_away": (
        "If we look at {collider}, does the chance of {y} increase when {x}?",
        "If we look at {collider}, does the chance of {y} decrease when {x}?",
    ),
    "backadj": ("To understand how {x_name} affects {y_name}, is it more correct to use the Method 1 than Method 2?",),
    "det-counterfactual": ("Would {y_sentence} if {x_action} instead of {x_other}?",),
}
"""By kind, for more and for less, or in one form."""
BY_NAME: tuple[Query, ...] = ("nie", "nde")
"""Questions that ask about a direction by the names of treatment and outcome,"""
BY_VALUE: Mapping[Query, tuple[str, ...]] = {
    "nie": (
        "Does {x} instead of {not_x} make {y} more likely through {through}?",
        "Does {x} instead of {not_x} make {y} less likely through {through}?",
    ),
    "nde": (
        "If we disregard the mediation effect through {through}, would {x} instead of {not_x} make {y} more likely?",
        "If we disregard the mediation effect through {through}, would {x} instead of {not_x} make {y} less likely?",
    ),
}
"""and the same about their values, in this project's words."""


def names_tell(story: GraphStory, query: Query) -> bool:
    """Test whether the names by which a question asks tell which values it is about; True where it names values."""
    return query not in BY_NAME or all(points_up(story.words[node].name) for node in (X, Y))


def background(story: GraphStory) -> str:
    """Return the story's graph in words."""
    effects: dict[str, list[str]] = {}
    for cause, effect in story.graph.edges:
        effects.setdefault(cause, []).append(story.words[effect].name)
    sentences = [OPENING]
    for cause, names in effects.items():
        sentences.append(f"{capitalised(story.words[cause].name)} has a direct effect on {' and '.join(names)}.")
    if story.graph.unobserved:
        sentences.append(f"{capitalised(story.words[story.graph.unobserved].name)} is unobserved.")
    return " ".join(sentences)


def question(story: GraphStory, ask: Ask, *, by_value: bool = False) -> str:
    """Return what is asked; `by_value` names values where the authors' words have names alone."""
    x, y = story.words[X], story.words[Y]
    collider = story.graph.collider
    templates = (BY_VALUE if by_value else ASKED)[ask.query]
    return templates[0 if ask.polarity else -1].format(
        x=x.noun[1],
        not_x=x.noun[0],
        y=y.noun[1],
        not_y=y.noun[0],
        x_name=x.name,
        y_name=y.name,
        x_where=x.where[1],
        x_otherwise=x.condition[0].partition(" instead of ")[0].removeprefix("if "),
        x_action=x.noun[ask.action],
        x_other=x.noun[1 - ask.action],
        y_sentence=y.sentence[ask.polarity],
        through=" and ".join(story.words[node].name for node in story.graph.mediators),
        collider=story.words[collider].where[1] if collider else "",
    )


def tables_in_words(story: GraphStory, tables: Mapping[TableKey, Table]) -> str:
    """Return the probability tables that a question gives, in whole percents."""
    sentences = []
    for (node, causes), table in tables.items():
        noun = story.words[node].noun[1]
        for values, chance in zip(product((0, 1), repeat=len(causes)), table, strict=True):
            if causes:
                sentences.append(f"For {_where(story, causes, values)}, the probability of {noun} is {chance:.0%}.")
            else:
                sentences.append(f"The overall probability of {noun} is {chance:.0%}.")
    return " ".join(sentences)


def joint_in_words(story: GraphStory, treated: Table, both: Table) -> str:
    """Return P(X = 1) and P(X = 0, Y = 1), P(X = 1, Y = 1) in words."""
    x, y = story.words[X], story.words[Y]
    return (
        f"The overall probability of {x.noun[1]} is {treated[0]:.0%}. "
        f"The probability of {x.noun[0]} and {y.noun[1]} is {both[0]:.0%}. "
        f"The probability of {x.noun[1]} and {y.noun[1]} is {both[1]:.0%}."
    )


def collider_in_words(story: GraphStory, correlation: float) -> str:
    """Return the correlation of X and Y among those whose common effect is there."""
    words = story.words
    return (
        f"For {words[story.graph.collider].where[1]}, the correlation between {words[X].noun[1]} and "
        f"{words[Y].noun[1]} is {correlation:.2f}."
    )


def methods_in_words(story: GraphStory, methods: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """Return two ways to look at data."""
    x, y = story.words[X].name, story.words[Y].name
    sentences = []
    for number, method in enumerate(methods, start=1):
        if not method:
            looked = f"We look directly at how {x} correlates with {y} in general."
        else:
            what = f"how {x} correlates with {y}" if number == 1 else "this correlation"
            names = " and ".join(story.words[node].name for node in method)
            looked = f"We look at {what} case by case according to {names}."
        sentences.append(f"Method {number}: {looked}")
    return " ".join(sentences)


def mechanisms_in_words(story: GraphStory, tables: Mapping[str, Table], ask: Ask) -> str:
    """Return a deterministic model in words, and what is observed."""
    graph, words = story.graph, story.words
    if graph.name == "chain":
        told = [
            f"{words[X].noun[1]} causes {words['V2'].noun[int(tables['V2'][1])]}, and we know that "
            f"{words['V2'].noun[1]} causes {words[Y].noun[int(tables[Y][1])]}."
        ]
    else:
        told = [f"{cause} causes {effect}." for cause, effect in _mechanisms(graph, words, tables)]
    sentences = [f"We know that {' '.join(told)}"]
    if ask.observed:
        sentences.append(f"We observed {' and '.join(words[node].sentence[value] for node, value in ask.observed)}.")
    return " ".join(sentences)


def _mechanisms(graph: Graph, words: Mapping[str, VariableWords], tables: Mapping[str, Table]) -> list[tuple[str, str]]:
    """Return causes and effect of each mechanism; effects of the same causes stand in one."""
    told: dict[str, list[str]] = {}
    for node in sorted(graph.nodes, key=lambda node: (node == Y, node != X, node)):
        if not (causes := graph.parents[node]):
            continue
        joiner = " and " if len(causes) > 1 and not any(tables[node][:-1]) else " or "
        cause = joiner.join(words[cause].noun[1] for cause in causes)
        value = int(tables[node][1]) if len(causes) == 1 else 1
        told.setdefault(cause, []).append(words[node].noun[value])
    return [(cause, " and ".join(effects)) for cause, effects in told.items()]


def _where(story: GraphStory, causes: tuple[str, ...], values: tuple[int, ...]) -> str:
    first, *others = zip(causes, values, strict=True)
    words = [story.words[first[0]].where[first[1]]]
    return " and ".join(words + [story.words[cause].partial[value] for cause, value in others])


Meaning = tuple[str, int]
"""A variable's name and its value."""


@cache
def _known() -> Mapping[str, tuple[VariableWords, ...]]:
    """Return the words of all stories by the name of the variable."""
    found: dict[str, dict[VariableWords, None]] = defaultdict(dict)
    for words in every_words():
        found[words.name][words] = None
    return {name: tuple(several) for name, several in found.items()}


class Phrases:
    """Phrases and what they may mean: one of a story's mistakes may be said of both values."""

    def __init__(self, names: tuple[str, ...], *parts: str) -> None:
        """Take the phrases that may stand for the variables of one text, of some parts of their words."""
        self._meanings: dict[str, set[Meaning]] = defaultdict(set)
        for name in names:
            for words in (*_known().get(name, ()), invented(name)):
                for value, phrase in (pair for part in parts for pair in enumerate(getattr(words, part))):
                    self._meanings[phrase].add((name, value))
        self._meanings.pop("", None)

    def one(self, text: str) -> Meaning:
        """Return what a phrase means. Raises UnreadableText for an unknown or ambiguous phrase."""
        meanings, _ = self.several(text)
        if len(meanings) != 1:
            raise UnreadableText(f"{text!r} is no value of its variables")
        return meanings[0]

    def several(self, text: str) -> tuple[list[Meaning], str]:
        """Return what phrases joined by "and" or "or" mean, and the joining word ("" for a single phrase)."""
        meanings, joiner, rest = [], "", text
        while found := self._first.match(rest):
            several = list(self._meanings[found["phrase"]])
            if len(several) > 1:
                raise UnreadableText(f"{found['phrase']!r} is said of more than one value")
            meanings += several
            if not found["joiner"]:
                return meanings, joiner
            joiner, rest = found["joiner"], rest[found.end() :]
        return [], ""

    @cached_property
    def _first(self) -> re.Pattern[str]:
        either = "|".join(map(re.escape, sorted(self._meanings, key=len, reverse=True)))
        return re.compile(f"(?P<phrase>{either})(?: (?P<joiner>and|or) |$)")


class Vocabulary(NamedTuple):
    """The phrases that may stand for the variables of one text."""

    nouns: Phrases
    """As in: the probability of …"""
    conditions: Phrases
    """As in: for …, the probability …"""
    sentences: Phrases
    """As in: we observed …"""


@cache
def vocabulary(names: tuple[str, ...]) -> Vocabulary:
    return Vocabulary(Phrases(names, "noun"), Phrases(names, "where", "partial"), Phrases(names, "sentence"))


def known_name(name: str, effects: Sequence[str], text: str) -> str:
    """Return a name that begins a sentence as it is written within one: with its first letter small where it is so."""
    small = name[:1].lower() + name[1:]
    if name in effects or small in effects:
        return name if name in effects else small
    within = re.search(rf"(?<![.:?] )(?<!^)\b{re.escape(small)}\b", text)
    return small if within or (small in _known() and name not in _known()) else name
