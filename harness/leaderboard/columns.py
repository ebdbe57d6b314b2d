"""The columns of numbers in a leaderboard (metrics, counts, what a run took), and what is said around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.errors import DataError
from harness.leaderboard.comparable import name_of, of_other_rules, telling_names
from harness.scoring.definitions import definition
from harness.scoring.grades import FIRM
from harness.storage.runs import Run
from harness.tables.numbers import (
    COUNTS,
    DERIVED,
    DERIVED_NOTES,
    Intervals,
    count_cell,
    count_text,
    count_title,
    counts_of,
    derived_cell,
    metric_column,
    score_cell,
)
from harness.tables.results import interval_notes, reading_notes
from harness.tables.table import Cell, Column
from harness.types import Scores

OF_RUNS: Mapping[str, str] = {
    "cost": "USD",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "seconds": "seconds",
    "served": "served as",
    "firm": "firm",
}
"""What a run took, and how it was read, by the names that metrics= has for it."""
OF_RUNS_NOTES = {
    "cost": "USD: what all answers of the run cost.",
    "tokens_in": "Tokens: of all answers of the run, by each model's own tokenizer.",
    "tokens_out": "Tokens: of all answers of the run, by each model's own tokenizer.",
    "seconds": "Seconds: how long an answer took in the mean, when it was asked (answers from the cache, too).",
    "served": "Served as: the models that the server's replies name.",
    "firm": "Firm: the share of the answers that stand in their form or are announced as answers.",
}
_UNREADABLE = (
    "Replies without an answer count as the wrong answer (where No is right, as a Yes) unless task.unreadable=no; "
    "failed calls are in no metric."
)


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: which number, of which group of which breakdown."""

    number: str
    breakdown: str = "overall"
    group: str = "all"

    def scores(self, run: Run) -> Scores | None:
        return run.result.scores[run.result.headline].get(self.breakdown, {}).get(self.group)

    @property
    def header(self) -> Column:
        """Return the column's headings, and which end of it is the good one."""
        overall = self.breakdown == "overall"
        name = self.number if overall else f"{self.number}/{self.breakdown}/{self.group}"
        title = definition(self.number).title + ("" if overall else f" {self.group}")
        if self.number in OF_RUNS:
            return Column(name, OF_RUNS[self.number], "text" if self.number == "served" else "count")
        if self.number in COUNTS:
            return Column(name, count_title(title), "count")
        return metric_column(name, self.number, title)

    def cell(self, run: Run, intervals: Intervals) -> Cell:
        """Return the number of a run as tables show it; a dash where it has none."""
        if self.number in OF_RUNS:
            return _cell_of_run(run, self.number)
        scores = self.scores(run)
        if self.number in DERIVED:
            return derived_cell(scores, self.number)
        if self.number in COUNTS:
            return Cell("–") if scores is None else count_cell(scores, self.number)
        return score_cell(scores, self.number, intervals)


def _cell_of_run(run: Run, name: str) -> Cell:
    """Return what a run took or how firm its answers are; a dash where nobody counted it."""
    usage = run.result.usage
    if name == "served":
        served = ", ".join(model for model in run.result.served_models if model)
        return Cell(served or "–", served or None)
    if name == "firm":
        total, firm = sum(run.result.grades.values()), sum(run.result.grades.get(grade, 0) for grade in FIRM)
        share = firm / total if total else 1.0
        return Cell(f"{share:.1%}", share)
    if name == "cost":
        return Cell("–") if run.usd is None else Cell(f"{run.usd:,.{2 if run.usd >= 1 else 4}f}", run.usd)
    if name == "seconds":
        seconds = _seconds(run)
        return Cell("–") if seconds is None else Cell(f"{seconds:.2f}", round(seconds, 6))
    tokens = usage.input if name == "tokens_in" else usage.output
    return Cell("–") if tokens is None else Cell(f"{tokens:,}", tokens)


def _seconds(run: Run) -> float | None:
    """Return how long an answer of a run took in the mean; None where the records are not there or do not say."""
    try:
        outcomes = [record.outcome for record in run.records()]
    except DataError:
        return None
    seconds = [taken for outcome in outcomes if (taken := getattr(outcome, "seconds", None))]
    return fmean(seconds) if seconds else None


_ONE = {"items": "item", "positives": "positive", "clusters": "cluster"}
_FAULTS = ("unreadable", "cut_off", "failed")


