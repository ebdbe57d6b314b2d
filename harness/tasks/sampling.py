"""A seeded stratified sample: what `task.limit` takes instead of the first items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from harness.draws import uniform

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def quotas(sizes: Mapping[K, int], limit: int, *, seed: int) -> dict[K, int]:
    """How many of `limit` values each stratum gets: its share by size (largest remainder), at most its size."""
    total = sum(sizes.values())
    if limit >= total:
        return dict(sizes)
    shares = {key: divmod(limit * size, total) for key, size in sizes.items()}
    found = {key: whole for key, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (-shares[key][1], uniform(seed, "remainder", key)))
    for key in by_remainder[: limit - sum(found.values())]:
        found[key] += 1
    return found


def stratified(
    values: Sequence[T], limit: int, *, stratum: Callable[[T], Hashable], name: Callable[[T], str], seed: int
) -> list[T]:
    """`limit` of the values, each stratum with its share, in their original order.

    Which values of a stratum are taken is drawn from (seed, name), so it depends neither on their order nor
    on what else is there, and a smaller sample of a stratum is part of a larger one.
    """
    if limit >= len(values):
        return list(values)
    strata: dict[Hashable, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        strata[stratum(value)].append(place)
    quota = quotas({key: len(places) for key, places in strata.items()}, limit, seed=seed)
    taken: list[int] = []
    for key, places in strata.items():
        taken += sorted(places, key=lambda k: uniform(seed, "limit", name(values[k])))[: quota[key]]
    return [values[k] for k in sorted(taken)]
