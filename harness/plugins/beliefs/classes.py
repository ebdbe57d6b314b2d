"""The equivalence class nearest to a model's answers about one premise of Corr2Cause, of all labelled ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.causal.sheets import LARGEST, Claim, canonical, essential_graph, hamming, packed, places, sheet, sheets
from harness.errors import DataError
from harness.plugins.beliefs.belief import Belief, Believed, shuffles
from harness.scoring.samples import votes
from harness.storage.runs import Run
from harness.tasks.corr2cause.text import LETTERS
from harness.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ID = re.compile(rf"n(\d\d?)-g(\d{{1,20}})-({'|'.join(Relation)})-([A-Z])-([A-Z])(?:/\w+)?")


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
    """Return the premises that records are about, by the ids of their items; note in `believed` what tells nothing."""
    by_name: dict[tuple[int, int], Premise] = {}
    for record in records:
        match = _ID.fullmatch(record.item)
        if match is None:
            believed.unknown += 1
            continue
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
    import numpy as np

    n, all_sheets = premise.n, sheets(premise.n)
    claims = list(settled)
    answers = np.array([yes for _, yes in settled.values()], np.bool_)
    asked = _words(n, claims, np.ones((1, len(claims)), np.bool_))[0]
    flips, nearest = all_sheets.nearest(_words(n, claims, answers[None])[0], asked)
    rows = shuffles(answers, [relation for relation, _ in settled.values()], number, (seed, n, premise.number))
    of_sheet, graphs = all_sheets.classes(nearest)
    true_sheet, true_graph = _truth(n, premise.number)
    return Belief(
        name=premise.name,
        size=n,
        group="",
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
    import numpy as np

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
    import numpy as np

    where = places(n)
    every = np.zeros((len(answers), len(where)), np.bool_)
    every[:, [where[claim] for claim in claims]] = answers
    return packed(every)


@cache
def _truth(n: int, number: int) -> tuple[NDArray[np.uint64], int]:
    """Return the sheet and the essential graph of the class that a number stands for."""
    dag = from_integer(n, number)
    return packed(sheet(dag)[None])[0], essential_graph(dag)
