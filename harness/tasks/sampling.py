"""A seeded stratified sample: what `task.limit` takes instead of the first items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from harness.draws import uniform

T = TypeVar("T")


def stratified(
    values: Sequence[T], limit: int, *, stratum: Callable[[T], Hashable], name: Callable[[T], str], seed: int
) -> list[T]:
    """`limit` of the values, each stratum with its share (largest remainder), in their original order.

    Which values of a stratum are taken is drawn from (seed, name), so it depends neither on their order nor
    on what else is there, and a smaller sample of a stratum is part of a larger one.
    """
    if limit >= len(values):
        return list(values)
    strata: dict[Hashable, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        strata[stratum(value)].append(place)
    shares = {key: divmod(limit * len(places), len(values)) for key, places in strata.items()}
    quota = {key: whole for key, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (-shares[key][1], uniform(seed, "remainder", key)))
    for key in by_remainder[: limit - sum(quota.values())]:
        quota[key] += 1
    taken: list[int] = []
    for key, places in strata.items():
        taken += sorted(places, key=lambda k: uniform(seed, "limit", name(values[k])))[: quota[key]]
    return [values[k] for k in sorted(taken)]
