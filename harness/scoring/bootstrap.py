"""The cluster bootstrap: whole clusters are drawn with replacement, because items of one cluster are not independent.

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13 (percentile interval); Cameron, Gelbach and
Miller, Bootstrap-Based Improvements for Inference with Clustered Errors (2008), on few clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
LEVEL = 0.95
DEFINED = 0.95
"""The share of resamples in which a metric has to be defined; below it there is no interval."""


def weights(clusters: int, *, resamples: int = RESAMPLES, seed: int = 0) -> NDArray[np.int64]:
    """How often each cluster is drawn: (resamples, clusters), each row adds up to the number of clusters."""
    import numpy as np

    return np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples)


def interval(values: NDArray[np.float64]) -> tuple[float, float] | None:
    """The percentile interval of a metric's values over the resamples, NaN where undefined.

    None where too many are undefined, as where positives stand in few clusters.
    """
    import numpy as np

    defined = values[~np.isnan(values)]
    if len(defined) < DEFINED * len(values):
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
