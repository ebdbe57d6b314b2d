"""task.whole=true: all hypotheses about each premise, so that limit counts premises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from harness.causal.relations import Relation
from harness.codec import shuffled, uniform
from harness.errors import ConfigError
from harness.plugins.fresh.blocks import ORDERED, Classes
from harness.tasks.corr2cause.claim import Claim, claims

Premise = tuple[int, int]
"""Its size, and the number of its class."""
_OTHER_END = {Relation.PARENT: Relation.CHILD, Relation.CHILD: Relation.PARENT}


def premises(classes: Mapping[int, Classes], limit: int | None) -> Iterator[Premise]:
    """Yield premises, sizes in turn as long as each has some."""
    return islice(_in_turn(classes), limit)


def _in_turn(classes: Mapping[int, Classes]) -> Iterator[Premise]:
    streams = {n: iter(of_size) for n, of_size in classes.items()}
    while streams:
        for n in tuple(streams):
            number = next(streams[n], None)
            if number is None:
                del streams[n]
            else:
                yield n, number


def count(classes: Mapping[int, Classes], limit: int) -> int:
    """Return how many items so many premises have. Raises ConfigError where there are fewer."""
    sizes = [n for n, _ in premises(classes, limit)]
    if len(sizes) < limit:
        raise ConfigError(
            f"task.limit={limit}: task.num_nodes={list(classes)} has {len(sizes):,} premises, as none comes twice."
        )
    return sum(3 * n * (n - 1) for n in sizes)


def ask_everything(n: int, number: int, *key: object) -> tuple[tuple[int, ...], Sequence[Claim]]:
    """Return the place of each node in a premise's list, and its 3n(n-1) claims, no two of one meaning.

    As in the public data parent and child are told apart by which variable the premise lists first.
    """
    place = tuple(shuffled(range(n), *key, "places", 0))
    of_class = claims(n, number, seed=int(uniform(*key, "arguments") * 2**32))
    return place, [_as_listed(claim, place) for claim in of_class]


def _as_listed(claim: Claim, place: Sequence[int]) -> Claim:
    if claim.relation not in ORDERED or place[claim.i] < place[claim.j]:
        return claim
    return Claim(claim.n, claim.number, _OTHER_END[claim.relation], claim.j, claim.i)
