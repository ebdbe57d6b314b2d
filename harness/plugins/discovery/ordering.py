"""The order of the columns must tell nothing.

Files of networks list causes before their effects more often than not, many of them always. Wherever directions
score alike, an algorithm that takes the first of equals reads that order off: it would be right for a wrong reason
(Kitson and Constantinou 2024, "The impact of variable ordering on Bayesian network structure learning"). So each
algorithm sees the columns in an order drawn from the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import relabel
from harness.causal.learned_graph import Pattern
from harness.seeding import shuffled

Learn = Callable[[NDArray[np.int64], tuple[int, ...]], Pattern]


def in_random_order(learn: Learn, data: NDArray[np.int64], arities: Sequence[int], seed: int) -> Pattern:
    """Apply `learn` to the columns in a random order and return its pattern in the order of `data`.

    Raises ValueError where `data` is not rows × variables, has no rows, or holds a code that is not a state.
    """
    _check(data, arities)
    order = shuffled(range(len(arities)), "columns", seed)
    pattern = learn(data[:, order], tuple(arities[k] for k in order))
    back = tuple(order)
    return Pattern(relabel(pattern.directed, back), relabel(pattern.undirected, back))


def _check(data: NDArray[np.int64], arities: Sequence[int]) -> None:
    if data.ndim != 2 or data.shape[1] != len(arities) or not data.shape[0]:
        raise ValueError(f"data of shape {data.shape} for {len(arities)} variables")
    if not np.issubdtype(data.dtype, np.integer):
        raise ValueError(f"data of type {data.dtype}: states are coded by integers")
    wrong = np.flatnonzero((data.min(axis=0) < 0) | (data.max(axis=0) >= np.array(arities, dtype=np.int64)))
    if wrong.size:
        raise ValueError(f"column {wrong[0]} holds a code outside 0 … {arities[wrong[0]] - 1}")
