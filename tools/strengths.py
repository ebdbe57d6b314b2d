"""How strong each cause in CausalBench's networks is, by their tables: the file of packages/papers, made once more.

python tools/strengths.py [NETWORK …] writes packages/papers/harness_papers/data/strengths.csv, in a minute; with
names it prints the lines of these networks.

P(effect | do(cause)) is computed by truncated factorization (Pearl, Causality, 2nd edition, 2009, section 3.2) and
variable elimination. A network is its conditional tables: `parents[k]` are the axes of table k before its last, which
is k's own states.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import bits
from harness.tasks.causalbench.networks import NETWORKS, load, tables

FILE = Path(__file__).parents[1] / "packages" / "papers" / "harness_papers" / "data" / "strengths.csv"
COLUMNS = ("network", "cause", "effect", "strength", "error")
"""Every strength is exact: each error is 0."""

Array = NDArray[np.float64]
Parents = Sequence[Sequence[int]]
Factor = tuple[tuple[int, ...], Array]
"""Variables, and a number for each of their states together: one axis a variable."""

AT_ONCE = 2**22
"""Numbers of a factor that elimination makes for all states of the cause together (32 MB); else state by state."""


def lines(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the line of every pair of a network that a directed path joins."""
    network, distributions = load(name), tables(name)
    for cause, cause_name in enumerate(network.variables):
        for effect in descendants(network.dag, cause):
            value = strength(interventional(distributions, network.parent_order, cause, effect))
            yield name, cause_name, network.variables[effect], f"{value:.6f}", f"{0:.6f}"


def descendants(dag: tuple[int, ...], start: int) -> list[int]:
    """Return the variables that a directed path from `start` reaches, in their order."""
    reached = {start}
    while more := {k for k, above in enumerate(dag) if k not in reached and reached & set(bits(above))}:
        reached |= more
    return sorted(reached - {start})


def strength(distributions: Array) -> float:
    """Return the largest total variation between two rows of P(effect | do(cause)): 0 for no effect, 1 for a switch."""
    return max(float(np.abs(distributions - row).sum(axis=1).max()) / 2 for row in distributions)


def interventional(tables: Sequence[Array], parents: Parents, cause: int, effect: int, at_once: int = AT_ONCE) -> Array:
    """Return P(effect | do(cause)): a row for each state of the cause, a column for each of the effect.

    By variable elimination, the variable whose factor is smallest first.
    """
    kept = [k for k in _above(parents, cause, effect) if k != cause]
    factors: list[Factor] = [((*parents[k], k), tables[k]) for k in kept]
    sizes = {k: tables[k].shape[-1] for k in (*kept, cause)}
    scopes = [set(variables) for variables, _ in factors]
    order, largest = _order(scopes, sizes, keep={cause, effect})
    if largest <= at_once:
        # A cause that nothing left over mentions makes no difference to its effect.
        return _eliminated([*factors, ((cause,), np.ones(sizes[cause]))], order, (cause, effect))
    order, _ = _order([scope - {cause} for scope in scopes], sizes, keep={effect})
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


def _order(scopes: Sequence[set[int]], sizes: Mapping[int, int], *, keep: set[int]) -> tuple[list[int], int]:
    """Return the order of elimination, the smallest new factor first, and how many numbers its largest factor has."""
    left, order, largest = list(scopes), list[int](), 0
    while waiting := {v for scope in left for v in scope} - keep:
        size, v = min((math.prod(sizes[other] for other in _joined(left, v)), v) for v in waiting)
        largest = max(largest, size)
        left = [scope for scope in left if v not in scope] + [_joined(left, v) - {v}]
        order.append(v)
    return order, largest


def _joined(scopes: Sequence[set[int]], v: int) -> set[int]:
    return {other for scope in scopes if v in scope for other in scope}


def _product(factors: Sequence[Factor], scope: tuple[int, ...]) -> Array:
    """Return the product of factors, two at a time and the smallest first, summed over all but the scope."""
    waiting = sorted(factors, key=lambda factor: factor[1].size)
    letter = {v: place for place, v in enumerate(sorted({v for variables, _ in factors for v in variables}))}
    numbered: list[Any] = [part for variables, numbers in waiting for part in (numbers, [letter[v] for v in variables])]
    pairs = [(0, 1)] * (len(waiting) - 1)
    path = ["einsum_path", *pairs] if pairs else False
    return np.asarray(np.einsum(*numbered, [letter[v] for v in scope], optimize=path))


if __name__ == "__main__":
    if names := sys.argv[1:]:
        csv.writer(sys.stdout, lineterminator="\n").writerows(line for name in names for line in lines(name))
    else:
        rows = [line for name in NETWORKS for line in lines(name)]
        with FILE.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
