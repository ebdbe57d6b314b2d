"""Whether a second run is no worse than the first by more than a margin (margin=3).

The interval of the difference tells: no worse where all of it lies above minus the margin, worse where all of it lies
below. So either verdict rests on one end of a 95% interval over clusters. Simulated with 21 and 60 clusters and
intraclass correlations of 0 and 0.3, "no worse" is wrong in 2 to 5% of cases where the truth is the margin itself, in 5
to 8% where the loss sits in few clusters, and in 13% (60 clusters: 8%) where nearly all answers are right and those of
a cluster go together (tests/compare/test_margin_errors.py). Of clusters like none that was seen, no interval knows.
"""

from __future__ import annotations

from harness.compare.measure import Comparison
from harness.errors import ConfigError
from harness.scoring.definitions import definition

NO_WORSE, WORSE, UNKNOWN = "no worse than the margin", "worse", "not enough evidence"


def verdict(comparison: Comparison, margin: float) -> tuple[str, str]:
    """Return the verdict on the first metric over all items, and the sentence that gives it with its reason.

    `margin` is in points. Raise ConfigError for a metric of which neither end is better.
    """
    d = comparison.rows[0].metrics[0]
    metric = definition(d.metric)
    if metric.best is None:
        raise ConfigError(f"margin={margin:g}: neither end of {metric.title} is better (metrics= chooses another).")
    names = f"{comparison.second} against {comparison.first}, margin {margin:g} points of {metric.title}"
    if unfinished := [each for each in comparison.runs if not each.run.complete]:
        return UNKNOWN, f"{names}: {UNKNOWN}, as {unfinished[0].path} is not complete."
    if d.interval is None:
        return UNKNOWN, f"{names}: {UNKNOWN}, as the difference has no interval."
    low, high = d.interval if metric.best == "high" else (-d.interval[1], -d.interval[0])
    limit = -margin / 100
    found = NO_WORSE if low > limit else WORSE if high < limit else UNKNOWN
    ends = f"{100 * low:+.2f} … {100 * high:+.2f}".replace("-", "−")
    better = "" if metric.best == "high" else " (less is better: how much less it has)"
    return found, f"{names}: {found} (95% interval {ends}{better})."
