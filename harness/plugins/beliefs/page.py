"""The class nearest to a model's answers about a premise, drawn beside the true one, on the page of each of its items.

Only of runs with task.whole=true, which ask all hypotheses of a premise: it takes a look at all labelled classes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.causal.relations import Relation
from harness.causal.sheets import marks
from harness.plugins.beliefs import classes
from harness.plugins.beliefs.belief import Belief
from harness.plugins.beliefs.classes import Premise, nearest_graphs, records_of, true_graph
from harness.report.sections import Edge, Picture, Section
from harness.storage.record_lines import Line, turns
from harness.storage.runs import Run
from harness.tasks.corr2cause.text import LETTERS, Hypothesis, read_question
from harness.tasks.text_reasoner import UnreadableText

LEAST, SHUFFLES, SEED = 0.5, 100, 0
"""As `harness beliefs` has them by default."""
TITLE = "The world that its answers fit"


def sections(run: Run) -> Iterator[tuple[str, int, Section]]:
    """Yield what the answers of a run with task.whole=true come to, for each item about a premise."""
    if run.place["task"].partition("/")[0] != "corr2cause" or not run.settings.get("whole") or not run.complete:
        return
    believed = classes.believe(records_of(run), least=LEAST, number=SHUFFLES, seed=SEED)
    premises = {premise.name: premise for premise in classes.premises(records_of(run), believed)}
    lines: dict[str, list[Line]] = {}
    for line in run.lines():
        lines.setdefault("-".join(line["item"].split("-")[:2]), []).append(line)
    for belief in believed.beliefs:
        section = _section(belief, premises[belief.name], names_of(belief.size, lines[belief.name]))
        yield from ((line["item"], line["sample"], section) for line in lines[belief.name])


def _section(belief: Belief, premise: Premise, names: Names) -> Section:
    if belief.shuffled is None:
        return Section(TITLE, "Each relation has one answer throughout: that fits many worlds, and tells of none.")
    true, nearest = true_graph(premise), nearest_graphs(premise)
    note = (
        f"{belief.answers} hypotheses answered; {belief.flips} to flip until all fit a world; the same answers "
        f"shuffled among the questions of one relation need {belief.shuffled:.1f}."
    )
    if len(nearest) > 1:
        note += f" {len(nearest):,} classes are as near; drawn is the one nearest to the true class."
    there = set(marks(premise.n, true))
    off = {(i, j) for i, j, mark in marks(premise.n, nearest[0]) if (i, j, mark) not in there}
    return Section(
        TITLE,
        note,
        pictures=(
            _picture("The true class", true, names, off),
            _picture(f"The nearest to its answers, {len(off)} pairs off", nearest[0], names, off),
        ),
    )


def _picture(caption: str, graph: int, names: Names, off: Collection[Edge]) -> Picture:
    """Return an essential graph, with the pairs marked in which the two differ."""
    arrows, lines, marked = list[Edge](), list[Edge](), list[Edge]()
    for i, j, mark in marks(len(names.listed), graph):
        if mark:
            edge = (names.place[j], names.place[i]) if mark == "←" else (names.place[i], names.place[j])
            (lines if mark == "–" else arrows).append(edge)
            marked += [edge] * ((i, j) in off)
    return Picture(caption, names.listed, tuple(arrows), tuple(lines), tuple(marked))


class Names(NamedTuple):
    """What the nodes of a class are called in questions."""

    listed: tuple[str, ...]
    """In the order of the premise."""
    place: Sequence[int]
    """Of each node, where its name stands there."""


def names_of(n: int, lines: Iterable[Line]) -> Names:
    """Return what each node is called in the questions about a premise; the letters of the items' ids if none says.

    A claim of cause and effect is the same in an item's id and in its words, whichever way round both have it.
    """
    names: dict[int, str] = {}
    for line in lines:
        asked = [turn["content"] for turn in turns(line) if turn["role"] == "user"]
        relation, i, j = line["item"].partition("/")[0].split("-")[2:]
        if not asked or relation in (Relation.COLLIDER, Relation.CONFOUNDER):
            continue
        try:
            premise, hypothesis = read_question(asked[-1])
        except UnreadableText:
            continue
        said = hypothesis.canonical
        ends = Hypothesis(Relation(relation), i, j).canonical
        names |= {LETTERS.index(ends.i): said.i, LETTERS.index(ends.j): said.j}
        if len(names) == n:
            return Names(premise.names, [premise.names.index(names[node]) for node in range(n)])
    return Names(LETTERS[:n], range(n))
