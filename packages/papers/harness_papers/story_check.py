"""Does a natural story tell its item? What is read of it is compared with the item, and worked out anew."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from harness.tasks.corr2cause.text import Hypothesis, Premise, follows
from harness.tasks.text_models import UnreadableText
from harness_papers.story_text import StoryReading, read, read_claim


@dataclass(frozen=True)
class Check:
    """What a story gets right of its item."""

    named: bool
    """The premise lists as many variables as the item has."""
    correlations: bool
    """The same pairs go together as in the item."""
    independences: bool
    """The same pairs are independent, given the same variables."""
    hypothesis: bool
    """The same relation, in the same direction."""
    closed: bool
    """It says that there is nothing else, or claims nothing that needs it: of more variables less follows."""
    read: bool
    """Every sentence is understood, and the hypothesis."""
    follows: bool
    """By the reasoner, from what the story says, as by the item's label; no problem of its own where others are."""

    @property
    def holds(self) -> bool:
        return not self.problems

    @property
    def problems(self) -> list[str]:
        return [name for name in self.__dataclass_fields__ if not getattr(self, name)]


def check(premise: str, hypothesis: str, *, item: Premise, claim: Hypothesis, label: int) -> Check:
    """Return what a story gets right of an item: its premise, its hypothesis and whether that follows."""
    story = read(premise)
    number = len(item.names)
    marginal = {(i, j) for i, j, condition in item.independences if not condition}
    own_claim = read_claim(hypothesis, story.names)
    named = len(story.names) == number
    correlations = named and story.correlated == frozenset(combinations(range(number), 2)) - marginal
    independences = named and story.independent == item.independences
    same_claim = named and own_claim is not None and _lettered(own_claim, story, item).canonical == claim.canonical
    return Check(
        named=named,
        correlations=correlations,
        independences=independences,
        hypothesis=same_claim,
        closed=story.closed or not label,
        read=bool(story.names) and not story.not_understood and own_claim is not None,
        follows=not (correlations and independences and same_claim) or _follows(story, own_claim) == bool(label),
    )


def _lettered(claim: Hypothesis, story: StoryReading, item: Premise) -> Hypothesis:
    i, j = (item.names[story.names.index(name)] for name in (claim.i, claim.j))
    return Hypothesis(claim.relation, i, j)


def _follows(story: StoryReading, claim: Hypothesis | None) -> bool | None:
    """Test by the reasoner whether a claim follows from a story; None where no graph fits what it says."""
    stated = story.correlated | {(i, j) for i, j, _ in story.independent}
    silent = tuple(pair for pair in combinations(range(len(story.names)), 2) if pair not in stated)
    try:
        return follows(Premise(story.names, story.independent, silent), claim) if claim is not None else None
    except UnreadableText:
        return None
