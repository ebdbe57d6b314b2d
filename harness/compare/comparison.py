"""The differences of each pair of runs in each group, all p-values corrected together; and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from harness.compare.difference import Difference, Swaps, differences, holm, of_counts
from harness.compare.pairing import Pairing, Replies, pair
from harness.errors import ConfigError, HarnessError
from harness.prompting.reading import other_rules_note
from harness.scoring.bootstrap import CONSTANT, FEWEST, RESAMPLES, RESTS_ON_FEW, SEED
from harness.scoring.definitions import definition
from harness.scoring.summary import OVERALL
from harness.scoring.tally import Group
from harness.tables.numbers import p_text

_PLACE = ("model", "prompt", "variant", "task")
MARK = "*"
"""Stands behind a p that is at most 0.05 when all of a table are corrected together."""
RESAMPLED = f"95% over {RESAMPLES:,} resamples of whole clusters"
NO_WORSE, WORSE, UNKNOWN = "no worse than the margin", "worse", "not enough evidence"


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
    named = list(zip(names(replies), replies, strict=True))
    comparisons: list[Comparison] = []
    problems: list[HarnessError] = []
    for (first, a), (second, b) in combinations(named, 2):
        if a is replies[0] or all_pairs:
            try:
                pairing = pair(a, b, by=by, labels=labels)
            except HarnessError as error:
                problems.append(error)
                continue
            rows = tuple(_row(pairing, group, metrics) for group in pairing.rows)
            comparisons.append(Comparison(first, second, (a, b), pairing, rows))
    if not comparisons:
        raise problems[0]
    p_holm = iter(holm([d.p for _, _, d in every(comparisons)]))
    corrected = [
        [replace(row, metrics=tuple(replace(d, p_holm=next(p_holm)) for d in row.metrics)) for row in comparison.rows]
        for comparison in comparisons
    ]
    return [replace(one, rows=tuple(rows)) for one, rows in zip(comparisons, corrected, strict=True)], problems


def names(several: Sequence[Replies]) -> list[str]:
    """Return a name for each: the parts of its place that tell it from the others, else its path."""
    places = [replies.run.place for replies in several]
    parts = [part for part in _PLACE if len({place[part] for place in places}) > 1]
    texts = [" ".join(place[part] for part in parts) for place in places]
    return texts if parts and len(set(texts)) == len(texts) else [str(replies.path) for replies in several]


def every(comparisons: Sequence[Comparison]) -> Iterator[tuple[Comparison, Row, Difference]]:
    """Yield the differences of all groups and metrics."""
    yield from ((one, row, d) for one in comparisons for row in one.rows for d in row.metrics)


def _row(pairing: Pairing, group: Group, metrics: Sequence[str]) -> Row:
    """Return the differences of two paired runs on one group of items; their p is not corrected yet."""
    cells, unit = pairing.cells(group)
    of_row, swaps = differences(of_counts(cells), metrics, seed=SEED)
    return Row(group, int(cells.sum()), len(cells), unit, tuple(of_row), swaps)


def remarks(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield what a reader has to know before any number: which items are compared, and how they count."""
    first = comparisons[0].rows[0]
    labels = ", ".join(sorted({comparison.pairing.labels for comparison in comparisons}))
    unit = first.unit or ("cluster" if first.clusters == 1 else "clusters")
    task = comparisons[0].runs[0].run.task
    yield f"{first.items:,} item{'s' * (first.items != 1)} of {task} in {first.clusters:,} {unit}, {labels} labels."
    which = f"A is {comparisons[0].first}, B is {comparisons[0].second}. " if len(comparisons) == 1 else ""
    yield f"{which}Metrics in percent."
    if "paper" in labels.split(", "):
        yield "The paper's labels, but F1 of Yes over questions: its own numbers over cells are not compared."
    replies = {id(run): run for comparison in comparisons for run in comparison.runs}.values()
    if older := [str(each.path) for each in replies if each.run.read_by_other_rules]:
        yield other_rules_note(len(older), f"of the {len(replies):,} runs", older)
    for comparison in comparisons:
        yield from _of_pairing(comparison, "They" if len(comparisons) == 1 else "")


def _of_pairing(comparison: Comparison, who: str) -> Iterator[str]:
    """Yield which items two runs share, and how what was not read counts."""
    p, run_names = comparison.pairing, (comparison.first, comparison.second)
    counts = [*zip((p.first_only, p.second_only), (f"in {name} only" for name in run_names), strict=True)]
    counts.append((p.failed, "failed in one of them or both"))
    if facts := ", ".join(f"{count:,} {words}" for count, words in counts if count):
        who = who or f"{comparison.second} and {comparison.first}"
        yield f"{who} share {p.shared:,} answered items; {facts}: those count nowhere."
    for replies, name, lost in zip(comparison.runs, run_names, p.unreadable, strict=True):
        if lost:
            label = "No" if replies.run.unreadable_is_no else "wrong"
            counted = f"{lost:,} {'reply' if lost == 1 else 'replies'} of {name}"
            yield f"{counted} could not be read and count{'s' * (lost == 1)} as {label}."
        if not replies.run.complete:
            yield f"{name} is not complete."
    if not p.differing:
        yield f"{comparison.second} and {comparison.first} gave the same answer to every item."


