"""The order of a pass in which examples of similar length stand together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch

AT_ONCE = 16
"""Batches whose examples are sorted together; the more, the less padding and the less mixing."""


class ByLength(torch.utils.data.Sampler[int]):
    """Draws a new order for each pass: random, sorted by length within AT_ONCE batches, these batches shuffled.

    The order depends on seed and pass alone, so that a training that was stopped goes on in it. transformers' own
    LengthGroupedSampler draws from torch's state, which is another one by then.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        """Take the length of each example in tokens."""
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
        blocks = [places[k : k + AT_ONCE * self._size] for k in range(0, len(places), AT_ONCE * self._size)]
        order = [place for block in blocks for place in sorted(block, key=lambda place: self._lengths[place])]
        batches = [order[k : k + self._size] for k in range(0, len(order), self._size)]
        short = [batches.pop()] if len(batches[-1]) < self._size else []
        draw.shuffle(batches)
        for batch in batches + short:
            yield from batch
