"""A comparison in words and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.compare.measure import Comparison, Measured, Row, reasons, remarks
from harness.compare.pairs import Differing
from harness.scoring.significance import detectable
from harness.tables.metrics import TITLES
from harness.tables.table import Part, Table

_SPAN = 48
"""Characters of a reply that are shown."""


def parts(found: Sequence[Comparison], *, items: int, resamples: int) -> Iterator[Part]:
    """All of it; `items` differing ones of each pair of runs."""
    yield "\n".join(_opening(found))
    named = "" if len(found) > 1 else f"A is {found[0].first}, B is {found[0].second}. "
    yield f"{named}Metrics in percent."
    yield _differences(found)
    yield "\n".join([*_verdicts(found), *reasons(found), *_method(found, resamples)])
    yield "Items by who had them right (McNemar; its exact p takes items for independent, so it ignores clusters):"
    yield _mcnemar(found)
    for one in found if items else ():
        yield from _differing(one, items)


def _opening(found: Sequence[Comparison]) -> Iterator[str]:
    first = found[0]
    labels = ", ".join(sorted({one.pairing.labels for one in found}))
    number, unit = first.rows[0].clusters, first.rows[0].unit
    clusters = f"{number:,} {unit or ('cluster' if number == 1 else 'clusters')}"
    task = first.runs[0].place.get("task")
    yield f"{first.rows[0].items:,} items{f' of {task}' if task else ''} in {clusters}, {labels} labels."
    if "paper" in {one.pairing.labels for one in found}:
        yield "The paper's labels, but F1 of Yes over questions: its own numbers over cells are not compared."
    yield from remarks(found)


def _differences(found: Sequence[Comparison]) -> Table:
    several, grouped = len(found) > 1, any(len(one.rows) > 1 for one in found)
    header = [*_names(found), *(["items"] if grouped else []), "A", "B", "B − A", "95% interval", "p", "p (Holm)"]
    header = [*header, "detectable"]
    if grouped:
        header.append("clusters")
    body = []
    for one in found:
        for row in one.rows:
            for measured in row.metrics:
                d = measured.difference
                body.append(
                    [
                        *([one.first, one.second] if several else []),
                        *([row.title] if grouped else []),
                        TITLES[d.metric],
                        *([f"{row.items:,}"] if grouped else []),
                        _percent(d.first),
                        _percent(d.second),
                        _signed(d.value),
                        "–" if d.interval is None else f"{_signed(d.interval[0])} … {_signed(d.interval[1])}",
                        _p(d.p),
                        _p(measured.p_holm),
                        _percent(detectable(d.error)),
                        *([f"{row.clusters:,}"] if grouped else []),
                    ]
                )
    return Table.of(
        header, body, text_columns=len(_names(found)), spare=("detectable", "clusters", "items", "p", "A", "B")
    )


def _names(found: Sequence[Comparison]) -> list[str]:
    several, grouped = len(found) > 1, any(len(one.rows) > 1 for one in found)
    return [*(["A is", "B is"] if several else []), *(["group"] if grouped else []), "metric"]


def _verdicts(found: Sequence[Comparison]) -> Iterator[str]:
    """A sentence for each pair of runs, about the first metric over all items."""
    for one in found:
        yield _verdict(one, one.rows[0], one.rows[0].metrics[0])


def _verdict(one: Comparison, row: Row, measured: Measured) -> str:
    d, title = measured.difference, TITLES[measured.difference.metric]
    if d.value is None:
        return (
            f"{title} is undefined for {one.first if d.first is None else one.second}: there is no difference to test."
        )
    way = "above" if d.value > 0 else "below"
    said = f"{one.second} is {100 * abs(d.value):.2f} points of {title} {way} {one.first}"
    if not d.value:
        said = f"{one.second} and {one.first} have the same {title}"
    if measured.p_holm is None:
        return f"{said}."
    proof = "more than chance" if measured.p_holm <= 0.05 else "no more than chance can make"
    corrected = "" if measured.p_holm == d.p else ", Holm"
    power = detectable(d.error)
    seen = (
        ""
        if power is None
        else f" A true difference of {100 * power:.1f} points would have been seen in 80% of such comparisons."
    )
    return f"{said}: {proof} (p = {_p(measured.p_holm)}{corrected}).{seen}"


def _method(found: Sequence[Comparison], resamples: int) -> Iterator[str]:
    rows = [row for one in found for row in one.rows]
    if any(measured.difference.interval for row in rows for measured in row.metrics):
        yield f"Interval: {resamples:,} resamples of whole clusters, the same for both."
    exact = [row.swaps for row in rows if row.swaps and row.swaps.exact]
    drawn = [row.swaps for row in rows if row.swaps and not row.swaps.exact]
    if exact:
        yield "p: the two swapped in whole clusters, in every possible way" + (
            f" ({exact[0].tried:,})." if len({swaps.tried for swaps in exact}) == 1 else "."
        )
    if drawn:
        many = " where they are many" if exact else ""
        yield f"p: the two swapped in whole clusters, {drawn[0].tried:,} times at random{many}."
    count = sum(measured.difference.p is not None for row in rows for measured in row.metrics)
    if count > 1:
        yield f"p (Holm): corrected for the {count:,} p-values of this table."
    if any(measured.difference.error for row in rows for measured in row.metrics):
        yield "Detectable: the true difference that 80% of such comparisons find at p < 0.05, 2.80 standard errors."


def _mcnemar(found: Sequence[Comparison]) -> Table:
    several, grouped = len(found) > 1, any(len(one.rows) > 1 for one in found)
    names = [name for name in _names(found) if name != "metric"]
    body = []
    for one in found:
        for row in one.rows:
            table = row.mcnemar
            counts = (table.both, table.first_only, table.second_only, table.neither)
            body.append(
                [
                    *([one.first, one.second] if several else []),
                    *([row.title] if grouped else []),
                    *(f"{count:,}" for count in counts),
                    _p(table.p),
                    *([_p(row.mcnemar_holm)] if several or grouped else []),
                ]
            )
    header = [*names, "both", "A only", "B only", "neither", "p", *(["p (Holm)"] if several or grouped else [])]
    return Table.of(header, body, text_columns=len(names), spare=("p (Holm)", "neither", "both"))


def _differing(one: Comparison, items: int) -> Iterator[Part]:
    found = one.pairing.differing
    if not found:
        return
    shown = min(items, len(found))
    yield (
        f"{len(found):,} items answered differently by A, {one.first}, and B, {one.second}"
        + (f"; the first {shown:,} of them (items=N for more, out=FILE.json for all):" if shown < len(found) else ":")
    )
    body = [
        [d.item, _said(d.gold), _said(d.first), _said(d.second), _short(d.first_span), _short(d.second_span)]
        for d in found[:shown]
    ]
    header = ["item", "gold", "A", "B", "A's words", "B's words"]
    yield Table.of(header, body, text_columns=6, spare=("B's words", "A's words"))


def _said(answer: int | None) -> str:
    return "unreadable" if answer is None else ("No", "Yes")[answer]


def _short(span: str) -> str:
    line = " ".join(span.split())
    return line if len(line) <= _SPAN else f"{line[: _SPAN - 1]}…"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.2f}".replace("-", "−")


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 1e-99:
        return "<1e-99"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def as_json(differing: Iterable[Differing]) -> list[dict[str, object]]:
    """Items with both answers: 1, 0 or null."""
    return [
        {"item": d.item, "gold": d.gold, "a": d.first, "b": d.second, "a_span": d.first_span, "b_span": d.second_span}
        for d in differing
    ]
