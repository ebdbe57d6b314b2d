"""The words around a preset's table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.leaderboard import published_numbers
from harness.leaderboard.presets.published_rows import rows
from harness.leaderboard.presets.select import Data, Entry, comparable
from harness.tasks.find import benchmark_of
from harness.tasks.presets import Preset

APART = (
    "Published and measured rows are not ranked together: where text can be bold (terminal, LaTeX, HTML), the best of "
    "each set of rows is, and the second is underlined."
)


def title(preset: Preset, data: Data) -> str:
    """A set of measured rows in a few words."""
    given, benchmark = dict(data.settings), benchmark_of(preset.benchmark)
    version = benchmark.version_setting
    parts = [f"data {given.pop(version, benchmark.defaults[version])}"] if version else []
    parts += [f"{name}={value}" for name, value in given.items() if name != "labels"]
    if preset.tells_labels and data.labels != benchmark.paper_labels:
        parts.append(f"{data.labels} {benchmark.label_word}")
    parts += [data.prompt] if data.prompt else []
    usual = {"", *benchmark.defaults.values()}
    parts += [f"item set {number + 1}{'' if slot in usual else f' of {slot}'}" for slot, number in data.items]
    return ": ".join(["Measured here", ", ".join(parts)]) if parts else "Measured here"


def about(preset: Preset, data: Data, found: Sequence[Entry]) -> str:
    """What a set was measured on, in full."""
    runs = [run for one in found for run in one.runs.values()]
    items = sorted({run.result.overall.items for run in runs})
    counted = f"{items[0]:,}" if len(items) == 1 else f"{items[0]:,} to {items[-1]:,}"
    known = list(dict.fromkeys(run.items[:8] for run in runs if run.items))
    parts = [f"{counted} items a run", benchmark_of(preset.benchmark).labels_title(data.labels)]
    parts += [f"item set{'s' if len(known) > 1 else ''} {', '.join(known)}"] if known else []
    variants = ", ".join(dict.fromkeys(run.variant for run in runs))
    compared = (
        " The paper's data: these rows are the ones to compare with the published." if comparable(preset, data) else ""
    )
    return f"{title(preset, data)} ({'; '.join(parts)}; variants: {variants}).{compared}"


def said(preset: Preset, found: Sequence[Entry], unfinished: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """What holds for the whole table."""
    there = list(rows(preset))
    told = [APART] if found and any(number.best for number in preset.columns) else []
    if told or preset.note:
        yield " ".join([*told, *([preset.note] if preset.note else [])])
    if counted := [table for table in preset.published if any(row.counts for row in there if row.table == table)]:
        name = counted[0].removeprefix("Table ")
        yield f"What intervals the published rows have: python -m harness.published table={name}"
    yield from published_numbers.contradiction_notes([row for row in there if row.contradicted])
    if any(one.prompt for one in found) and any("(" in one.shown for one in found):
        yield "In parentheses: the prompt, where it is not the table's usual one."
    if unfinished:
        yield f"Not complete, so not shown: {', '.join('/'.join(names) for names in unfinished)}."
    if not found:
        yield f"Nothing is measured yet: no complete run was found that belongs here. One that does: {preset.command}"
