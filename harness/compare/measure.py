"""The numbers of a comparison: the differences of each pair of runs in each group, all p-values corrected together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from harness.compare import runs
from harness.compare.difference import Difference, Swaps, differences, of_counts
from harness.compare.pairing import Pairing, pair
from harness.compare.runs import Replies
from harness.errors import HarnessError
from harness.prompting.version import other_rules_note
from harness.scoring.bootstrap import CONSTANT, FEWEST, RESTS_ON_FEW, SEED
from harness.scoring.summary import OVERALL
from harness.scoring.tally import Group


@dataclass(frozen=True, slots=True)
class Row:
    """Two runs on one group of items."""

    group: Group
    items: int
    clusters: int
    unit: str
    """What the clusters are where they are parts of a single one, else empty."""
    metrics: tuple[Difference, ...]
    swaps: Swaps | None
    """None where there is one cluster."""

    @property
    def title(self) -> str:
        return "all" if self.group == OVERALL else f"{self.group[0].replace('_', ' ')}: {self.group[1]}"


@dataclass(frozen=True)
class Comparison:
    """Two runs and their differences."""

    first: str
    second: str
    runs: tuple[Replies, Replies]
    pairing: Pairing
    rows: tuple[Row, ...]


def compare(
    replies: Sequence[Replies], *, all_pairs: bool, metrics: Sequence[str], by: Sequence[str], labels: str | None
) -> tuple[list[Comparison], list[HarnessError]]:
    """Compare the first run with each other one, or every pair; return why some of several cannot be compared, too.

    Raises where none can.
    """
    named = list(zip(runs.names(replies), replies, strict=True))
    pairs = combinations(named, 2) if all_pairs else ((named[0], other) for other in named[1:])
    comparisons: list[Comparison] = []
    problems: list[HarnessError] = []
    for (first, a), (second, b) in pairs:
        try:
            pairing = pair(a, b, by=by, labels=labels)
        except HarnessError as error:
            problems.append(error)
            continue
        rows = tuple(_row(pairing, group, metrics) for group in pairing.rows)
        comparisons.append(Comparison(first, second, (a, b), pairing, rows))
    if not comparisons:
        raise problems[0]
    return _correct_p_values(comparisons), problems


def _row(pairing: Pairing, group: Group, metrics: Sequence[str]) -> Row:
    """Return the differences of two paired runs on one group of items; their p is not corrected yet."""
    cells, unit = pairing.cells(group)
    of_row, swaps = differences(of_counts(cells), metrics, seed=SEED)
    return Row(group, int(cells.sum()), len(cells), unit, tuple(of_row), swaps)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values of one family together: by chance any of them falls below 5% in 5% of such families.

    None stays None and does not count. Equal to statsmodels' multipletests(method="holm"). Holm (1979).
    """
    ranked = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        highest = max(highest, min(1.0, p * (len(ranked) - rank)))
        corrected[place] = highest
    return corrected


def _correct_p_values(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct all p-values of the swaps together (Holm)."""
    rows = [row for comparison in comparisons for row in comparison.rows]
    swapped = iter(holm([metric.p for row in rows for metric in row.metrics]))

    def with_corrected_p(row: Row) -> Row:
        return replace(row, metrics=tuple(replace(metric, p_holm=next(swapped)) for metric in row.metrics))

    return [replace(comparison, rows=tuple(map(with_corrected_p, comparison.rows))) for comparison in comparisons]


def remarks(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield what a reader has to know of the pairing before any number: which items are missing, and how they count."""
    yield from _of_other_rules({id(run): run for comparison in comparisons for run in comparison.runs}.values())
    for comparison in comparisons:
        p = comparison.pairing
        names = f"{comparison.second} and {comparison.first}" if len(comparisons) > 1 else "They"
        facts = [
            f"{n:,} items are in {name} only"
            for n, name in ((p.first_only, comparison.first), (p.second_only, comparison.second))
            if n
        ]
        if p.failed:
            facts.append(f"{p.failed:,} failed in one of them or both")
        if facts:
            yield f"{names} share {p.shared:,} answered items; {', '.join(facts)}: those count nowhere."
        for replies, name, lost in zip(
            comparison.runs, (comparison.first, comparison.second), p.unreadable, strict=True
        ):
            if lost:
                counted = f"{lost:,} reply of {name}" if lost == 1 else f"{lost:,} replies of {name}"
                label = "No" if replies.run.unreadable_is_no else "wrong"
                yield f"{counted} could not be read and count{'s' * (lost == 1)} as {label}."
            if not replies.run.complete:
                yield f"{name} is not complete."
        if not p.differing:
            yield f"{comparison.second} and {comparison.first} gave the same answer to every item."


def _of_other_rules(replies: Collection[Replies]) -> Iterator[str]:
    """Yield that runs were read by other rules than today's, and the command that reads them again."""
    paths = [str(each.path) for each in replies if each.run.read_by_other_rules]
    if paths:
        yield other_rules_note(len(paths), f"of the {len(replies):,} runs", paths)


def reasons(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield why there is a dash, and what p rests on."""
    rows = [row for comparison in comparisons for row in comparison.rows]
    if any(row.clusters == 1 for row in rows):
        yield "One cluster: no interval and no test; nothing is known about how much another cluster would differ."
    if any(1 < row.clusters < FEWEST for row in rows):
        yield f"Fewer than {FEWEST} clusters: no interval."
    reasons_of_rows = {metric.reason for row in rows for metric in row.metrics}
    if RESTS_ON_FEW in reasons_of_rows:
        yield f"No interval either where a metric rests on fewer than {FEWEST} clusters."
    if CONSTANT in reasons_of_rows:
        yield "No interval either where each resample has the same difference: that says nothing of other clusters."
    for unit in sorted({row.unit for row in rows if row.unit}):
        yield f"Rows of one cluster draw and swap whole {unit} within it."
    if contradictions := sum(_contradicts(metric) for row in rows for metric in row.metrics):
        where = "In one row" if contradictions == 1 else f"In {contradictions:,} rows"
        yield f"{where} the interval leaves out 0 though p is above 0.05: of few clusters it is too bold; go by p."
    if floors := [row.swaps.least for row in rows if row.swaps and row.swaps.exact and row.swaps.least > 0.05]:
        where = "In one row" if len(floors) == 1 else f"In {len(floors):,} rows"
        yield f"{where} so few clusters differ that no p below {min(floors):.2g} is possible."


def _contradicts(d: Difference) -> bool:
    return d.interval is not None and d.p is not None and d.p > 0.05 and not d.interval[0] <= 0 <= d.interval[1]