def constants(rows: Sequence[Scores], *, wanted: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the counts that are the same in all rows, and the words for them: 300 items, 50 positives; none failed.

    Those that somebody `wanted` as columns stay columns.
    """
    same = [name for name in COUNTS if name not in wanted and len({count_text(scores, name) for scores in rows}) == 1]
    sizes = [_count_words(rows[0], name) for name in same if name not in _FAULTS]
    counts = counts_of(rows)
    faults = [f"{_number(rows[0], name)} {count_title(name)}" for name in same if name in _FAULTS and name in counts]
    return same, [", ".join(part) for part in (sizes, faults) if part]


def _count_words(scores: Scores, name: str) -> str:
    text = count_text(scores, name)
    if name == "clusters" and (scores.unit or not scores.clusters):
        return text if scores.unit else "clusters not known"
    return f"{text} {_ONE.get(name, name) if text == '1' else name}"


def _number(scores: Scores, name: str) -> str:
    count = getattr(scores, name)
    return f"{count:,}" if count else "none"


def number_notes(runs: Sequence[Run], columns: Sequence[NumberColumn], intervals: Intervals) -> list[str]:
    """Return what the numbers of a table are: how intervals were made, and what derived columns hold."""
    scores = [scores for run in runs for column in columns if (scores := column.scores(run))]
    notes = [" ".join(interval_notes(scores))] if intervals != "none" else []
    about = {**DERIVED_NOTES, **OF_RUNS_NOTES}
    notes.append(" ".join(dict.fromkeys(about[column.number] for column in columns if column.number in about)))
    if {"unreadable", "failed"} <= {column.number for column in columns if column.breakdown == "overall"}:
        notes += [_UNREADABLE] if any(run.result.overall.unreadable for run in runs) else []
    else:
        notes += lost_notes([(" ".join(name_of(run, name) for name in telling_names(runs)), "", run) for run in runs])
    return [note for note in notes if note]


def lost_notes(named: Sequence[tuple[str, str, Run]]) -> list[str]:
    """Return how many replies of which runs stand behind no answer, where a table has no column for them.

    Runs have the names of their line and, of several in it, of their column.
    """
    notes = []
    for title, count in (("Unreadable replies", "unreadable"), ("Failed calls", "failed")):
        lost: dict[str, list[str]] = defaultdict(list)
        for line, column, run in named:
            if number := getattr(run.result.overall, count):
                lost[line].append(f"{column} {number:,}".strip())
        if lost:
            several = "; ".join(f"{line}: {', '.join(numbers)}" for line, numbers in lost.items())
            notes.append(f"{title}: {several}; of all others none.")
    return [" ".join(notes), _UNREADABLE] if notes else []


def about_runs(runs: Sequence[Run]) -> list[str]:
    """Return the footnotes that are about the runs of a table: what all of their results say, and of single ones."""
    said = [run.result.notes for run in runs if run.sound]
    shared = [note for note in (said or [()])[0] if len(said) > 1 and all(note in notes for notes in said)]
    return [*shared, *recorded_notes(runs), *readings_notes(runs), *of_other_rules(runs)]


def readings_notes(runs: Sequence[Run]) -> list[str]:
    """Return how replies of the ranked runs were read outside of their form, and by judges, with the run of each."""
    notes = [(run, note) for run in runs if run.sound for note in reading_notes(run.result)]
    return [f"{run.model}, {run.variant}, {run.prompt}: {note}" for run, note in notes]


def recorded_notes(runs: Sequence[Run]) -> list[str]:
    """Return by whom answers were recorded that are not of runs of this program, with the models of each."""
    models: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if run.sound and run.recorded:
            models[run.recorded].add(run.model)
    return [f"{', '.join(sorted(names))}: {note}" for note, names in models.items()]


def not_ranked(runs: Sequence[Run]) -> list[str]:
    """Return the sentences about runs that stand in no table, by name."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if not run.sound:
            reasons[_reason(run)].append(f"{run.variant}/{run.prompt}/{run.model}")
    return [reason.format(", ".join(names)) for reason, names in sorted(reasons.items())]


def _reason(run: Run) -> str:
    """Return the sentence about a run that is not ranked, {} for the names."""
    if run.trouble:
        way = "Its command makes it anew" + ("" if run.manifest else ", once the folder is moved away")
        return f"Not ranked, having {run.trouble}: {{}}. {way}."
    if run.complete and run.unanswered:
        return "Not ranked, as there is no answer (every call failed): {}."
    return "Not complete, so not ranked: {}."
