"""A seeded stratified sample: what `task.limit` takes instead of the first items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from harness.codec import permuted, uniform

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def quotas(sizes: Mapping[K, int], limit: int, *, seed: int) -> dict[K, int]:
    """Return how many of `limit` values each stratum gets: its share by size (largest remainder), at most its size."""
    total = sum(sizes.values())
    if limit >= total:
        return dict(sizes)
    shares = {key: divmod(limit * size, total) for key, size in sizes.items()}
    quota = {key: share for key, (share, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (-shares[key][1], uniform(seed, "remainder", key)))
    for key in by_remainder[: limit - sum(quota.values())]:
        quota[key] += 1
    return quota


def stratified(
    values: Sequence[T], limit: int, *, stratum: Callable[[T], Hashable], name: Callable[[T], str], seed: int
) -> list[T]:
    """Return `limit` of the values, each stratum with its share, in their original order; see `by_name`."""
    if limit >= len(values):
        return list(values)
    quota = quotas(Counter(map(stratum, values)), limit, seed=seed)
    return by_name(values, quota, stratum=stratum, name=name, seed=seed)


def by_name(
    values: Sequence[T], quota: Mapping[K, int], *, stratum: Callable[[T], K], name: Callable[[T], str], seed: int
) -> list[T]:
    """Return each stratum's quota of values, in their original order.

    Which values of a stratum are taken is drawn from (seed, name), so it depends neither on their order nor
    on what else is there, and a smaller sample of a stratum is part of a larger one.
    """
    strata: dict[K, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        strata[stratum(value)].append(place)
    chosen_places: list[int] = []
    for key, places in strata.items():
        chosen_places += sorted(places, key=lambda k: uniform(seed, "limit", name(values[k])))[: quota[key]]
    return [values[k] for k in sorted(chosen_places)]


def by_place(
    size: int, value: Callable[[int], T], quota: Mapping[K, int], *, stratum: Callable[[T], K], seed: int
) -> list[T]:
    """Return each stratum's quota of the values at places 0 … size-1, in their original order.

    Places are drawn from (seed, size) and only their values are made, for a stratum that is too large to be
    looked through. A smaller sample of a stratum is part of a larger one here, too. Every place is tried where a
    quota is more than there is.
    """
    remaining = {key: count for key, count in quota.items() if count}
    values: dict[int, T] = {}
    places = permuted(size, seed, "limit by place", size)
    while remaining and (place := next(places, None)) is not None:
        here = value(place)
        key = stratum(here)
        if key in remaining:
            values[place] = here
            remaining[key] -= 1
            if not remaining[key]:
                del remaining[key]
    return [values[place] for place in sorted(values)]
