"""A paper's table of marks: what models understand at all, published and measured, with the shares behind each mark.

A mark is not for being right. It is given where at least 95% of the questions got a reply that can be read, and both
answers occur: a model that always says the same has shown nothing of what it understood.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import DataError
from harness.leaderboard.families import family, order
from harness.leaderboard.presets.select import settings
from harness.leaderboard.rows import Row
from harness.tables.table import Block, Cell, Column, Line, Table
from harness.tasks.find import benchmark_of
from harness.tasks.presets import MarkColumn, Marks
from harness.types import Response, Scores

LEAST = 0.95
"""The share of questions with a readable reply that a mark takes."""
STRICT = frozenset({"Yes", "Yes.", "No", "No."})
"""Replies that the paper's own code reads."""
YES, NO, LOST = "✓", "×", "?"


@dataclass(frozen=True)
class Shares:
    """What became of the questions of a run, or of some of them."""

    items: int
    readable: int
    failed: int
    yes: int
    no: int

    @property
    def mark(self) -> bool:
        """Whether the questions were understood, by the rule of this table."""
        return self.items > 0 and self.readable >= LEAST * self.items and self.yes > 0 and self.no > 0


def lay_out(marks: Marks, rows: Sequence[Row]) -> list[Table]:
    """Return the table of marks from all runs there are, and notes on the rule and on contradictions of the paper."""
    runs: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for column in marks.columns:
            if _fits(marks, column, row):
                runs[_title(marks, row), row.folder][column.key].append(row)
    columns = [Column("model", "LLMs")]
    for column in marks.columns:
        columns.append(Column(column.key, column.title, "metric", None, column.over))
        if column.sizes:
            columns.append(Column(f"{column.key}/largest", f"{column.title}: largest", "text", None, column.over))
    version = benchmark_of(marks.benchmark).data_version
    block = Block(f"Published, not measured here: {benchmark_of(marks.benchmark).title}", version)
    lines = [
        Line([Cell(model, model), *_printed(marks, printed)], block=block, ranked=False)
        for model, printed in marks.printed().items()
    ]
    several = len({folder for _, folder in runs}) > 1
    for (title, folder), by_column in sorted(runs.items(), key=lambda entry: (order(family(entry[0][0])), entry[0])):
        name = f"{title} [{folder}]" if several else title
        identity = {"model": next(iter(by_column.values()))[0].model}
        cells = [cell for column in marks.columns for cell in _measured(marks, column, by_column.get(column.key, []))]
        lines.append(Line([Cell(name, name), *cells], run=identity, block=Block("Measured here"), ranked=False))
    return [
        Table(
            marks.columns[-1].task,
            columns,
            lines,
            above=f"{marks.title}. {YES} understood, {NO} not, {LOST} lost in the paper's text, – not measured.",
            heading=f"Table {marks.name} of the paper, published and measured",
            notes=[*_notes(marks, measured=bool(runs))],
        )
    ]


def _fits(marks: Marks, column: MarkColumn, row: Row) -> bool:
    if not row.complete or row.run.kind == "algorithm" or row.prompt not in marks.prompts:
        return False
    own = {**benchmark_of(marks.benchmark).defaults, **settings(row)}
    return row.task == column.task and all(own.get(name) == value for name, value in column.requires.items())


def _title(marks: Marks, row: Row) -> str:
    return row.model if row.prompt == marks.prompts[0] else f"{row.model} ({row.prompt})"


def _printed(marks: Marks, printed: Mapping[str, bool | None]) -> Iterator[Cell]:
    for column in marks.columns:
        mark = printed[column.key]
        yield Cell(LOST) if mark is None else Cell(YES if mark else NO, int(mark))
        if column.sizes:
            yield Cell("")


def _measured(marks: Marks, column: MarkColumn, rows: Sequence[Row]) -> Iterator[Cell]:
    """Yield a model's mark in a column with its shares, and the largest data with which it keeps the mark."""
    if rows:
        shares, row = max(((_shares(row, *marks.easiest), row) for row in rows), key=lambda entry: entry[0].items)
        yield _cell(shares, _strict(row, *marks.easiest))
    else:
        yield Cell("–")
    if column.sizes:
        yield _largest(marks, column, rows)


