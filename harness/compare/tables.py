"""A comparison in tables, and differences as cells of any table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.compare.comparison import MARK, Comparison, every, finding, method, remarks, verdict
from harness.compare.difference import Difference
from harness.runtime.console import shortened
from harness.scoring.definitions import definition
from harness.storage.replies import Reply
from harness.tables.numbers import p_text, percent_text, signed_text
from harness.tables.table import Cell, Column, Line, Table

_SPAN = 48
"""Characters of a reply that are shown."""


def difference_columns(base: str, before: str = "", over: str = "") -> Iterator[Column]:
    """Yield the columns of a difference: with its interval, its p, and p corrected; `before` begins their names."""
    yield Column(f"{before}difference", f"− {base}", "metric", None, over)
    yield Column(f"{before}p", "p", "metric", None, over)
    yield Column(f"{before}p_holm", "p (Holm)", "count", None, over)


def difference_cells(found: Difference | str | None) -> list[Cell]:
    """Return the cells of a difference; dashes, and the word why, where there is none."""
    if not isinstance(found, Difference):
        return [Cell(f"– {found}" if found else "–"), Cell("–"), Cell("–")]
    ends, p_holm = found.interval, found.p_holm
    interval = f"[{signed_text(ends[0], 1)}, {signed_text(ends[1], 1)}]" if ends else ""
    mark = MARK if p_holm is not None and p_holm <= 0.05 else ""
    difference = Cell(signed_text(found.value), found.value, ends, interval)
    return [difference, Cell(f"{p_text(found.p)}{mark}", found.p), Cell(p_text(p_holm), p_holm)]


def tables(comparisons: Sequence[Comparison], *, items: int, margin: float | None = None) -> Iterator[Table]:
    """Yield all of a comparison; `items` differing items of each pair of runs."""
    yield _differences(comparisons, margin)
    for comparison in comparisons:
        if items and comparison.pairing.differing:
            yield _differing(comparison, items)


def _differences(comparisons: Sequence[Comparison], margin: float | None) -> Table:
    """Return the table of all differences, with what is said of the runs above it, and what they come to below."""
    several, by_group = len(comparisons) > 1, len(comparisons[0].rows) > 1
    names = [Column("a_is", "A is"), Column("b_is", "B is")] * several + [Column("group", "group")] * by_group
    lines = []
    for one, row, d in every(comparisons):
        texts = {"a_is": one.first, "b_is": one.second, "group": row.title}
        cells = [Cell(texts[column.name], texts[column.name]) for column in names]
        cells.append(Cell(definition(d.metric).title, d.metric))
        cells += [Cell(f"{count:,}", count) for count in (row.items, row.clusters)]
        cells += [Cell(percent_text(value), value) for value in (d.first, d.second)]
        cells += [*difference_cells(d), Cell(percent_text(d.detectable), d.detectable)]
        lines.append(Line(cells, run={"run_a": one.first, "run_b": one.second}))
    counts = [Column(name, name, "count") for name in ("items", "clusters", "A", "B")]
    differences = [*difference_columns("A"), Column("detectable", "detectable", "count")]
    findings = [finding(one) for one in comparisons]
    if margin is not None:
        findings += [verdict(one, margin)[1] for one in comparisons]
    one_p = sum(d.p is not None for _, _, d in every(comparisons)) < 2
    return Table(
        columns=[*names, Column("metric", "metric"), *counts, *differences],
        lines=lines,
        above="\n".join(remarks(comparisons)),
        notes=["\n".join(findings), method(comparisons)],
        spare=("detectable", "clusters", "items", "p", "A", "B"),
        in_caption=[*([] if by_group else ["items", "clusters"]), *["p_holm"] * one_p],
    )


def _differing(comparison: Comparison, items: int) -> Table:
    """Return the first items that the two runs answered differently, with the words that decided."""
    differing, names = comparison.pairing.differing, comparison.runs[0].run.result.answers
    more = f"; the first {items:,} of them (items=N for more)" if items < len(differing) else ""
    right = [sum(pair[place].answer == gold for gold, *pair in differing) for place in (0, 1)]
    rows = [
        [a.item, *(_answer(label, names) for label in (gold, a.answer, b.answer)), _words(a), _words(b)]
        for gold, a, b in differing[:items]
    ]
    runs = f"A, {comparison.first} (right in {right[0]:,} of them), and B, {comparison.second} (right in {right[1]:,})"
    return Table.of(
        header := ["item", "gold", "A", "B", "A's words", "B's words"],
        rows,
        text_columns=len(header),
        spare=("B's words", "A's words"),
        above=f"{len(differing):,} items answered differently by {runs}{more}:",
    )


def _answer(answer: int | None, names: Sequence[str]) -> str:
    return "unreadable" if answer is None else names[answer] if answer < len(names) else str(answer)


def _words(reply: Reply) -> str:
    """Return the words that decided on one line, as long as there is room; a word where there are none."""
    return shortened(reply.span, _SPAN) or ("(unreadable)" if reply.answer is None else "(by probability)")
