"""Confidence sequences: intervals that hold the truth with 95% at every look at once, however often one looks.

What is estimated is a ratio of sums over draws, ΣA / ΣB. A draw is what is independent: a cluster of items, or what a
task says it is. For accuracy A counts right answers and B answers; F1 is 2·TP / (2·TP + FP + FN). The ratio is m
exactly if the mean of d(m) = A - m·B over the population is 0. For each m of a grid somebody bets on that, one draw
after the other, with what the draws before have taught: if the mean is 0, no bet makes money on average, and the
capital reaches 40 times what it began with in at most one of 40 cases, at any time (Ville's inequality). Half of the
money bets that the ratio is above m and half that it is below; an m at which either half stands at 40 is left out for
good. Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (JRSS B 86, 2024): the capital
process (section 3), the two halves (4.4), the average over several bets (D.2 there), a population of finite size (5).

Draws from a population of C clusters without replacement have another mean: given those before, the next d(m) is -Σ
d(m) / (C - t) on average, and the bets are on that. So the interval is a point when all have been drawn.

Each half's capital is monotone in m: larger m makes every d(m) less, relative to how far it can fall, which is what the
bets are limited by. So what is left over is an interval, and the grid point at which a half was left out bounds all
that lie beyond it: rounding to the grid only makes it wider.

The bets: for an interval of half-width h, each stakes h·B̄ / σ², which is best at the moment when that width is reached
(σ² is the variance of d so far); for a decision, the average of eight bettors who stake 1% to 90% of what they may.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from harness.scoring.definitions import definition

Pair = tuple[float, float]
"""What one item adds to A and to B."""
Outcomes = tuple[Pair, Pair, Pair, Pair]
"""The pairs of a true positive, a false positive, a false negative and a true negative."""
ALPHA = 0.05
GRID = 1_000
"""Steps of m from 0 to 1."""
MOST_STAKED = 0.75
"""Of what one bet may stake, so that one draw never takes all."""
STAKES = (0.01, 0.019, 0.036, 0.069, 0.13, 0.25, 0.48, 0.9)
"""Of the bettors whose average decides."""
_TINY = 1e-12
PAIRED: Outcomes = ((1, 1), (0, 1), (0.5, 1), (0.5, 1))
"""Right alone, wrong alone, and two ways of being as the other is: (1 + difference) / 2 as a ratio."""
_OWN: Mapping[str, tuple[Outcomes, ...]] = {
    "balanced_accuracy": (((1, 1), (0, 0), (0, 1), (0, 0)), ((0, 0), (0, 1), (0, 0), (1, 1))),
    "pair_accuracy": (((1, 1), (0, 1), (0, 1), (1, 1)),),
}
DIFFERENCES = ("accuracy", *_OWN)
"""Metrics of which two runs differ item by item: each item is right or wrong under both."""


def components(metric: str) -> tuple[Outcomes, ...]:
    """Return the ratios whose mean a metric is, by what each outcome adds; () where it is no such mean."""
    if metric in _OWN:
        return _OWN[metric]
    if (of_counts := definition(metric).of_counts) is None:
        return ()
    tp, fp, fn, tn = (tuple(map(float, of_counts(*place))) for place in _UNITS)
    return (((tp[0], tp[1]), (fp[0], fp[1]), (fn[0], fn[1]), (tn[0], tn[1])),)


_UNITS = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))


class RatioSequence:
    """The confidence sequence of one ratio ΣA / ΣB, a draw at a time."""

    def __init__(
        self,
        outcomes: Outcomes,
        size: int,
        *,
        alpha: float = ALPHA,
        aim: float | None = None,
        draws: int | None = None,
        at: float = 0.5,
        grid: int = GRID,
    ) -> None:
        """Begin without a draw.

        `size` is the number of items of the largest draw, `draws` how many there are at all (None: as many as one
        likes, from a population that they do not use up). `aim` is the half-width that the bets are made for; None: a
        decision, at `at`, which is a point of the grid then.
        """
        self._alpha, self._aim, self._draws = alpha, aim, draws
        self._points = np.union1d(np.linspace(0, 1, grid + 1), [at])
        ends = np.array([(0.0, 0.0), *outcomes])
        of_item = ends[:, :1] - ends[:, 1:] * self._points
        self._lowest, self._highest = size * of_item.min(axis=0), size * of_item.max(axis=0)
        self._most = size * float(ends[:, 1].max())
        self._floor = 1e-9 * self._most
        self._stakes = np.array([MOST_STAKED] if aim is not None else STAKES)[:, None]
        self._above = np.zeros((len(self._stakes), len(self._points)))
        self._below = self._above.copy()
        """Logarithms of what each bettor has made of 1, by m: on the ratio being above m, and below."""
        self.number, self._a, self._b, self._aa, self._ab, self._bb = 0, 0.0, 0.0, 0.0, 0.0, 0.0
        self.low, self.high = 0.0, 1.0
        self.raised = self.lowered = False
        """Whether `low` and `high` are values that were bet against and lost."""

    @property
    def value(self) -> float | None:
        """ΣA / ΣB of the draws so far; None where ΣB is 0."""
        return self._a / self._b if self._b else None

    @property
    def exhausted(self) -> bool:
        return self._draws == self.number

    def add(self, a: float, b: float) -> None:
        """Enter a draw. Afterwards the truth is in [low, high], with 1 - alpha at all times at once."""
        m = self._points
        left = 0 if self._draws is None else self._draws - self.number
        mean = (m * self._b - self._a) / left if left else np.zeros(len(m))
        fall, rise = mean - self._lowest, self._highest - mean
        gain = a - m * b - mean
        for capital, room, sign in ((self._above, fall, 1.0), (self._below, rise, -1.0)):
            stake = self._stakes / np.maximum(room, self._floor)
            if self._aim is not None:
                stake = np.minimum(stake, self._bet(self._aim))
            capital += np.log1p(
                np.maximum(stake * (sign * gain), -MOST_STAKED if self._aim is not None else -STAKES[-1])
            )
        self.number += 1
        self._a, self._b = self._a + a, self._b + b
        self._aa, self._ab, self._bb = self._aa + a * a, self._ab + a * b, self._bb + b * b
        self._narrow()

    def _bet(self, aim: float) -> float:
        """Return what is staked on the next draw, by the ones before: aim · mean of B / variance of d."""
        ratio = (self._a + self._most / 2) / (self._b + self._most)
        squares = self._aa - 2 * ratio * self._ab + ratio**2 * self._bb + self._most**2 / 4
        return aim * (self._b + self._most) / max(squares, _TINY)

    def _narrow(self) -> None:
        """Leave out what a half has bet against and won, from either end; forget the capital of what is left out."""
        if self.exhausted:
            self.low = self.high = self.value if self.value is not None else self.low
            return
        enough = math.log(2 / self._alpha) + math.log(len(self._stakes))
        won_above, won_below = (np.logaddexp.reduce(c, axis=0) >= enough for c in (self._above, self._below))
        first = len(won_above) if won_above.all() else int(won_above.argmin())
        last = -1 if won_below.all() else len(won_below) - 1 - int(won_below[::-1].argmin())
        if first:
            self.low, self.raised = float(self._points[first - 1]), True
        if last + 1 < len(self._points):
            self.high, self.lowered = float(self._points[last + 1]), True
        first, last = min(first, len(self._points) - 1), max(last, 0)
        if first > last:  # nothing is left, which happens in at most one of 20 cases
            self.low = self.high = float(self._points[last])
            first = last
        kept = slice(first, last + 1)
        self._points, self._lowest, self._highest = self._points[kept], self._lowest[kept], self._highest[kept]
        self._above, self._below = self._above[:, kept], self._below[:, kept]
