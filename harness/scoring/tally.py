"""How often each kind of record occurs in each cluster, or in each unit of one: all that scores need.

Records are read once: what else is counted of them is counted on the way.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Group = tuple[str, str]
"""(breakdown, group)"""
UNREADABLE, FAILED, CUT_OFF = -1, -2, -3
"""What was read where no answer was: nothing, as the call failed, or as the model was still thinking when it ended."""
_ARROW = " -> "


def ordered_pair(first: str, second: str) -> str:
    return f"{first}{_ARROW}{second}"


def ends(unit: str) -> tuple[str, str]:
    """Return the two variables of an ordered pair. Raises ValueError for a unit that is not one."""
    first, second = unit.split(_ARROW)
    return first, second


def named_units(units: Iterable[str]) -> str:
    return "pairs of variables" if any(" " in unit for unit in units) else "variables"


def unordered(unit: str) -> str:
    """Return what intervals draw: the same for both orders of a pair, and a unit of another kind as it is."""
    return " ".join(sorted(unit.split(_ARROW)))


T = TypeVar("T")
Unit = tuple[str, str]
"""(cluster, part of it)"""
Kind = TypeVar("Kind", bound=Hashable)
"""All that a count needs of a record, such as its groups, its label and its answer. Few kinds, many records."""


@dataclass(frozen=True)
class CountedRow:
    """Records by cluster, or by the parts of their only one, in alphabetical order."""

    columns: NDArray[np.float64]
    """(clusters, columns)."""
    by_part: bool
    kind: NDArray[np.int64]
    """The places of the kinds of the records that have numbers. This and what follows is in the order of clusters."""
    cluster: NDArray[np.int64]
    numbers: NDArray[np.float64]
    """(records, numbers of each)."""

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (clusters, 2): sums of one number of each record, and how many there are that are not NaN."""
        defined = ~np.isnan(values)
        number = np.bincount(self.cluster[defined], minlength=len(self.columns))
        *parts, _ = np.split(values[defined], np.cumsum(number))
        return np.column_stack([[fsum(part.tolist()) for part in parts], number])


class Tally(Generic[Kind]):
    """Counts by kind and unit, which is a cluster or a part of one, such as a pair of variables; numbers beside them.

    Memory grows with the kinds in each unit and, where each record has numbers, by these.
    """

    def __init__(self, numbers: int = 1) -> None:
        """Take a record's `numbers`, where it has any, to be that many."""
        self._counts: defaultdict[Kind, Counter[Unit]] = defaultdict(Counter)
        self._numbers: dict[Kind, tuple[list[Unit], array[float]]] = {}
        self._width = numbers

    def add(self, kind: Kind, cluster: str, part: str = "", numbers: Sequence[float] = ()) -> None:
        """Count a record with its numbers."""
        unit = cluster, part
        self._counts[kind][unit] += 1
        if numbers:
            units, of_kind = self._numbers.setdefault(kind, ([], array("d")))
            units.append(unit)
            of_kind.extend(numbers)

    @property
    def kinds(self) -> Mapping[Kind, int]:
        return {kind: counts.total() for kind, counts in self._counts.items()}

    @property
    def has_numbers(self) -> bool:
        return bool(self._numbers)

    @property
    def clusters(self) -> int:
        return len({cluster for counts in self._counts.values() for cluster, _ in counts})

    @property
    def parts(self) -> set[str]:
        return {part for counts in self._counts.values() for _, part in counts}

    def row(self, members: Mapping[Kind, Iterable[int]], width: int = 0, *, parts: bool = False) -> CountedRow:
        """Return the records of some kinds, each of which adds one to the columns that `members` has of its kind.

        `parts`: whether records of one cluster are counted by its parts.
        """
        units = sorted({unit for kind in members for unit in self._counts[kind]})  # records come in any order
        of_cluster = {cluster: place for place, cluster in enumerate(dict.fromkeys(cluster for cluster, _ in units))}
        by_part = parts and len(of_cluster) == 1
        place_of = {unit: place if by_part else of_cluster[unit[0]] for place, unit in enumerate(units)}
        columns = np.zeros((len(units) if by_part else len(of_cluster), width))
        for kind, columns_of_kind in members.items():
            for unit, count in self._counts[kind].items():
                for column in columns_of_kind:
                    columns[place_of[unit], column] += count
        numbered = [(place, *self._numbers[kind]) for place, kind in enumerate(members) if kind in self._numbers]
        places = np.array([place for place, units, _ in numbered for _ in units], dtype=np.int64)
        cluster = np.array([place_of[unit] for _, units, _ in numbered for unit in units], dtype=np.int64)
        numbers = np.concatenate([np.zeros(0), *(np.frombuffer(of, dtype=np.float64) for *_, of in numbered)])
        order = np.argsort(cluster, kind="stable")
        return CountedRow(columns, by_part, places[order], cluster[order], numbers.reshape(-1, self._width)[order])


def counted(values: Iterable[T], add: Callable[[T], object]) -> Iterator[T]:
    """Yield the values, each once it has been added to what is counted on the way."""
    for value in values:
        add(value)
        yield value


def together(
    values: Iterable[T], key: Callable[[T], str], whole: Callable[[Sequence[T]], bool]
) -> Iterator[Sequence[T]]:
    """Yield the values of each key, as soon as they are `whole`; those that never are come in the end."""
    waiting: dict[str, list[T]] = {}
    for value in values:
        group = waiting.setdefault(name := key(value), [])
        group.append(value)
        if whole(group):
            yield waiting.pop(name)
    yield from waiting.values()
