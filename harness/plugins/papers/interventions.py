"""What forcing a variable does to another one: P(effect | do(cause)), by truncated factorization.

Pearl, Causality (2nd edition, 2009), section 3.2.

A network is its conditional tables: `parents[k]` are the axes of table k before its last, which is k's own states.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parents = Sequence[Sequence[int]]
Factor = tuple[tuple[int, ...], Array]
"""Variables, and a number for each of their states together: one axis a variable."""

AT_ONCE = 2**22
"""Numbers of a factor that elimination makes for all states of the cause together (32 MB); else state by state."""
LARGEST = 2**27
"""Numbers of a factor that it makes at all (1 GB); what needs a larger one is drawn."""
_BATCHES = 20


def interventional(tables: Sequence[Array], parents: Parents, cause: int, effect: int) -> Array | None:
    """Return P(effect | do(cause)), exactly: a row for each state of the cause, a column for each of the effect.

    By variable elimination, the variable whose factor is smallest first. None where that needs a factor of more than
    LARGEST numbers for one state of the cause.
    """
    kept = [k for k in _above(parents, cause, effect) if k != cause]
    factors: list[Factor] = [((*parents[k], k), tables[k]) for k in kept]
    sizes = {k: tables[k].shape[-1] for k in (*kept, cause)}
    scopes = [set(variables) for variables, _ in factors]
    if (order := _order(scopes, sizes, keep={cause, effect}, largest=AT_ONCE)) is not None:
        # A cause that nothing left over mentions makes no difference to its effect.
        return _eliminated([*factors, ((cause,), np.ones(sizes[cause]))], order, (cause, effect))
    order = _order([scope - {cause} for scope in scopes], sizes, keep={effect}, largest=LARGEST)
    if order is None:
        return None
    return np.array(
        [
            _eliminated([_at(factor, cause, state) for factor in factors], order, (effect,))
            for state in range(sizes[cause])
        ]
    )


def _eliminated(factors: Sequence[Factor], order: Sequence[int], scope: tuple[int, ...]) -> Array:
    """Return the product of the factors, summed over the variables of `order` one after the other."""
    for k in order:
        bucket = [factor for factor in factors if k in factor[0]]
        joined = tuple(sorted({v for variables, _ in bucket for v in variables} - {k}))
        factors = [factor for factor in factors if k not in factor[0]] + [(joined, _product(bucket, joined))]
    return _product(factors, scope)


def _at(factor: Factor, variable: int, state: int) -> Factor:
    """Return a factor with one variable at one state."""
    variables, numbers = factor
    if variable not in variables:
        return factor
    axis = variables.index(variable)
    return variables[:axis] + variables[axis + 1 :], np.asarray(numbers.take(state, axis=axis))


def sampled(
    tables: Sequence[Array], parents: Parents, cause: int, effect: int, *, draws: int, seed: int
) -> tuple[Array, float]:
    """Return P(effect | do(cause)) estimated from `draws` observations for each state of the cause, and its error.

    The rows of the effect's table are averaged over drawn parents, which is more exact than to count drawn effects.
    The error is a standard error of the strength, told on the safe side: half the sum, over the effect's states, of the
    standard errors (between 20 batches) of the two rows where it is largest.
    """
    rows, errors = [], []
    for state in range(tables[cause].shape[-1]):
        batches = np.array(
            [
                _averaged(
                    tables, parents, cause, effect, state, draws // _BATCHES, np.random.RandomState([seed, batch])
                )
                for batch in range(_BATCHES)
            ]
        )
        rows.append(batches.mean(axis=0))
        errors.append(float(batches.std(axis=0, ddof=1).sum()) / math.sqrt(_BATCHES) / 2)
    return np.array(rows), sum(sorted(errors)[-2:])


def strength(distributions: Array) -> float:
    """Return the largest total variation between two rows of P(effect | do(cause)): 0 for no effect, 1 for a switch."""
    return max(float(np.abs(distributions - row).sum(axis=1).max()) / 2 for row in distributions)


def _averaged(
    tables: Sequence[Array],
    parents: Parents,
    cause: int,
    effect: int,
    state: int,
    draws: int,
    random: np.random.RandomState,
) -> Array:
    """Return the effect's distribution, averaged over `draws` draws of all that lies above it."""
    values = {cause: np.full(draws, state)}
    for k in _above(parents, cause, effect):
        if k in (cause, effect):
            continue
        rows = tables[k][tuple(values[parent] for parent in parents[k])]
        thresholds = np.cumsum(np.broadcast_to(rows, (draws, rows.shape[-1])), axis=1)
        thresholds[:, -1] = np.inf  # rows that sum to a little less than 1
        values[k] = (random.random_sample(draws)[:, None] >= thresholds).sum(axis=1)
    rows = tables[effect][tuple(values[parent] for parent in parents[effect])]
    return np.asarray(np.broadcast_to(rows, (draws, rows.shape[-1])).mean(axis=0))


def _above(parents: Parents, cause: int, effect: int) -> tuple[int, ...]:
    """Return the effect and all that decides about it when the cause is forced, causes before effects."""
    order: dict[int, None] = {}

    def visit(k: int) -> None:
        for parent in () if k == cause else parents[k]:
            if parent not in order:
                visit(parent)
        order[k] = None

    visit(effect)
    return tuple(order)


def _order(scopes: Sequence[set[int]], sizes: Mapping[int, int], *, keep: set[int], largest: int) -> list[int] | None:
    """Return the order of elimination, the smallest new factor first; None where one is larger than `largest`."""
    left, order = list(scopes), list[int]()
    while waiting := {v for scope in left for v in scope} - keep:
        size, v = min((_size(_joined(left, v), sizes), v) for v in waiting)
        if size > largest:
            return None
        left = [scope for scope in left if v not in scope] + [_joined(left, v) - {v}]
        order.append(v)
    return order


def _joined(scopes: Sequence[set[int]], v: int) -> set[int]:
    return {other for scope in scopes if v in scope for other in scope}


def _size(scope: set[int], sizes: Mapping[int, int]) -> int:
    return math.prod(sizes[v] for v in scope)


def _product(factors: Sequence[Factor], scope: tuple[int, ...]) -> Array:
    """Return the product of factors, two at a time and the smallest first, summed over all but the scope."""
    waiting = sorted(factors, key=lambda factor: factor[1].size)
    letter = {v: place for place, v in enumerate(sorted({v for variables, _ in factors for v in variables}))}
    numbered: list[Any] = [part for variables, numbers in waiting for part in (numbers, [letter[v] for v in variables])]
    pairs = [(0, 1)] * (len(waiting) - 1)
    path = ["einsum_path", *pairs] if pairs else False
    return np.asarray(np.einsum(*numbered, [letter[v] for v in scope], optimize=path))
