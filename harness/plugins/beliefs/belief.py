"""What is common to worlds that a model may believe in: how far its answers are from one, with what to compare that.

The fewest answers to flip until all of them are those of some world say nothing by themselves: one that always says No
needs none, and one that seldom says Yes needs few. So they stand beside the flips of the same answers shuffled among
the questions of one relation about the same premise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from harness.scoring import bootstrap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Belief:
    """A premise or network, the answers to it and the nearest world."""

    name: str
    size: int
    """How many variables it has."""
    group: str
    """What was asked, where not all answers are about one world; "" otherwise."""
    answers: int
    yes: int
    flips: int
    """The fewest answers to change until all are those of one world."""
    shuffled: float | None
    """The mean of that over shuffles; None where every relation has one answer, so that no shuffle changes any."""
    nearest: int | None
    """How many worlds are so near; None where they are not counted."""
    answers_off: float
    """Answers of the nearest world that are not those of the true one, of all claims; the mean over the nearest."""
    graph_off: float
    """The structural Hamming distance of its graph from the true one; the mean over the nearest."""


@dataclass
class Believed:
    """The beliefs of one run, and what is left out of them."""

    beliefs: list[Belief] = field(default_factory=list)
    unread: int = 0
    """Answers that could not be read, and calls that failed."""
    contradicting: int = 0
    """Claims that were asked more than once and answered with both."""
    too_few: int = 0
    """Premises with fewer answers than asked for."""
    too_large: int = 0
    """Premises and networks whose worlds are too many to look through."""
    unknown: int = 0
    """Items whose id names no class."""


def shuffles(
    answers: NDArray[np.bool_], groups: Sequence[str], number: int, key: Sequence[int]
) -> NDArray[np.bool_] | None:
    """Return rows of the answers, shuffled within each group; None where no shuffle changes any. `key` is the seed."""
    import numpy as np

    rows = np.tile(answers, (number, 1))
    random = np.random.default_rng(list(key))
    varied = False
    for group in sorted(set(groups)):
        places = [k for k, name in enumerate(groups) if name == group]
        if answers[places].any() and not answers[places].all():
            varied = True
            rows[:, places] = random.permuted(rows[:, places], axis=1)
    return rows if varied else None


@dataclass(frozen=True)
class Coherence:
    """Means over the beliefs that have something to compare with."""

    premises: int
    answers: float
    flips: float
    shuffled: float
    ratio: float | None
    """Shuffled over own flips; infinite where there are no own ones, None where there are none of either."""
    interval: tuple[float, float] | None
    """95%, whole premises drawn."""
    nearest: float | None
    answers_off: float
    graph_off: float


def coherence(beliefs: Sequence[Belief]) -> Coherence | None:
    """Return the means; None where no belief has shuffles to compare with."""
    compared = [(belief, belief.shuffled) for belief in beliefs if belief.shuffled is not None]
    if not compared:
        return None
    flips, shuffled = fmean(belief.flips for belief, _ in compared), fmean(value for _, value in compared)
    counted = [belief.nearest for belief, _ in compared if belief.nearest is not None]
    return Coherence(
        premises=len(compared),
        answers=fmean(belief.answers for belief, _ in compared),
        flips=flips,
        shuffled=shuffled,
        ratio=_over(shuffled, flips) if shuffled or flips else None,
        interval=_interval([(belief.flips, value) for belief, value in compared]),
        nearest=fmean(counted) if counted else None,
        answers_off=fmean(belief.answers_off for belief, _ in compared),
        graph_off=fmean(belief.graph_off for belief, _ in compared),
    )


def _over(shuffled: float, flips: float) -> float:
    return shuffled / flips if flips else inf


def _interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the ends of the ratio: those of own over shuffled flips, which is never infinite, turned over."""
    import numpy as np

    if len(pairs) < bootstrap.FEWEST:
        return None
    columns, number = np.array(pairs, np.float64), len(pairs)
    sums = np.concatenate([weights @ columns for weights in bootstrap.draws(number, bootstrap.resamples(number))])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[:, 0] / sums[:, 1]
    ends = bootstrap.interval(shares, number) if np.isfinite(shares).all() else None
    return ends and (_over(1, ends[1]), _over(1, ends[0]))
