"""A comparison in words and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.compare.difference import Difference
from harness.compare.margin import verdict
from harness.compare.measure import Comparison, reasons, remarks
from harness.compare.pairing import Differing
from harness.runtime.console import shortened
from harness.scoring.definitions import definition
from harness.tables.numbers import p_text, percent_text, signed_text
from harness.tables.table import Part, Table

_SPAN = 48
"""Characters of a reply that are shown."""


def parts(
    comparisons: Sequence[Comparison], *, items: int, resamples: int, margin: float | None = None
) -> Iterator[Part]:
    """Yield all of a comparison; `items` differing items of each pair of runs."""
    yield "\n".join(_opening(comparisons))
    names = "" if len(comparisons) > 1 else f"A is {comparisons[0].first}, B is {comparisons[0].second}. "
    yield f"{names}Metrics in percent."
    yield _differences(comparisons)
    verdicts = [] if margin is None else [verdict(comparison, margin)[1] for comparison in comparisons]
    yield "\n".join([*_verdicts(comparisons), *verdicts, *reasons(comparisons), *_method(comparisons, resamples)])
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


def _differences(comparisons: Sequence[Comparison]) -> Table:
    several, by_group = len(comparisons) > 1, any(len(comparison.rows) > 1 for comparison in comparisons)
    header = [
        *_names(comparisons),
        *(["items"] if by_group else []),
        "A",
        "B",
        "B − A",
        "95% interval",
        "p",
        "p (Holm)",
    ]
    header = [*header, "detectable"]
    if by_group:
        header.append("clusters")
    body = []
    for comparison in comparisons:
        for row in comparison.rows:
            for d in row.metrics:
                body.append(
                    [
                        *([comparison.first, comparison.second] if several else []),
                        *([row.title] if by_group else []),
                        definition(d.metric).title,
                        *([f"{row.items:,}"] if by_group else []),
                        percent_text(d.first),
                        percent_text(d.second),
                        signed_text(d.value),
                        "–" if d.interval is None else f"{signed_text(d.interval[0])} … {signed_text(d.interval[1])}",
                        p_text(d.p),
                        p_text(d.p_holm),
                        percent_text(d.detectable),
                        *([f"{row.clusters:,}"] if by_group else []),
                    ]
                )
    return Table.of(
        header, body, text_columns=len(_names(comparisons)), spare=("detectable", "clusters", "items", "p", "A", "B")
    )


def _names(comparisons: Sequence[Comparison]) -> list[str]:
    several, by_group = len(comparisons) > 1, any(len(comparison.rows) > 1 for comparison in comparisons)
    return [*(["A is", "B is"] if several else []), *(["group"] if by_group else []), "metric"]


def _verdicts(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for comparison in comparisons:
        yield _verdict(comparison, comparison.rows[0].metrics[0])


def _verdict(comparison: Comparison, d: Difference) -> str:
    title = definition(d.metric).title
    a, b = comparison.first, comparison.second
    if d.value is None:
        return f"{title} is undefined for {a if d.first is None else b}: there is no difference to test."
    way = "above" if d.value > 0 else "below"
    finding = f"{b} is {100 * abs(d.value):.2f} points of {title} {way} {a}"
    if not d.value:
        finding = f"{b} and {a} have the same {title}"
    if d.p_holm is None:
        return f"{finding}."
    proof = "more than chance" if d.p_holm <= 0.05 else "no more than chance can make"
    corrected = "" if d.p_holm == d.p else ", Holm"
    power = d.detectable
    power_text = (
        ""
        if power is None
        else f" A true difference of {100 * power:.1f} points would have been seen in 80% of such comparisons."
    )
    return f"{finding}: {proof} (p = {p_text(d.p_holm)}{corrected}).{power_text}"


def _method(comparisons: Sequence[Comparison], resamples: int) -> Iterator[str]:
    rows = [row for comparison in comparisons for row in comparison.rows]
    if any(metric.interval for row in rows for metric in row.metrics):
        yield f"Interval: {resamples:,} resamples of whole clusters, the same for both."
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
    several, by_group = len(comparisons) > 1, any(len(comparison.rows) > 1 for comparison in comparisons)
    names = [name for name in _names(comparisons) if name != "metric"]
    body = []
    for comparison in comparisons:
        for row in comparison.rows:
            table = row.mcnemar
            counts = (table.both, table.first_only, table.second_only, table.neither)
            body.append(
                [
                    *([comparison.first, comparison.second] if several else []),
                    *([row.title] if by_group else []),
                    *(f"{count:,}" for count in counts),
                    p_text(table.p),
                    *([p_text(row.mcnemar_holm)] if several or by_group else []),
                ]
            )
    header = [*names, "both", "A only", "B only", "neither", "p", *(["p (Holm)"] if several or by_group else [])]
    return Table.of(header, body, text_columns=len(names), spare=("p (Holm)", "neither", "both"))


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