def _cell(shares: Shares, strict: float | None) -> Cell:
    """Return the mark, and behind it the shares of readable replies and what else counts."""
    parts = [f"{_percent(shares.readable, shares.items)} readable"]
    parts += [f"{100 * strict:.1f} strictly"] if strict is not None else []
    parts += [f"{_percent(shares.failed, shares.items)} failed"] if shares.failed else []
    parts += ["one answer only"] if shares.readable and not (shares.yes and shares.no) else []
    return Cell(f"{YES if shares.mark else NO} ({', '.join(parts)})", int(shares.mark))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def _shares(row: Row, breakdown: str, group: str) -> Shares:
    """Return what became of the questions of a group; of all of them where the run has none of it."""
    scores = row.result.scores[row.result.headline].get(breakdown, {}).get(group)
    return _of_scores(scores or row.result.overall)


def _of_scores(scores: Scores) -> Shares:
    counts = scores.confusion
    yes, no = (sum(counts.get(name, 0) for name in names) for names in (("tp", "fp"), ("tn", "fn")))
    return Shares(scores.items, scores.items - scores.unreadable - scores.failed, scores.failed, yes, no)


def _strict(row: Row, breakdown: str, group: str) -> float | None:
    """Return the share of questions whose reply is Yes, Yes., No or No.; None without records, or without words."""
    every = hits = 0
    try:
        records = list(row.run.records())
    except DataError:
        return None
    if any(isinstance(record.outcome, Response) and record.outcome.logprobs is not None for record in records):
        return None  # ranked: there are no words to read
    easiest = [record for record in records if record.groups.get(breakdown) == group]
    for record in easiest or records:
        every += 1
        outcome = record.outcome
        hits += isinstance(outcome, Response) and outcome.text.strip() in STRICT
    return hits / every if every else None


def _largest(marks: Marks, column: MarkColumn, rows: Sequence[Row]) -> Cell:
    """Return the largest data, variables × rows, up to which every network keeps the mark, with tokens and context."""
    sizes: list[tuple[int, int, int, str, Row, bool]] = []
    for row in rows:
        number = int(settings(row).get(column.sizes, "500"))
        for network, scores in row.result.scores[row.result.headline].get("network", {}).items():
            nodes = marks.nodes(network)
            sizes.append((nodes * number, nodes, number, network, row, _of_scores(scores).mark))
    sizes.sort(key=lambda size: size[:4])
    kept: tuple[int, int, int, str, Row, bool] | None = None
    lost = ""
    for size in sizes:
        if not size[-1]:
            lost = f"; lost at {size[1]} × {size[2]:,}"
            break
        kept = size
    if kept is None:
        return Cell(f"none{lost}" if sizes else "–")
    tokens, context = _tokens(kept[4], kept[3]), _context(kept[4])
    parts = [f"{tokens:,} tokens" if tokens else "", f"context {context:,}" if context else ""]
    told = ", ".join(part for part in parts if part)
    return Cell(f"{kept[1]} × {kept[2]:,}{f' ({told})' if told else ''}{lost}", kept[0])


def _tokens(row: Row, network: str) -> int | None:
    """Return how long the longest conversation about a network was, as the server counted it."""
    try:
        outcomes = [record.outcome for record in row.run.records() if record.groups.get("network") == network]
    except DataError:
        return None
    counts = [o.usage.input for o in outcomes if isinstance(o, Response) and o.usage.input is not None]
    return max(counts, default=None)


def _context(row: Row) -> int | None:
    context = ((row.run.manifest.get("config") or {}).get("model") or {}).get("context")
    return context if isinstance(context, int) else None


def _notes(marks: Marks, *, measured: bool) -> Iterator[str]:
    yield (
        f"A measured {YES}: at least {LEAST:.0%} of the questions ({' '.join(marks.easiest[::-1])}, where the run has "
        "them) got a reply that can be read, and both answers occur: a constant answer shows no understanding. In "
        "brackets, in percent of the questions: readable here; strictly, as Yes, Yes., No or No. alone, which is the "
        "paper's own reading; failed calls, such as a conversation that does not fit the context. The rule is ours: "
        "the paper gives none. Being right is not asked for."
    )
    if any(column.sizes for column in marks.columns):
        yield (
            "Largest: variables × rows of the largest data up to which every network that was asked about keeps its "
            f"{YES}, with the tokens of its conversation and the model's context (model.context) where they are known."
        )
    if marks.contradictions:
        yield f"Where the published marks disagree with the paper: {'; '.join(marks.contradictions)}."
    if not measured:
        yield f"Nothing is measured yet: no complete run was found that belongs here. Some that do: {marks.command}"
