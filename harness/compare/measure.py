"""The numbers of a comparison: the differences of each pair of runs in each group, all p-values corrected together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from harness.compare import pairs, runs
from harness.compare.pairs import OVERALL, Group, Pairing
from harness.compare.runs import Replies
from harness.scoring.bootstrap import FEWEST
from harness.scoring.paired import Difference, Swaps, differences
from harness.scoring.significance import McNemar, holm


@dataclass(frozen=True, slots=True)
class Measured:
    """A difference, and its p corrected for all others of the same call."""

    difference: Difference
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """Two runs on one group of items."""

    group: Group
    items: int
    positives: int
    clusters: int
    unit: str
    """What the clusters are where they are parts of a single one, else empty."""
    metrics: tuple[Measured, ...]
    swaps: Swaps | None
    """None of one cluster."""
    mcnemar: McNemar
    mcnemar_holm: float

    @property
    def title(self) -> str:
        """relation: parent, or all."""
        return "all" if self.group == OVERALL else f"{self.group[0].replace('_', ' ')}: {self.group[1]}"


@dataclass(frozen=True)
class Comparison:
    """Two runs compared."""

    first: str
    second: str
    runs: tuple[Replies, Replies]
    pairing: Pairing
    rows: tuple[Row, ...]


def compare(
    read: Sequence[Replies],
    *,
    all_pairs: bool,
    metrics: Sequence[str],
    by: Sequence[str],
    labels: str | None,
    least: float,
    resamples: int,
    seed: int,
) -> list[Comparison]:
    """The first run against each other one, or every pair of them."""
    called = runs.names(read)
    chosen = list(combinations(range(len(read)), 2)) if all_pairs else [(0, k) for k in range(1, len(read))]
    found = []
    for i, j in chosen:
        pairing = pairs.pair(read[i], read[j], by=by, labels=labels, least=least)
        rows = tuple(_row(pairing, group, metrics, resamples, seed) for group in pairing.counts)
        found.append(Comparison(called[i], called[j], (read[i], read[j]), pairing, rows))
    return _corrected(found)


def _row(pairing: Pairing, group: Group, metrics: Sequence[str], resamples: int, seed: int) -> Row:
    cells, unit = pairing.cells(group)
    found, swaps = differences(cells, metrics, resamples=resamples, seed=seed)
    table = pairs.mcnemar(cells)
    measured = tuple(Measured(difference, None) for difference in found)
    return Row(group, int(cells.sum()), int(cells[:, 1].sum()), len(cells), unit, measured, swaps, table, table.p)


def _corrected(found: Sequence[Comparison]) -> list[Comparison]:
    """Holm over all p-values of the swaps; McNemar's are a family of their own, being the same question once more."""
    rows = [row for comparison in found for row in comparison.rows]
    swapped = iter(holm([one.difference.p for row in rows for one in row.metrics]))
    exact = iter(holm([row.mcnemar_holm for row in rows]))

    def redone(row: Row) -> Row:
        metrics = tuple(Measured(one.difference, next(swapped)) for one in row.metrics)
        return replace(row, metrics=metrics, mcnemar_holm=next(exact) or 0.0)

    return [replace(comparison, rows=tuple(map(redone, comparison.rows))) for comparison in found]


def remarks(found: Sequence[Comparison]) -> Iterator[str]:
    """What has to be said of the pairing before any number: who lacks what, and how it counts."""
    for one in found:
        p = one.pairing
        names = f"{one.second} and {one.first}" if len(found) > 1 else "They"
        said = [
            f"{n:,} items are in {name} only"
            for n, name in ((p.first_only, one.first), (p.second_only, one.second))
            if n
        ]
        if p.failed:
            said.append(f"{p.failed:,} failed in one of them or both")
        if said:
            yield f"{names} share {p.shared:,} answered items; {', '.join(said)}: those count nowhere."
        for run, name, lost in zip(one.runs, (one.first, one.second), p.unreadable, strict=True):
            if lost:
                counts = "No" if run.unreadable == "no" else "wrong"
                yield f"{lost:,} replies of {name} could not be read and count as {counts}."
            if not run.complete:
                yield f"{name} is not complete."
        if one.runs[0].unreadable != one.runs[1].unreadable and any(p.unreadable):
            yield "The two were run with different task.unreadable."
        if not p.differing:
            yield f"{one.second} and {one.first} gave the same answer to every item."


def reasons(found: Sequence[Comparison]) -> Iterator[str]:
    """Why there is a dash, and what p rests on."""
    rows = [row for comparison in found for row in comparison.rows]
    if any(row.clusters == 1 for row in rows):
        yield "One cluster: no interval and no test; nothing is known about how much another cluster would differ."
    if any(1 < row.clusters < FEWEST for row in rows):
        yield f"Fewer than {FEWEST} clusters: no interval."
    if any(_thin(row, one.difference) for row in rows for one in row.metrics):
        yield f"No interval either where a metric rests on fewer than {FEWEST} clusters."
    if any(one.difference.same for row in rows for one in row.metrics):
        yield "No interval either where each resample has the same difference: that says nothing of other clusters."
    for unit in sorted({row.unit for row in rows if row.unit}):
        yield f"Rows of one cluster draw and swap whole {unit} within it."
    if torn := sum(_torn(one.difference) for row in rows for one in row.metrics):
        where = "In one row" if torn == 1 else f"In {torn:,} rows"
        yield f"{where} the interval leaves out 0 though p is above 0.05: of few clusters it is too bold; go by p."
    if floors := [row.swaps.least for row in rows if row.swaps and row.swaps.exact and row.swaps.least > 0.05]:
        where = "In one row" if len(floors) == 1 else f"In {len(floors):,} rows"
        yield f"{where} so few clusters differ that no p below {min(floors):.2g} is possible."


def _thin(row: Row, d: Difference) -> bool:
    return row.clusters >= FEWEST and d.value is not None and d.interval is None and not d.same


def _torn(d: Difference) -> bool:
    return d.interval is not None and d.p is not None and d.p > 0.05 and not d.interval[0] <= 0 <= d.interval[1]
