"""Tables of replies that argue about a premise of Corr2Cause: their claims, and where they break first."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from statistics import median

from harness.errors import ConfigError, DataError
from harness.plugins.steps.runs import called, judged_replies
from harness.plugins.steps.scores import MEASURES, PLACES, StepScores
from harness.runtime.progress import Progress
from harness.storage.runs import Run
from harness.tables.numbers import interval_text, percent_text
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tasks.corr2cause.task import ORDERS
from harness.types import Metric, Scores

TRACE = "trace"
"""The prompt that asks for claims."""
DEFAULT_BY = ("relation", "num_nodes")
Scored = Sequence[tuple[Run, StepScores]]


def scored_runs(runs: Sequence[Run], trust: Collection[str]) -> Scored:
    """Return the judged replies of each run; those that argue nowhere, and were not asked to, are left out.

    Raises DataError if all are so.
    """
    scored: list[tuple[Run, StepScores]] = []
    problems: list[DataError] = []
    for run in runs:
        scores = StepScores()
        try:
            for reply in Progress(f"steps of {run.model}").watch(judged_replies(run, trust), ()):
                scores.add(reply)
        except DataError as error:
            problems.append(error)
            continue
        if scores.steps or (scores.replies and run.prompt == TRACE):
            scored.append((run, scores))
    if not scored:
        raise (
            problems[0]
            if problems
            else DataError(f"no reply of these runs has claims that can be read: prompt={TRACE} asks for some.")
        )
    for problem in problems:
        print(f"Left out: {problem}", file=sys.stderr)
    return scored


def told_tables(scored: Scored, by: Sequence[str] | None) -> list[Part]:
    """Return how the claims of each run fare, what nothing can be said of, and where replies break first.

    Raises ConfigError for a breakdown that no reply has.
    """
    return [_verdicts(scored), *_remarks(scored), _breaks(scored, by)]


def told_shares(scored: Scored) -> dict[str, list[float]]:
    """Return of each run how many of its replies with claims break first at each of PLACES, as shares."""
    overall = {_name(run, scored): _overall(scores) for run, scores in scored}
    return {name: [row[f"at {place}"] or 0 for place in PLACES] for name, row in overall.items()}


def _overall(scores: StepScores) -> Scores:
    return scores.scores({})["overall"]["all"]


def _name(run: Run, scored: Scored) -> str:
    return called(run, [other for other, _ in scored])


def _verdicts(scored: Scored) -> Table:
    """Return a row for each run: how much of its replies could be read, and how its claims fare."""
    columns = [
        Column("run", "run"),
        Column("replies", "replies", "count"),
        Column("steps", "steps", "count"),
        *(Column(name, title, "metric", over=_OVER.get(name, "")) for name, title in MEASURES.items()),
    ]
    lines = []
    for run, scores in scored:
        row = _overall(scores)
        counts = [Cell(f"{number:,}", number) for number in (scores.replies, scores.steps)]
        metrics = [_cell(row.metric(name)) for name in MEASURES]
        lines.append(Line([Cell(_name(run, scored)), *counts, *metrics], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading="Steps", notes=[_NOTE], spare=("right", "read", "argued"))


_OVER = dict.fromkeys(("entailed", "open", "refuted", "leaps"), "of the steps")
_NOTE = (
    "Shares in percent, means over replies, with 95% intervals over premises. Entailed, open and refuted are of all "
    "steps, leaps of those that name what they rest on. Right, chain unsound: of right answers with steps, those with "
    "a step that the premise does not entail. Sound chain, wrong answer: of chains that it entails throughout."
)


def _breaks(scored: Scored, by: Sequence[str] | None) -> Table:
    """Return where replies break first, overall and in each group of the breakdowns, run by run."""
    columns = [
        Column("run", "run"),
        Column("group", "group"),
        Column("items", "replies with steps", "count"),
        *(Column(f"at {name}", title, "metric", over="breaks first at") for name, title in PLACES.items()),
    ]
    known = {name for _, scores in scored for row in scores.rows for name, _ in row.groups}
    if unknown_names := [name for name in by or () if name not in known]:
        raise ConfigError(f"by={unknown_names[0]}: the replies have the breakdowns {', '.join(sorted(known))}.")
    lines: list[Line] = []
    for run, scores in scored:
        orders = {name: ORDERS.get(name) or scores.groups_of(name) for name in (DEFAULT_BY if by is None else by)}
        for breakdown, groups in scores.scores(orders).items():
            for group, row in groups.items():
                title = "all" if breakdown == "overall" else f"{breakdown.replace('_', ' ')} {group}"
                lines.append(_break_line(run, _name(run, scored), title, row))
    return Table(columns=columns, lines=lines, heading="Where it breaks first", notes=[_BREAKS_NOTE])


def _break_line(run: Run, name: str, title: str, row: Scores) -> Line:
    argued = row["argued"] or 0
    count = round(argued * row.items)
    cells = [_cell(row.metric(f"at {place}")) for place in PLACES]
    return Line([Cell(name), Cell(title), Cell(f"{count:,}", count), *cells], run=run.place, ranked=False)


_BREAKS_NOTE = (
    "Of the replies with steps: the kind of the first claim that the premise does not entail; last line: all claims "
    "are entailed and the answer is wrong; nowhere: neither."
)


def _cell(metric: Metric | None) -> Cell:
    if metric is None:
        return Cell("–")
    return Cell(percent_text(metric.value), metric.value, metric.interval, interval_text(metric.interval, "brackets"))


def _remarks(scored: Scored) -> Iterator[str]:
    """Yield a sentence for each run: its first broken claims, and what nothing can be said of."""
    for run, scores in scored:
        sentence = f"{_name(run, scored)}:"
        if scores.places:
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in scores.first.most_common(4))
            sentence += f" the first claim that is not entailed is mostly claim {median(scores.places):g}: {kinds}."
        else:
            sentence += " no claim is open or refuted."
        others = {name: count for name, count in scores.supports.items() if name not in ("follows", "leap")}
        if others:
            counts = ", ".join(f"{name} {count:,}" for name, count in sorted(others.items()))
            sentence += f" Neither following nor a leap: {counts}."
        if scores.unknown:
            sentence += f" Lines about variables that are not there, or about one twice: {scores.unknown:,}."
        yield sentence