def finding(comparison: Comparison) -> str:
    """Return what the first metric over all items comes to, in a sentence or two."""
    d, swaps = comparison.rows[0].metrics[0], comparison.rows[0].swaps
    title = definition(d.metric).title
    a, b = comparison.first, comparison.second
    if d.value is None:
        return f"{title} is undefined for {a if d.first is None else b}: there is no difference to test."
    way = "above" if d.value > 0 else "below"
    difference = f"{b} is {100 * abs(d.value):.2f} points of {title} {way} {a}"
    found = difference if d.value else f"{b} and {a} have the same {title}"
    if d.p_holm is None:
        return f"{found}."
    few = d.interval is None or (swaps is not None and swaps.least > 0.05)
    chance = "too few clusters to tell" if d.value and few else "no more than chance can make"
    proof = "more than chance" if d.p_holm <= 0.05 else chance
    corrected = "" if d.p_holm == d.p else ", Holm"
    sentence = f"{found}: {proof} (p = {p_text(d.p_holm)}{corrected})."
    if d.detectable is None:
        return sentence
    points = f"{100 * d.detectable:.1f} points"
    return f"{sentence} A true difference of {points} would have been seen in 80% of such comparisons."


def verdict(comparison: Comparison, margin: float) -> tuple[str, str]:
    """Return whether the second run is no worse than the first by more than a margin in points, and the sentence.

    It goes by the first metric over all items: no worse where all of the difference's interval lies above minus the
    margin, worse where all of it lies below. Simulated with 21 and 60 clusters and intraclass correlations of 0 and
    0.3, "no worse" is wrong in 2 to 5% of cases where the truth is the margin itself, in 5 to 8% where the loss sits in
    few clusters, and in 13% (60 clusters: 8%) where nearly all answers are right and those of a cluster go together
    (tests/compare/test_margin_errors.py). Raises ConfigError for a metric of which neither end is better.
    """
    d = comparison.rows[0].metrics[0]
    metric = definition(d.metric)
    if metric.best is None:
        raise ConfigError(f"margin={margin:g}: neither end of {metric.title} is better (metrics= chooses another).")
    about = f"{comparison.second} against {comparison.first}, margin {margin:g} points of {metric.title}"
    if unfinished := [each for each in comparison.runs if not each.run.complete]:
        return UNKNOWN, f"{about}: {UNKNOWN}, as {unfinished[0].path} is not complete."
    if d.interval is None:
        return UNKNOWN, f"{about}: {UNKNOWN}, as the difference has no interval."
    low, high = d.interval if metric.best == "high" else (-d.interval[1], -d.interval[0])
    found = NO_WORSE if low > -margin / 100 else WORSE if high < -margin / 100 else UNKNOWN
    ends = f"{100 * low:+.2f} … {100 * high:+.2f}".replace("-", "−")
    better = "" if metric.best == "high" else " (less is better: how much less it has)"
    return found, f"{about}: {found} (95% interval {ends}{better})."


def method(comparisons: Sequence[Comparison]) -> str:
    """Return why there is a dash, and what intervals and p rest on."""
    rows, several = [row for one in comparisons for row in one.rows], [d for _, _, d in every(comparisons)]
    reasons, swaps = {d.reason for d in several}, [row.swaps for row in rows if row.swaps]
    units = " and ".join(sorted({row.unit for row in rows if row.unit}))
    bold = [d for d in several if d.interval and (d.p or 0) > 0.05 and not d.interval[0] <= 0 <= d.interval[1]]
    floor = min((each.least for each in swaps if each.exact and each.least > 0.05), default=None)
    ways = dict.fromkeys("in every possible way" if s.exact else f"{s.number:,} times at random" for s in swaps)
    alone = "nothing is known about how much another cluster would differ"
    same = "No interval either where each resample has the same difference: that says nothing of other clusters."
    power = "the true difference that 80% of such comparisons find at p < 0.05, 2.80 standard errors"
    said = [
        (any(row.clusters == 1 for row in rows), f"One cluster: no interval and no test; {alone}."),
        (any(1 < row.clusters < FEWEST for row in rows), f"Fewer than {FEWEST} clusters: no interval."),
        (RESTS_ON_FEW in reasons, f"No interval either where a metric rests on fewer than {FEWEST} clusters."),
        (CONSTANT in reasons, same),
        (units, f"Rows of one cluster draw and swap whole {units} within it."),
        (bold, "Some intervals leave out 0 though p is above 0.05: of few clusters they are too bold; go by p."),
        (floor, f"In some rows so few clusters differ that no p below {floor or 1:.2g} is possible."),
        (any(d.interval for d in several), f"In brackets: {RESAMPLED}, the same for both."),
        (ways, f"p: the two swapped in whole clusters, {' or '.join(ways)}."),
        (any(d.p is not None for d in several), star_note(several)),
        (any(d.error for d in several), f"Detectable: {power}."),
    ]
    return " ".join(sentence for holds, sentence in said if holds)


def star_note(several: Sequence[Difference]) -> str:
    """Return what the mark behind a p means in a table of several differences."""
    count = sum(d.p is not None for d in several)
    together = f" when the {count:,} p-values of this table are corrected together (Holm)" * (count > 1)
    return f"{MARK}: at most 0.05{together}."
