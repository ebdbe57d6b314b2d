"""What is said around a table of runs: what is the same in all rows, what its numbers are, and who is not in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.leaderboard.columns import OF_RUNS_NOTES, NumberColumn
from harness.leaderboard.rows import Row
from harness.tables.numbers import COUNTS, DERIVED_NOTES, Intervals, count_text, count_title, counts_of
from harness.tables.results import interval_notes, reading_notes
from harness.types import Scores

_ONE = {"items": "item", "positives": "positive", "clusters": "cluster"}
_FAULTS = ("unreadable", "cut_off", "failed")


def constants(rows: Sequence[Scores], *, wanted: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the counts that are the same in all rows, and the words for them: 300 items, 50 positives; none failed.

    Those that somebody `wanted` as columns stay columns.
    """
    same = [name for name in COUNTS if name not in wanted and len({count_text(scores, name) for scores in rows}) == 1]
    sizes = [_count_words(rows[0], name) for name in same if name not in _FAULTS]
    told = counts_of(rows)
    faults = [f"{_number(rows[0], name)} {count_title(name)}" for name in same if name in _FAULTS and name in told]
    return same, [", ".join(part) for part in (sizes, faults) if part]


def _count_words(scores: Scores, name: str) -> str:
    text = count_text(scores, name)
    if name == "clusters" and (scores.unit or not scores.clusters):
        return text if scores.unit else "clusters not known"
    return f"{text} {_ONE.get(name, name) if text == '1' else name}"


def _number(scores: Scores, name: str) -> str:
    count = getattr(scores, name)
    return f"{count:,}" if count else "none"


def number_notes(rows: Sequence[Row], columns: Sequence[NumberColumn], intervals: Intervals) -> list[str]:
    """Return what the numbers of a table are: how intervals were made, and what derived columns hold."""
    scores = [scores for row in rows for column in columns if (scores := column.scores(row))]
    notes = [" ".join(_interval_notes(scores, intervals))] if intervals != "none" else []
    about = {**DERIVED_NOTES, **OF_RUNS_NOTES}
    notes.append(" ".join(dict.fromkeys(about[column.number] for column in columns if column.number in about)))
    return [note for note in notes if note]


def _interval_notes(scores: Sequence[Scores], intervals: Intervals) -> list[str]:
    """Return the sentences about the intervals, as the table writes them."""
    notes = interval_notes(scores)
    if notes and intervals == "pm":
        return [
            notes[0].replace("In brackets:", "After ±, half the width of") + " They are not symmetric: see brackets.",
            *notes[1:],
        ]
    return notes


def readings_notes(rows: Sequence[Row]) -> list[str]:
    """Return how replies of the ranked runs were read outside of their form, and by judges, with the run of each."""
    notes = [(row, note) for row in rows if row.complete for note in reading_notes(row.result)]
    return [f"{row.model}, {row.variant}, {row.prompt}: {note}" for row, note in notes]


def not_ranked(rows: Sequence[Row]) -> list[str]:
    """Return the sentences about runs that stand in no table, by name."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if not row.complete:
            reasons[_reason(row)].append(f"{row.variant}/{row.prompt}/{row.model}")
    return [reason.format(", ".join(names)) for reason, names in sorted(reasons.items())]


def _reason(row: Row) -> str:
    """Return the sentence about a run that is not ranked, {} for the names."""
    if row.trouble:
        way = "Its command makes it anew" + ("" if row.run.manifest else ", once the folder is moved away")
        return f"Not ranked, having {row.trouble}: {{}}. {way}."
    if row.run.complete and row.unanswered:
        return "Not ranked, as there is no answer (every call failed): {}."
    return "Not complete, so not ranked: {}."
