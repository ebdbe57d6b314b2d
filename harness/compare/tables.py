"""A comparison in words and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.compare.difference import Difference
from harness.compare.margin import verdict
from harness.compare.measure import Comparison, Row, reasons, remarks
from harness.compare.pairing import Differing
from harness.runtime.console import shortened
from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.definitions import definition
from harness.tables.numbers import p_text, percent_text, signed_text
from harness.tables.table import Part, Table

_SPAN = 48
"""Characters of a reply that are shown."""


def parts(comparisons: Sequence[Comparison], *, items: int, margin: float | None = None) -> Iterator[Part]:
    """Yield all of a comparison; `items` differing items of each pair of runs."""
    yield "\n".join(_opening(comparisons))
    names = "" if len(comparisons) > 1 else f"A is {comparisons[0].first}, B is {comparisons[0].second}. "
    yield f"{names}Metrics in percent."
    yield _differences(comparisons)
    verdicts = [_verdict(comparison, comparison.rows[0].metrics[0]) for comparison in comparisons]
    verdicts += [] if margin is None else [verdict(comparison, margin)[1] for comparison in comparisons]
    yield "\n".join([*verdicts, *reasons(comparisons), *_method(comparisons)])
    yield "Items by who had them right (McNemar; its exact p takes items for independent, so it ignores clusters):"
    yield _mcnemar(comparisons)
    for comparison in comparisons if items else ():
        yield from _differing(comparison, items)


def _opening(comparisons: Sequence[Comparison]) -> Iterator[str]:
    first = comparisons[0]
    labels = ", ".join(sorted({comparison.pairing.labels for comparison in comparisons}))
    number, unit = first.rows[0].clusters, first.rows[0].unit
    clusters = f"{number:,} {unit or ('cluster' if number == 1 else 'clusters')}"
    task = first.runs[0].place.get("task")
    items = first.rows[0].items
    counted = f"{items:,} {'item' if items == 1 else 'items'}"
    yield f"{counted}{f' of {task}' if task else ''} in {clusters}, {labels} labels."
    if "paper" in {comparison.pairing.labels for comparison in comparisons}:
        yield "The paper's labels, but F1 of Yes over questions: its own numbers over cells are not compared."
    yield from remarks(comparisons)


def _names(comparisons: Sequence[Comparison], comparison: Comparison, row: Row) -> dict[str, str]:
    """Return the cells that say what a row is about: the two runs where there are several, and the group likewise."""
    runs = {"A is": comparison.first, "B is": comparison.second} if len(comparisons) > 1 else {}
    return runs | ({"group": row.title} if _by_group(comparisons) else {})


def _by_group(comparisons: Sequence[Comparison]) -> bool:
    return any(len(comparison.rows) > 1 for comparison in comparisons)


def _table(rows: Sequence[dict[str, str]], text_columns: int, *spare: str) -> Table:
    return Table.of(list(rows[0]), [list(row.values()) for row in rows], text_columns=text_columns, spare=spare)


def _differences(comparisons: Sequence[Comparison]) -> Table:
    rows, names, by_group = [], dict[str, str](), _by_group(comparisons)
    for comparison, row, d in [(c, of_group, d) for c in comparisons for of_group in c.rows for d in of_group.metrics]:
        names = _names(comparisons, comparison, row) | {"metric": definition(d.metric).title}
        interval = "–" if d.interval is None else " … ".join(map(signed_text, d.interval))
        numbers = {
            "A": percent_text(d.first),
            "B": percent_text(d.second),
            "B − A": signed_text(d.value),
            "95% interval": interval,
            "p": p_text(d.p),
            "p (Holm)": p_text(d.p_holm),
            "detectable": percent_text(d.detectable),
        }
        items, clusters = {"items": f"{row.items:,}"}, {"clusters": f"{row.clusters:,}"}
        rows.append({**names, **items, **numbers, **clusters} if by_group else names | numbers)
    return _table(rows, len(names), "detectable", "clusters", "items", "p", "A", "B")


def _verdict(comparison: Comparison, d: Difference) -> str:
    title = definition(d.metric).title
    a, b = comparison.first, comparison.second
    if d.value is None:
        return f"{title} is undefined for {a if d.first is None else b}: there is no difference to test."
    way = "above" if d.value > 0 else "below"
    difference = f"{b} is {100 * abs(d.value):.2f} points of {title} {way} {a}"
    finding = difference if d.value else f"{b} and {a} have the same {title}"
    if d.p_holm is None:
        return f"{finding}."
    chance = "too few clusters to tell" if d.value and d.interval is None else "no more than chance can make"
    proof = "more than chance" if d.p_holm <= 0.05 else chance
    corrected = "" if d.p_holm == d.p else ", Holm"
    sentence = f"{finding}: {proof} (p = {p_text(d.p_holm)}{corrected})."
    if d.detectable is None:
        return sentence
    points = f"{100 * d.detectable:.1f} points"
    return f"{sentence} A true difference of {points} would have been seen in 80% of such comparisons."


def _method(comparisons: Sequence[Comparison]) -> Iterator[str]:
    rows = [row for comparison in comparisons for row in comparison.rows]
    if any(metric.interval for row in rows for metric in row.metrics):
        yield f"Interval: {RESAMPLES:,} resamples of whole clusters, the same for both."
    exact_swaps = [row.swaps for row in rows if row.swaps and row.swaps.exact]
    random_swaps = [row.swaps for row in rows if row.swaps and not row.swaps.exact]
    if exact_swaps:
        yield "p: the two swapped in whole clusters, in every possible way" + (
            f" ({exact_swaps[0].number:,})." if len({swaps.number for swaps in exact_swaps}) == 1 else "."
        )
    if random_swaps:
        many = " where they are many" if exact_swaps else ""
        yield f"p: the two swapped in whole clusters, {random_swaps[0].number:,} times at random{many}."
    count = sum(metric.p is not None for row in rows for metric in row.metrics)
    if count > 1:
        yield f"p (Holm): corrected for the {count:,} p-values of this table."
    if any(metric.error for row in rows for metric in row.metrics):
        yield "Detectable: the true difference that 80% of such comparisons find at p < 0.05, 2.80 standard errors."


def _mcnemar(comparisons: Sequence[Comparison]) -> Table:
    rows, names = [], dict[str, str]()
    for comparison, row in [(c, of_group) for c in comparisons for of_group in c.rows]:
        table, names = row.mcnemar, _names(comparisons, comparison, row)
        counts = {"both": table.both, "A only": table.first_only, "B only": table.second_only, "neither": table.neither}
        corrected = {"p (Holm)": p_text(row.mcnemar_holm)} if names else {}
        rows.append({**names, **{name: f"{n:,}" for name, n in counts.items()}, "p": p_text(table.p), **corrected})
    return _table(rows, len(names), "p (Holm)", "neither", "both")


def _differing(comparison: Comparison, items: int) -> Iterator[Part]:
    differing = comparison.pairing.differing
    if not differing:
        return
    number = min(items, len(differing))
    more = (
        f"; the first {number:,} of them (items=N for more, out=FILE.json for all)" if number < len(differing) else ""
    )
    yield f"{len(differing):,} items answered differently by A, {comparison.first}, and B, {comparison.second}{more}:"
    names = comparison.runs[0].choices or ("No", "Yes")
    body = [
        [
            d.item,
            *(_answer_text(a, names) for a in (d.gold, d.first, d.second)),
            _words(d.first, d.first_span),
            _words(d.second, d.second_span),
        ]
        for d in differing[:number]
    ]
    header = ["item", "gold", "A", "B", "A's words", "B's words"]
    yield Table.of(header, body, text_columns=len(header), spare=("B's words", "A's words"))


def _answer_text(answer: int | None, names: Sequence[str]) -> str:
    return "unreadable" if answer is None else names[answer] if answer < len(names) else str(answer)


def _words(answer: int | None, span: str) -> str:
    """Return the words that decided on one line, as long as there is room; a word where there are none."""
    return shortened(span, _SPAN) or ("(unreadable)" if answer is None else "(by probability)")


def as_json(differing: Iterable[Differing]) -> list[dict[str, object]]:
    """Return the differing items with both answers: 1, 0 or null."""
    return [
        {"item": d.item, "gold": d.gold, "a": d.first, "b": d.second, "a_span": d.first_span, "b_span": d.second_span}
        for d in differing
    ]
