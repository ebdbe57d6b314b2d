"""The examples of a pass over the data, and the order in which those of similar length stand together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch

from harness.plugins.train.examples import Example, Lessons
from harness.plugins.train.learners import Learner, fits_of

SORTED_BATCHES = 16
"""Batches whose examples are sorted together; the more, the less padding and the less mixing."""


class ByLength(torch.utils.data.Sampler[int]):
    """Draws a new order for each pass: random, sorted by length within SORTED_BATCHES batches, these batches shuffled.

    The order depends on seed and pass alone, so that a training that was stopped goes on in it. transformers' own
    LengthGroupedSampler draws from torch's state, which is another one by then.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        super().__init__()
        self._lengths, self._size, self._seed, self._epoch = lengths, batch_size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Begin a pass; accelerate calls it."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        """Yield the places of the examples; the last batch, which may be a short one, stays the last."""
        draw = random.Random(f"{self._seed} {self._epoch}")
        places = list(range(len(self._lengths)))
        draw.shuffle(places)
        blocks = [
            places[k : k + SORTED_BATCHES * self._size] for k in range(0, len(places), SORTED_BATCHES * self._size)
        ]
        order = [place for block in blocks for place in sorted(block, key=lambda place: self._lengths[place])]
        batches = [order[k : k + self._size] for k in range(0, len(order), self._size)]
        short = [batches.pop()] if len(batches[-1]) < self._size else []
        draw.shuffle(batches)
        for batch in batches + short:
            yield from batch


class Pass(torch.utils.data.Dataset[list[Example]]):
    """The examples of the current pass, one by one or, where premises are packed, premise by premise."""

    def __init__(self, lessons: Lessons, learner: Learner) -> None:
        self._lessons, self._learner, self._renews, self._epoch = lessons, learner, lessons.renews, 0
        self._first = self._rows = lessons.epoch(0)
        self._units = learner.units(self._first)
        self.lengths = [lessons.lengths[unit[0]] for unit in self._units]

    def begin(self, epoch: int) -> None:
        """Take up the examples of a pass; the number of examples is that of the first."""
        if self._renews and epoch != self._epoch:
            rows = self._lessons.epoch(epoch)
            fits = fits_of(self._learner, rows)
            # What is too long under its new names is learned under those of the first pass.
            self._rows = [old if fit.problem else new for old, new, fit in zip(self._first, rows, fits, strict=True)]
            self._epoch = epoch

    def __len__(self) -> int:
        return len(self._units)

    def __getitem__(self, place: int) -> list[Example]:
        return [self._rows[k] for k in self._units[place]]
