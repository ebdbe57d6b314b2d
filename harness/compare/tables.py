"""A comparison in tables, and differences as cells of any table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.compare.difference import Difference
from harness.compare.margin import verdict
from harness.compare.measure import Comparison, Row, reasons, remarks
from harness.runtime.console import shortened
from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.definitions import definition
from harness.storage.replies import Reply
from harness.tables.numbers import p_text, percent_text, signed_text
from harness.tables.table import Cell, Column, Line, Table

MARK = "*"
"""Stands behind a p that is at most 0.05 when all of a table are corrected together."""
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


def star_note(several: Sequence[Difference]) -> str:
    """Return what the mark behind a p means in a table of several differences."""
    count = sum(d.p is not None for d in several)
    together = f" when the {count:,} p-values of this table are corrected together (Holm)" * (count > 1)
    return f"{MARK}: at most 0.05{together}."


def tables(comparisons: Sequence[Comparison], *, items: int, margin: float | None = None) -> Iterator[Table]:
    """Yield all of a comparison; `items` differing items of each pair of runs."""
    yield _differences(comparisons, margin)
    for comparison in comparisons:
        if items and comparison.pairing.differing:
            yield _differing(comparison, items)


def _above(comparisons: Sequence[Comparison]) -> Iterator[str]:
    first = comparisons[0]
    labels = ", ".join(sorted({comparison.pairing.labels for comparison in comparisons}))
    number, items = first.rows[0].clusters, first.rows[0].items
    clusters = f"{number:,} {first.rows[0].unit or ('cluster' if number == 1 else 'clusters')}"
    yield f"{items:,} {'item' if items == 1 else 'items'} of {first.runs[0].run.task} in {clusters}, {labels} labels."
    yield f"{f'A is {first.first}, B is {first.second}. ' if len(comparisons) == 1 else ''}Metrics in percent."
    if "paper" in {comparison.pairing.labels for comparison in comparisons}:
        yield "The paper's labels, but F1 of Yes over questions: its own numbers over cells are not compared."
    yield from remarks(comparisons)


def _names(comparisons: Sequence[Comparison]) -> list[Column]:
    """Return the columns that say what a row is about: the two runs where there are several, and the group likewise."""
    runs = [Column("a_is", "A is"), Column("b_is", "B is")] if len(comparisons) > 1 else []
    return runs + ([Column("group", "group")] if len(comparisons[0].rows) > 1 else [])


def _name_cells(columns: Sequence[Column], comparison: Comparison, row: Row) -> list[Cell]:
    texts = {"a_is": comparison.first, "b_is": comparison.second, "group": row.title}
    return [Cell(text, text) for text in (texts[column.name] for column in columns)]


def _differences(comparisons: Sequence[Comparison], margin: float | None) -> Table:
    names, lines, every = _names(comparisons), [], []
    for comparison, row, d in [(c, of_group, d) for c in comparisons for of_group in c.rows for d in of_group.metrics]:
        every.append(d)
        title = definition(d.metric).title
        cells = [Cell(title, d.metric), Cell(f"{row.items:,}", row.items), Cell(f"{row.clusters:,}", row.clusters)]
        values = [Cell(percent_text(value), value) for value in (d.first, d.second)]
        detectable = Cell(percent_text(d.detectable), d.detectable)
        line = [*_name_cells(names, comparison, row), *cells, *values, *difference_cells(d), detectable]
        lines.append(Line(line, run={"run_a": comparison.first, "run_b": comparison.second}))
    counts = [Column(name, name, "count") for name in ("items", "clusters", "A", "B")]
    by_group, one_p = len(comparisons[0].rows) > 1, sum(d.p is not None for d in every) < 2
    rests_on = " ".join([*reasons(comparisons), *_method(comparisons, every)])
    return Table(
        columns=[
            *names,
            Column("metric", "metric"),
            *counts,
            *difference_columns("A"),
            Column("detectable", "detectable", "count"),
        ],
        lines=lines,
        above="\n".join(_above(comparisons)),
        notes=["\n".join(_findings(comparisons, margin)), rests_on],
        spare=("detectable", "clusters", "items", "p", "A", "B"),
        in_caption=[*([] if by_group else ["items", "clusters"]), *["p_holm"] * one_p],
    )


def _findings(comparisons: Sequence[Comparison], margin: float | None) -> Iterator[str]:
    yield from map(_finding, comparisons)
    if margin is not None:
        yield from (verdict(comparison, margin)[1] for comparison in comparisons)


def _finding(comparison: Comparison) -> str:
    d, swaps = comparison.rows[0].metrics[0], comparison.rows[0].swaps
    title = definition(d.metric).title
    a, b = comparison.first, comparison.second
    if d.value is None:
        return f"{title} is undefined for {a if d.first is None else b}: there is no difference to test."
    way = "above" if d.value > 0 else "below"
    difference = f"{b} is {100 * abs(d.value):.2f} points of {title} {way} {a}"
    finding = difference if d.value else f"{b} and {a} have the same {title}"
    if d.p_holm is None:
        return f"{finding}."
    few = d.interval is None or (swaps is not None and swaps.least > 0.05)
    chance = "too few clusters to tell" if d.value and few else "no more than chance can make"
    proof = "more than chance" if d.p_holm <= 0.05 else chance
    corrected = "" if d.p_holm == d.p else ", Holm"
    sentence = f"{finding}: {proof} (p = {p_text(d.p_holm)}{corrected})."
    if d.detectable is None:
        return sentence
    points = f"{100 * d.detectable:.1f} points"
    return f"{sentence} A true difference of {points} would have been seen in 80% of such comparisons."


def _method(comparisons: Sequence[Comparison], every: Sequence[Difference]) -> Iterator[str]:
    rows = [row for comparison in comparisons for row in comparison.rows]
    if any(d.interval for d in every):
        yield f"In brackets: 95% over {RESAMPLES:,} resamples of whole clusters, the same for both."
    exact_swaps = [row.swaps for row in rows if row.swaps and row.swaps.exact]
    random_swaps = [row.swaps for row in rows if row.swaps and not row.swaps.exact]
    if exact_swaps:
        yield "p: the two swapped in whole clusters, in every possible way" + (
            f" ({exact_swaps[0].number:,})." if len({swaps.number for swaps in exact_swaps}) == 1 else "."
        )
    if random_swaps:
        many = " where they are many" if exact_swaps else ""
        yield f"p: the two swapped in whole clusters, {random_swaps[0].number:,} times at random{many}."
    if any(d.p is not None for d in every):
        yield star_note(every)
    if any(d.error for d in every):
        yield "Detectable: the true difference that 80% of such comparisons find at p < 0.05, 2.80 standard errors."


def _differing(comparison: Comparison, items: int) -> Table:
    differing = comparison.pairing.differing
    shown = differing[:items]
    more = f"; the first {len(shown):,} of them (items=N for more)" if len(shown) < len(differing) else ""
    a, b = sum(d.first.answer == d.gold for d in differing), sum(d.second.answer == d.gold for d in differing)
    names = comparison.runs[0].run.result.answers
    rows = [
        [one.item, *(_answer(code, names) for code in (gold, one.answer, other.answer)), _words(one), _words(other)]
        for gold, one, other in shown
    ]
    runs = f"A, {comparison.first} (right in {a:,} of them), and B, {comparison.second} (right in {b:,})"
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
