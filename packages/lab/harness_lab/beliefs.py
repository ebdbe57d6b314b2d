"""The world that a model's answers about one premise fit: the nearest equivalence class, of all labelled ones.

The fewest answers to flip until all of them are those of some world say nothing by themselves: one that always says No
needs none, and one that seldom says Yes needs few. So they stand beside the flips of the same answers shuffled among
the questions of one relation about the same premise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.errors import DataError
from harness.scoring.intervals import ClusterSums, fraction, ratio_intervals
from harness.scoring.samples import votes
from harness.storage.runs import Run
from harness.tasks.corr2cause.text import LETTERS
from harness.types import Record
from harness_lab.sheets import LARGEST, Claim, canonical, essential_graph, hamming, packed, places, sheet, sheets

_ID = re.compile(rf"n(\d\d?)-g(\d{{1,20}})-({'|'.join(Relation)})-([A-Z])-([A-Z])")


@dataclass(frozen=True)
class Belief:
    """A premise, the answers to it and the nearest world."""

    premise: str
    answers: int
    yes: int
    flips: int
    """The fewest answers to change until all are those of one world."""
    shuffled: float | None
    """The mean of that over shuffles; None where every relation has one answer, so that no shuffle changes any."""
    nearest: int
    """How many worlds are so near."""
    answers_off: float
    """Answers of the nearest world that are not those of the true one, of all claims; the mean over the nearest."""
    graph_off: float
    """The structural Hamming distance of its graph from the true one; the mean over the nearest."""


@dataclass
class Believed:
    """The beliefs of one run, and what is left out of them."""

    beliefs: list[Belief] = field(default_factory=list)
    unread: int = 0
    """Answers that could not be read, and calls that failed."""
    contradicting: int = 0
    """Claims that were asked more than once and answered with both."""
    too_few: int = 0
    """Premises with fewer answers than asked for."""
    too_large: int = 0
    """Premises whose worlds are too many to look through."""


@dataclass
class Premise:
    """What a model answered about one premise; nodes as the class's representative has them."""

    n: int
    number: int
    answers: dict[Claim, tuple[Relation, set[int]]] = field(default_factory=dict)
    """By meaning: the relation that the first question named, and all answers that could be read."""

    @property
    def name(self) -> str:
        return f"n{self.n}-g{self.number}"

    @property
    def settled(self) -> dict[Claim, tuple[Relation, bool]]:
        """The claims with one answer."""
        return {claim: (relation, 1 in of) for claim, (relation, of) in self.answers.items() if len(of) == 1}


def premises(records: Iterable[Record], believed: Believed) -> list[Premise]:
    """Return the premises that records are about, by the ids of their items; count in `believed` what is unread."""
    by_name: dict[tuple[int, int], Premise] = {}
    for record in records:
        if (match := _ID.fullmatch(record.item)) is None:
            raise DataError(f"the item {record.item} names no equivalence class.")
        n, number, relation = int(match[1]), int(match[2]), Relation(match[3])
        premise = by_name.setdefault((n, number), Premise(n, number))
        if record.answer is None or record.answer.label is None:
            believed.unread += 1
            continue
        claim = canonical(relation, LETTERS.index(match[4]), LETTERS.index(match[5]))
        premise.answers.setdefault(claim, (relation, set()))[1].add(record.answer.label)
    return list(by_name.values())


def records_of(run: Run) -> Iterable[Record]:
    """Return a record for each item, the vote where it has several answers. Raises DataError for a run without them."""
    if not run.complete:
        raise DataError(f"{run.folder} holds a run that is not complete: start its command again, which goes on.")
    return votes(run.records(), run.samples)


def believe(records: Iterable[Record], *, least: float, number: int, seed: int) -> Believed:
    """Return the belief about each premise that has the share `least` of its claims answered; `number` shuffles."""
    believed = Believed()
    for premise in premises(records, believed):
        if not 2 <= premise.n <= LARGEST:
            believed.too_large += 1
            continue
        settled = premise.settled
        believed.contradicting += len(premise.answers) - len(settled)
        if len(settled) < max(1, least * len(places(premise.n))):
            believed.too_few += 1
        else:
            believed.beliefs.append(_belief(premise, settled, number, seed))
    return believed


