"""Replies to CausalBench's chains of causes: which link of the chain a reply says wrongly first.

The premise says that A causes B, B causes C, and so on, and that is all there is: a variable causes what the links lead
to, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from harness.causal.statements import Kind, Statement
from harness.plugins.steps.runs import questions_of
from harness.plugins.steps.traces import Step, read
from harness.scoring.means import MeanRow, MeanTally
from harness.storage.runs import Run
from harness.types import Record, Response, Scores

CHAINS = "causalbench/cot"
"""The task."""
Fault = Literal["turned", "invented", "denied"]
PLACES: Mapping[str, str] = {
    "turned": "a link turned round",
    "invented": "a link that is not there",
    "denied": "a link denied",
    "last": "last line",
    "nowhere": "nowhere",
}
"""Where a reply with claims breaks first: at the first that is wrong, by what is wrong with it, at the answer after
right claims, or nowhere."""
MEASURES: Mapping[str, str] = {
    "argued": "replies with claims",
    "sound": "claims right",
    "links": "links said",
    "right": "right answers",
    "right_unsound": "right, claims wrong",
    "sound_wrong": "claims right, wrong answer",
}
"""Each is one number of a reply, undefined where it has nothing of the kind; their titles. `links` is the share of the
chain's own links that the reply says."""
_PREMISE = re.compile(r"\bIf (.+?), does [A-Z] cause [A-Z]\?")
_LINK = re.compile(r"\b([A-Z]) causes ([A-Z])\b")


@dataclass(frozen=True)
class Links:
    """The links of a chain, as (cause, effect)."""

    links: frozenset[tuple[str, str]]

    @classmethod
    def read(cls, words: str) -> Links:
        """Return the links that a premise says, or the premise of the question in a text."""
        premise = question[1] if (question := _PREMISE.search(words)) else words
        return cls(frozenset((match[1], match[2]) for match in _LINK.finditer(premise)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({name for link in self.links for name in link}))

    @cached_property
    def ways(self) -> frozenset[tuple[str, str]]:
        """Which variable the links lead to from which."""
        ways = set(self.links)
        while more := {(a, d) for a, b in ways for c, d in self.links if b == c} - ways:
            ways |= more
        return frozenset(ways)

    def ends(self, statement: Statement) -> tuple[str, str] | None:
        """Return cause and effect of a claim; None for one that is about neither, or that something is open."""
        if statement.kind not in (Kind.CAUSE, Kind.PARENT) or statement.open:
            return None
        return self.names[statement.nodes[0]], self.names[statement.nodes[1]]

    def fault(self, statement: Statement) -> Fault | None:
        """Return what is wrong with a claim; None where it is right.

        An arrow may stand for a way of several links: that A directly causes C is taken as right where some way leads
        there, and its denial where no single link does.
        """
        if (ends := self.ends(statement)) is None:
            return None
        if statement.denied:
            return "denied" if ends in (self.links if statement.kind is Kind.PARENT else self.ways) else None
        if ends in self.ways:
            return None
        return "turned" if ends[::-1] in self.ways else "invented"


@dataclass(frozen=True)
class JudgedChain:
    """The claims of a reply about causes, in its order."""

    links: Links
    claims: tuple[Step, ...]
    right: bool
    """Whether its answer is."""

    @property
    def broken(self) -> int | None:
        """The place of the first claim that is wrong."""
        return next((k for k, step in enumerate(self.claims) if self.links.fault(step.statement)), None)

    @property
    def place(self) -> str | None:
        """Where it breaks first, by PLACES; None for a reply without claims."""
        if not self.claims:
            return None
        if self.broken is not None:
            return self.links.fault(self.claims[self.broken].statement)
        return "nowhere" if self.right else "last"


def judge_chain(reply: str, words: str, *, right: bool) -> JudgedChain:
    """Return the claims of a reply to a question, whose premise says the links."""
    links = Links.read(words)
    claims = [step for step in read(reply, links.names).steps if links.ends(step.statement)]
    return JudgedChain(links, tuple(claims), right)


def judged_chains(run: Run, trust: Collection[str] = ()) -> Iterator[tuple[Record, JudgedChain]]:
    """Yield the replies of a run that are in words; failed calls have none. Raises DataError as `questions_of` does."""
    questions = questions_of(run, trust)
    for record in run.records():
        if isinstance(record.outcome, Response) and record.outcome.logprobs is None and record.answer is not None:
            right = record.answer.label == record.labels[run.result.headline]
            yield record, judge_chain(record.outcome.text, questions[record.item].premise, right=right)


def values_of(judged: JudgedChain) -> dict[str, float | None]:
    """Return every measure of a reply, and by "at …" where it breaks first."""
    claims, place, links = judged.claims, judged.place, judged.links
    wrong = sum(links.fault(step.statement) is not None for step in claims)
    said = {links.ends(step.statement) for step in claims if not step.statement.denied}
    sound = bool(claims) and not wrong
    return {
        "argued": float(bool(claims)),
        "sound": 1 - wrong / len(claims) if claims else None,
        "links": len(links.links & said) / len(links.links) if claims else None,
        "right": float(judged.right),
        "right_unsound": float(bool(wrong)) if claims and judged.right else None,
        "sound_wrong": float(not judged.right) if sound else None,
        **{f"at {name}": None if place is None else float(place == name) for name in PLACES},
    }


def chain_scores(
    replies: Sequence[tuple[Record, JudgedChain]], orders: Mapping[str, Sequence[str]]
) -> Mapping[str, Mapping[str, Scores]]:
    """Return breakdown → group → the mean of each measure."""
    rows = [
        MeanRow(record.cluster, record.unit, tuple(record.groups.items()), False, "read", values_of(judged))
        for record, judged in replies
    ]
    return MeanTally([*MEASURES, *(f"at {name}" for name in PLACES)], rows).scores(orders)
