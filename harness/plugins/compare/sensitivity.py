"""How much a score and the answers depend on how a question is put: the same items in wordings that mean the same.

Two numbers of a metric over k wordings. *Spread* is its largest value less its smallest; noise alone makes that greater
than 0. Its interval is simultaneous for all pairs of wordings, as Tukey's: spread ± q, where 95% of the resamples move
no two wordings further apart than q from where they stand. *SD* is the standard deviation over wordings (k - 1)
without the noise of the items (`bootstrap.without_noise`).

Simulated 400 times with 21 clusters of the sizes of the public test split, 3 and 8 wordings and true spreads of 0 to 20
points, the intervals called 95% hold the truth 95 to 100% (spread) and 92 to 100% (SD) of the time, of two wordings 90%
(SD). The plain percentile interval of a spread holds it 0 to 97% of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.leaderboard.chains import Series
from harness.plugins.compare.pairs import scored_answer
from harness.plugins.compare.runs import Loader, Replies
from harness.scoring import bootstrap
from harness.scoring.definitions import definition
from harness.tables.numbers import Intervals, interval_text, percent_text
from harness.tables.table import Cell, Column, Line
from harness.types import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Answers:
    """The answers of several runs to the items that all of them have answered, and that every run has the label of."""

    gold: NDArray[np.int64]
    """(items,)."""
    cluster: NDArray[np.int64]
    """(items,): the place of each item's cluster."""
    scored: NDArray[np.int64]
    """(items, runs): 1 for Yes and 0 for No, an unreadable reply as it is scored."""
    differing: NDArray[np.float64]
    """(items, 2): whether not all answers are the same, and the share of pairs of runs whose answers differ. An
    unreadable reply is an answer of its own."""

    def by_cluster(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of each column of (items, …) over the items of each cluster."""
        import numpy as np

        sums = np.zeros((self.cluster.max() + 1, *values.shape[1:]))
        np.add.at(sums, self.cluster, values)
        return sums


def answers_of(runs: Sequence[Replies]) -> Answers | None:
    """Return the answers to the items that all runs share; None where there are none, or where they are choices."""
    import numpy as np

    labels = runs[0].headline or runs[0].label_sets[0]
    shared = sorted(set.intersection(*(set(run.by_item) for run in runs)))
    replies = {item: [run.by_item[item] for run in runs] for item in shared}
    replies = {item: of_item for item, of_item in replies.items() if not any(reply.failed for reply in of_item)}
    if not replies or any(run.choices for run in runs):
        return None
    gold = [dict(of_item[0].labels)[labels] for of_item in replies.values()]
    places = {name: k for k, name in enumerate(sorted({of_item[0].cluster for of_item in replies.values()}))}
    scored = [
        [scored_answer(reply, label, run.unreadable) for reply, run in zip(of_item, runs, strict=True)]
        for of_item, label in zip(replies.values(), gold, strict=True)
    ]
    differing = [_differing([reply.answer for reply in of_item]) for of_item in replies.values()]
    clusters = [places[of_item[0].cluster] for of_item in replies.values()]
    return Answers(np.array(gold), np.array(clusters), np.array(scored), np.array(differing))


def _differing(answers: Sequence[int | None]) -> tuple[float, float]:
    k, counts = len(answers), Counter(answers)
    return float(len(counts) > 1), 1 - sum(n * (n - 1) for n in counts.values()) / (k * (k - 1))


def spread_and_deviation(answers: Answers, name: str) -> tuple[Metric, Metric]:
    """Return the spread of a metric over the runs, and its standard deviation without noise; None where undefined."""
    import numpy as np

    nothing = Metric("spread", None), Metric("sd", None)
    if definition(name).made_of != "counts":
        return nothing
    counts = _counts(answers)
    values = _metric(name, counts.sum(axis=0))
    if np.isnan(values).any():
        return nothing
    spread = float(np.ptp(values))
    clusters = len(counts)
    if clusters < bootstrap.FEWEST or _rests_on(name, counts) < bootstrap.FEWEST:
        return Metric("spread", spread), Metric("sd", None)
    flat = counts.reshape(clusters, -1)
    draws = bootstrap.draws(clusters, bootstrap.resamples(clusters), width=flat.shape[1])
    sums = np.concatenate([weights @ flat for weights in draws])
    resampled = _metric(name, sums.reshape(len(sums), *counts.shape[1:]))
    resampled = resampled[~np.isnan(resampled).any(axis=1)]
    tail = bootstrap.tail(clusters)
    apart = float(np.quantile(np.ptp(resampled - values, axis=1), 1 - 2 * tail))
    ends = round(max(0.0, spread - apart), 6), round(min(1.0, spread + apart), 6)
    deviation, deviation_ends = bootstrap.without_noise(
        float(values.var(ddof=1)), resampled.var(axis=1, ddof=1), clusters
    )
    if apart < 1e-9:  # every resample moves all alike, as where all answers are the same
        return Metric("spread", spread), Metric("sd", deviation)
    return Metric("spread", spread, ends), Metric("sd", deviation, deviation_ends)


def _counts(answers: Answers) -> NDArray[np.float64]:
    """Return (clusters, 4, runs): true and false positives, false and true negatives."""
    import numpy as np

    gold, scored = answers.gold[:, None], answers.scored
    parts = (gold & scored, (1 - gold) & scored, gold & (1 - scored), (1 - gold) & (1 - scored))
    return answers.by_cluster(np.stack(parts, axis=1).astype(np.float64))


def _metric(name: str, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (…, runs) of counts (…, 4, runs); NaN where the metric is undefined."""
    import numpy as np

    of_counts = definition(name).of_counts
    assert of_counts is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = of_counts(*np.moveaxis(counts, -2, 0))
        return np.asarray(above / below)


def _rests_on(name: str, counts: NDArray[np.float64]) -> int:
    """Count the clusters in which there is what the metric is made of, in the run that has the fewest."""
    sums = definition(name).sums(*(counts[:, k] for k in range(4)))
    return min(int((part > 0).sum(axis=0).min()) for part in sums)


def flips(answers: Answers) -> tuple[Metric, Metric]:
    """Return the share of items whose answers are not all the same, and the mean share of differing pairs of answers.

    The latter is the chance that two wordings, drawn at random, have other answers.
    """
    import numpy as np

    sums = answers.by_cluster(np.column_stack([answers.differing, np.ones(len(answers.gold))]))
    total, clusters = sums.sum(axis=0), len(sums)
    intervals: list[tuple[float, float] | None] = [None, None]
    if clusters >= bootstrap.FEWEST:
        draws = bootstrap.draws(clusters, bootstrap.resamples(clusters), width=3)
        drawn = np.concatenate([weights @ sums for weights in draws])
        intervals = [bootstrap.interval(drawn[:, k] / drawn[:, 2], clusters) for k in (0, 1)]
    shares = [float(total[k] / total[2]) for k in (0, 1)]
    return Metric("flips", shares[0], intervals[0]), Metric("disagreement", shares[1], intervals[1])


def columns(metrics: Sequence[str]) -> Iterator[Column]:
    """Yield the columns that `cells` fills, whatever the metrics' unit as shares."""
    for metric in metrics:
        title = definition(metric).title
        yield Column(f"{metric}/spread", "spread", "metric", None, title)
        yield Column(f"{metric}/sd", "SD", "metric", None, title)
    yield Column("flips", "answers that flip", "metric", None)
    yield Column("disagreement", "pairs that differ", "metric", None)
    yield Column("items", "items", "count")
    yield Column("n", "n", "count")


def line(
    chain: Series, names: Sequence[Cell], metrics: Sequence[str], intervals: Intervals, load: Loader
) -> Line | None:
    """Return the row of a model's runs; None where fewer than two have records of the same items."""
    try:
        answers = answers_of([load(run) for run in chain.by_step.values()])
    except HarnessError:
        return None
    if answers is None or len(chain.by_step) < 2:
        return None
    numbers = [number for metric in metrics for number in spread_and_deviation(answers, metric)]
    cells = [_cell(number, intervals) for number in (*numbers, *flips(answers))]
    cells += [Cell(f"{n:,}", n) for n in (len(answers.gold), len(chain.by_step))]
    return Line([*names, *cells], ranked=chain.first.ranked)


def _cell(number: Metric, intervals: Intervals) -> Cell:
    return Cell(percent_text(number.value), number.value, number.interval, interval_text(number.interval, intervals))


NOTE = (
    "Of n wordings that mean the same: spread is the largest score less the smallest, which noise alone makes greater "
    "than 0 (if its interval reaches down to 0, the wordings may all score alike); SD is the standard deviation over "
    "wordings without the noise of the items. Flips are items whose answer is not the same in all wordings, pairs are "
    "two answers to one item. Intervals: 95%, whole clusters drawn, the same for all wordings; "
    "docs/conventions.md#wordings has the definitions."
)
