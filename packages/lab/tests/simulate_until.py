"""How often until's interval loses the truth: `python packages/lab/tests/simulate_until.py`, 300 runs of each setting.

A run draws a model that is right about each premise with a probability of its own, so that answers within a premise
are as alike as `alike` says (the intraclass correlation), and the less often the more variables there are. The truth is
the score of all items that the settings name; the interval is looked at after every cluster, until it is narrow enough.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import yaml
from harness_lab.until import Estimate, Order, Until
from support.made_records import recorded

from harness.settings import build
from harness.tasks.base import TaskBase
from harness.types import Answer, Record, Response

CONFIGS = Path(__file__).parents[3] / "configs" / "task"
RUNS = 300
ALIKE = (0.0, 0.3)
RIGHT: Mapping[str, float] = {"5": 0.8, "6": 0.7, "7": 0.6}
"""How often the model is right, by the number of variables; with fewer 0.9."""


SETTINGS: Sequence[tuple[str, str, Mapping[str, Any]]] = (
    ("corr2cause/fresh", "accuracy", {"limit": 1000}),
    ("corr2cause/fresh", "accuracy", {"num_nodes": [6], "per_premise": 12, "limit": 1200}),
    ("corr2cause/pairs", "pair_accuracy", {"limit": 1000}),
    ("corr2cause", "f1", {}),
    ("corr2cause", "f1", {"split": "all", "num_nodes": [4, 5]}),
)
WIDTH = 0.2


class Simulation:
    """Runs of one task."""

    def __init__(self, task: TaskBase, metric: str) -> None:
        """Make the items once."""
        self.task, self.metric, self.items = task, metric, list(task.items())
        object.__setattr__(task, "items", lambda: self.items)

    def run(self, alike: float, seed: int) -> tuple[bool, int]:
        """Return whether a look lost the score of all items, and how many were asked."""
        order, label = Order(self.task, seed), self.task.headline
        estimate = Estimate(Until(order, self.metric, "wrong", WIDTH))
        answers = _answers(order, alike, np.random.default_rng(seed))
        truth, lost, asked = _score(self.metric, answers, label), False, 0
        for draw, records in zip(order.draws, answers, strict=True):
            estimate.add(draw, records)
            asked += len(draw)
            low, high = estimate.interval
            lost = lost or not low <= round(truth, 6) <= high
            if estimate.decision:
                break
        return lost, asked


def _answers(order: Order, alike: float, random: np.random.Generator) -> list[list[Record]]:
    answers = []
    for draw in order.draws:
        rate = RIGHT.get(draw[0].groups["num_nodes"], 0.9)
        if alike:
            rate = random.beta(rate * (1 / alike - 1), (1 - rate) * (1 / alike - 1))
        wrong = [(item, int(random.random() >= rate)) for item in draw]
        label = order.task.headline
        answers.append([recorded(item, Response(""), Answer(item.labels[label] ^ w)) for item, w in wrong])
    return answers


def _score(metric: str, answers: Sequence[Sequence[Record]], label: str) -> float:
    """Return the score of all items, counted otherwise than until does."""
    pairs = [[(one.labels[label], one.answer and one.answer.label) for one in draw] for draw in answers]
    if metric == "pair_accuracy":
        return fmean(all(gold == said for gold, said in draw) for draw in pairs)
    of = Counter(chain.from_iterable(pairs))
    if metric == "accuracy":
        return (of[0, 0] + of[1, 1]) / of.total()
    return 2 * of[1, 1] / (2 * of[1, 1] + of[0, 1] + of[1, 0])


def main() -> int:
    """Print a row for each setting."""
    for name, metric, settings in SETTINGS:
        config = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text(encoding="utf-8"))
        simulation = Simulation(build({**config, **settings}, "task"), metric)
        for alike in ALIKE:
            runs = [simulation.run(alike, seed) for seed in range(RUNS)]
            lost, asked = (list(column) for column in zip(*runs, strict=True))
            cells = (name, settings, metric, alike, sum(lost), f"{median(asked):,.0f} of {len(simulation.items):,}")
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