def _belief(premise: Premise, settled: dict[Claim, tuple[Relation, bool]], number: int, seed: int) -> Belief:
    n, all_sheets, claims = premise.n, sheets(premise.n), list(settled)
    answers = np.array([yes for _, yes in settled.values()], np.bool_)
    asked = _words(n, claims, np.ones((1, len(claims)), np.bool_))[0]
    flips, nearest = all_sheets.nearest(_words(n, claims, answers[None])[0], asked)
    rows = shuffles(answers, [relation for relation, _ in settled.values()], number, (seed, n, premise.number))
    of_sheet, graphs = all_sheets.classes(nearest)
    true_sheet, true_graph = _truth(n, premise.number)
    return Belief(
        premise=premise.name,
        answers=len(claims),
        yes=int(answers.sum()),
        flips=flips,
        shuffled=None if rows is None else float(all_sheets.flips(_words(n, claims, rows), asked).mean()),
        nearest=len(graphs),
        answers_off=float(all_sheets.apart(of_sheet, true_sheet).mean()),
        graph_off=float(hamming(n, graphs, true_graph).mean()),
    )


def nearest_graphs(premise: Premise) -> list[int]:
    """Return the essential graphs of the classes nearest to the answers, those nearest to the true one first."""
    claims, n = list(premise.settled), premise.n
    answers = np.array([[yes for _, yes in premise.settled.values()]], np.bool_)
    asked = _words(n, claims, np.ones_like(answers))[0]
    _, chosen = sheets(n).nearest(_words(n, claims, answers)[0], asked)
    _, graphs = sheets(n).classes(chosen)
    return [int(graph) for graph in graphs[np.lexsort((graphs, hamming(n, graphs, true_graph(premise))))]]


def true_graph(premise: Premise) -> int:
    return _truth(premise.n, premise.number)[1]


def _words(n: int, claims: Sequence[Claim], answers: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of answers to some claims, every other bit 0."""
    where = places(n)
    every = np.zeros((len(answers), len(where)), np.bool_)
    every[:, [where[claim] for claim in claims]] = answers
    return packed(every)


@cache
def _truth(n: int, number: int) -> tuple[NDArray[np.uint64], int]:
    """Return the sheet and the essential graph of the class that a number stands for."""
    dag = from_integer(n, number)
    return packed(sheet(dag)[None])[0], essential_graph(dag)


def shuffles(
    answers: NDArray[np.bool_], groups: Sequence[str], number: int, key: Sequence[int]
) -> NDArray[np.bool_] | None:
    """Return rows of the answers, shuffled within each group; None where no shuffle changes any. `key` is the seed."""
    rows, random, varied = np.tile(answers, (number, 1)), np.random.default_rng(list(key)), False
    for group in sorted(set(groups)):
        among = [k for k, name in enumerate(groups) if name == group]
        if answers[among].any() and not answers[among].all():
            varied = True
            rows[:, among] = random.permuted(rows[:, among], axis=1)
    return rows if varied else None


@dataclass(frozen=True)
class Coherence:
    """Means over the beliefs that have something to compare with."""

    premises: int
    answers: float
    flips: float
    shuffled: float
    ratio: float | None
    """Shuffled over own flips; infinite where there are no own ones, None where there are none of either."""
    interval: tuple[float, float] | None
    """95%, whole premises drawn."""
    nearest: float
    answers_off: float
    graph_off: float


def coherence(beliefs: Sequence[Belief]) -> Coherence | None:
    """Return the means; None where no belief has shuffles to compare with."""
    compared = [(belief, belief.shuffled) for belief in beliefs if belief.shuffled is not None]
    if not compared:
        return None
    flips, shuffled = fmean(belief.flips for belief, _ in compared), fmean(value for _, value in compared)
    return Coherence(
        premises=len(compared),
        answers=fmean(belief.answers for belief, _ in compared),
        flips=flips,
        shuffled=shuffled,
        ratio=_over(shuffled, flips) if shuffled or flips else None,
        interval=_interval([(belief.flips, value) for belief, value in compared]),
        nearest=fmean(belief.nearest for belief, _ in compared),
        answers_off=fmean(belief.answers_off for belief, _ in compared),
        graph_off=fmean(belief.graph_off for belief, _ in compared),
    )


def _over(shuffled: float, flips: float) -> float:
    return shuffled / flips if flips else inf


def _interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the ends of the ratio: those of own over shuffled flips, which is never infinite, turned over."""
    [estimates] = ratio_intervals([ClusterSums(np.array(pairs, np.float64), {"ratio": fraction(0, 1)})])
    ends = estimates["ratio"].interval
    return (_over(1, ends[1]), _over(1, ends[0])) if ends and np.isfinite(ends).all() else None
