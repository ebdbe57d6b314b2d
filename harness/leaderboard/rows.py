"""The rows of tables of runs, their columns of numbers (metrics, counts, what a run took), and what is said of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.leaderboard.comparable import runs_text
from harness.prompting.reading import other_rules_note
from harness.scoring.grades import FIRM
from harness.storage.runs import Run
from harness.tables.numbers import (
    COUNTS,
    YES,
    YES_NOTE,
    count_text,
    counts_of,
    even_decimals,
    number_cell,
    number_column,
)
from harness.tables.results import interval_notes, reading_notes
from harness.tables.table import Cell, Column, Line, Table
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
class Row:
    """A row of any table of runs: what it is called, and its runs, one or several side by side."""

    names: Mapping[str, str]
    """Model, prompt, variant and folder, empty where it has none of its own; and what else programs tell it by."""
    runs: Mapping[str, Run]
    """By what stands above their columns (a task, or a setting's value), or "" for its only one."""

    @classmethod
    def of(cls, run: Run) -> Row:
        names = {"model": run.model, "prompt": run.prompt, "variant": run.variant, "folder": run.source}
        return cls(names, {"": run})

    @property
    def first(self) -> Run:
        return next(iter(self.runs.values()))


Body = Sequence[tuple[Column, Sequence[Cell]]]
"""Columns of numbers, each with the cells of all rows."""


def telling_names(rows: Sequence[Row]) -> list[str]:
    """Return the names that tell rows apart, the model first; the folder where the others do not."""
    known = [name for name in ("model", "prompt", "variant") if any(row.names.get(name) for row in rows)]
    told = [name for name in known if name == "model" or len({row.names[name] for row in rows}) > 1] or known[:1]
    apart = len({tuple(row.names[name] for name in told) for row in rows}) == len(rows)
    return told if apart or not any(row.names.get("folder") for row in rows) else [*told, "folder"]


def shared_names(rows: Sequence[Row], *names: str) -> list[str]:
    """Return what stands in no column, being the same in all rows, in words: prompt plain."""
    told = telling_names(rows)
    return [f"{name} {rows[0].names[name]}" for name in names if name not in told and rows[0].names[name]]


def table(task: str, rows: Sequence[Row], body: Body, **parts: Any) -> Table:
    """Return the table of some rows: names and then numbers; `parts` are what is said around it."""
    names, lines = telling_names(rows), []
    for at, row in enumerate(rows):
        cells = [*(Cell(row.names[name], row.names[name]) for name in names), *(cells[at] for _, cells in body)]
        place = {name: text for name, text in row.names.items() if text}
        lines.append(Line(cells, run=place, ranked=row.first.ranked))
    columns = [*(Column(name, name) for name in names), *(column for column, _ in body)]
    return Table(task, columns, even_decimals(columns, lines), **parts)


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
        elif name == "clusters" and (rows[0].unit or not rows[0].clusters):
            sizes.append(text if rows[0].unit else "clusters not known")
        else:
            sizes.append(f"{text} {name.removesuffix('s') if text == '1' else name}")
    return same, [", ".join(part) for part in (sizes, faults) if part]


def interval_note(rows: Iterable[Scores]) -> list[str]:
    """Return how the intervals of some rows were made, as one paragraph; nothing where there are none."""
    return [note] if (note := " ".join(interval_notes(rows))) else []


def number_notes(rows: Sequence[Row], columns: Sequence[NumberColumn]) -> list[str]:
    """Return what columns hold that are no metrics, and what is lost of the runs or how it counts."""
    held = " ".join(dict.fromkeys(_NOTES[column.number] for column in columns if column.number in _NOTES))
    lost = lost_notes(rows)
    if {"unreadable", "failed"} <= {column.number for column in columns if column.breakdown == "overall"}:
        lost = [_UNREADABLE] if any(row.first.result.overall.unreadable for row in rows) else []
    return [*filter(None, [held]), *lost]


def lost_notes(rows: Sequence[Row]) -> list[str]:
    """Return how many replies of which runs stand behind no answer, where a table has no column for them."""
    notes, names = [], telling_names(rows)
    for title, count in (("Unreadable replies", "unreadable"), ("Failed calls", "failed")):
        several = []
        for row in rows:
            numbers = {step: getattr(run.result.overall, count) for step, run in row.runs.items()}
            if lost := ", ".join(f"{step} {number:,}".strip() for step, number in numbers.items() if number):
                several.append(f"{' '.join(row.names[name] for name in names)}: {lost}")
        if several:
            notes.append(f"{title}: {'; '.join(several)}; of all others none.")
    return [" ".join(notes), _UNREADABLE] if notes else []


def about_runs(rows: Sequence[Row]) -> list[str]:
    """Return the footnotes on a table's runs: what all of their results say, and who recorded and how one was read."""
    runs = [run for row in rows for run in row.runs.values()]
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


def of_other_rules(runs: Sequence[Run]) -> list[str]:
    """Return that ranked runs were read by other rules than today's, and the command that reads them again."""
    older = [run for run in runs if run.sound and run.read_by_other_rules]
    folders = dict.fromkeys(run.source or str(run.folder) for run in older)
    return [other_rules_note(len(older), "of these runs", folders)] if older else []


def not_ranked(runs: Sequence[Run]) -> list[str]:
    """Return the sentences about runs that stand in no table, by name."""
    reasons: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.trouble:
            way = "Its command makes it anew" + ("" if run.manifest else ", once the folder is moved away")
            reasons[f"Not ranked, having {run.trouble}: {{}}. {way}."].append(run)
        elif run.complete and run.unanswered:
            reasons["Not ranked, as there is no answer (every call failed): {}."].append(run)
        elif not run.complete:
            reasons["Not complete, so not ranked: {}."].append(run)
    return [reason.format(runs_text(of_reason)) for reason, of_reason in sorted(reasons.items())]
