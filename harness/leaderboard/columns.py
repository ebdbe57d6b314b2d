"""The columns of numbers in a leaderboard (metrics, counts, what a run took), and what is said around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.leaderboard.comparable import name_of, of_other_rules, telling_names
from harness.scoring.grades import FIRM
from harness.storage.runs import Run
from harness.tables.numbers import COUNTS, YES, YES_NOTE, count_text, counts_of, number_cell, number_column
from harness.tables.results import interval_notes, reading_notes
from harness.tables.table import Cell, Column
from harness.types import Scores

_TOKENS = "Tokens: of all answers of the run, by each model's own tokenizer."
OF_RUNS: Mapping[str, tuple[str, str]] = {
    "cost": ("USD", "USD: what all answers of the run cost."),
    "tokens_in": ("tokens in", _TOKENS),
    "tokens_out": ("tokens out", _TOKENS),
    "firm": ("firm", "Firm: the share of the answers that stand in their form or are announced as answers."),
}
"""What a run took and how it was read, by the names that metrics= has for it: titles and notes."""
_NOTES = {YES: YES_NOTE} | {name: note for name, (_, note) in OF_RUNS.items()}
_FAULTS = ("unreadable", "cut_off", "failed")
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
        if self.number in OF_RUNS:
            return Column(self.number, OF_RUNS[self.number][0], "count")
        if self.breakdown == "overall":
            return number_column(self.number)
        return number_column(self.number, f"{self.number}/{self.breakdown}/{self.group}", f" {self.group}")

    def cell(self, run: Run, *, interval: bool) -> Cell:
        """Return the number of a run as tables show it; a dash where it has none."""
        if self.number not in OF_RUNS:
            return number_cell(self.scores(run), self.number, interval=interval)
        if self.number == "firm":
            total, firm = sum(run.result.grades.values()), sum(run.result.grades.get(grade, 0) for grade in FIRM)
            share = firm / total if total else 1.0
            return Cell(f"{share:.1%}", share)
        if self.number == "cost":
            return Cell("–") if run.usd is None else Cell(f"{run.usd:,.{2 if run.usd >= 1 else 4}f}", run.usd)
        tokens = run.result.usage.input if self.number == "tokens_in" else run.result.usage.output
        return Cell("–") if tokens is None else Cell(f"{tokens:,}", tokens)


def constants(rows: Sequence[Scores], *, wanted: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the counts that are the same in all rows, and the words for them: 300 items, 50 positives; none failed.

    Those that somebody `wanted` as columns stay columns.
    """
    same = [name for name in COUNTS if name not in wanted and len({count_text(scores, name) for scores in rows}) == 1]
    sizes, faults = [], []
    for name in same:
        text = count_text(rows[0], name)
        if name in _FAULTS:
            title = number_column(name).title
            faults += [f"{'none' if text == '0' else text} {title}"] if name in counts_of(rows) else []
        elif name == "clusters" and rows[0].unit:
            sizes.append(text)
        elif name == "clusters" and not rows[0].clusters:
            sizes.append("clusters not known")
        else:
            sizes.append(f"{text} {name.removesuffix('s') if text == '1' else name}")
    return same, [", ".join(part) for part in (sizes, faults) if part]


def interval_note(rows: Iterable[Scores]) -> list[str]:
    """Return how the intervals of some rows were made, as one paragraph; nothing where there are none."""
    return [note] if (note := " ".join(interval_notes(rows))) else []


def number_notes(runs: Sequence[Run], columns: Sequence[NumberColumn]) -> list[str]:
    """Return what columns hold that are no metrics, and what is lost of the runs or how it counts."""
    held = " ".join(dict.fromkeys(_NOTES[column.number] for column in columns if column.number in _NOTES))
    if {"unreadable", "failed"} <= {column.number for column in columns if column.breakdown == "overall"}:
        lost = [_UNREADABLE] if any(run.result.overall.unreadable for run in runs) else []
    else:
        lost = lost_notes([(" ".join(name_of(run, name) for name in telling_names(runs)), "", run) for run in runs])
    return [*filter(None, [held]), *lost]


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
    """Return the footnotes on a table's runs: what all of their results say, and who recorded and how one was read."""
    said = [run.result.notes for run in runs]
    notes = [note for note in (said or [()])[0] if len(said) > 1 and all(note in other for other in said)]
    recorded: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if run.recorded:
            recorded[run.recorded].add(run.model)
    notes += [f"{', '.join(sorted(names))}: {note}" for note, names in recorded.items()]
    readings = [(run, note) for run in runs for note in reading_notes(run.result)]
    notes += [f"{run.model}, {run.variant}, {run.prompt}: {note}" for run, note in readings]
    return [*notes, *of_other_rules(runs)]


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
