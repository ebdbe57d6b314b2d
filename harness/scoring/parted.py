"""Records that come in parts, each counted apart: what is counted of one part is added to what is of those before it.

Parts follow each other as the records do, so that the sum is what one pass comes to, to the last digit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Protocol, Self, TypeVar

from harness.types import Record

T = TypeVar("T")


class Counter(Protocol):
    """Counts records while they pass; a copy that is made before the first one passes counts a part of them."""

    def counted(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records as they come, each counted."""

    def merge(self, later: Self) -> None:
        """Add the counts of a part that comes after this one's; the later one is not used again."""


class Parted(Iterable[Record]):
    """Records in parts."""

    @abstractmethod
    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        """Yield what `count` returns for each part, in their order; it may run in another process.

        Of records that come with several others, as a vote does, some parts are what lies across those before.
        """


def counted(records: Iterable[Record], counter: Counter) -> Iterable[Record]:
    """Return the records, so that `counter` has counted them once they, or all of their parts, have passed."""
    return _Counted(records, counter) if isinstance(records, Parted) else counter.counted(records)


def mapped(change: Callable[[Record], Record], records: Iterable[Record]) -> Iterable[Record]:
    """Return the records as `change` makes them."""
    return _Mapped(records, change) if isinstance(records, Parted) else map(change, records)


def folded(records: Iterable[Record], count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
    """Yield what `count` returns for each part of records, or for all of them."""
    return records.fold(count) if isinstance(records, Parted) else iter([count(records)])


class _Counted(Parted):
    def __init__(self, records: Parted, counter: Counter) -> None:
        self._records, self._counter = records, counter

    def __iter__(self) -> Iterator[Record]:
        return self._counter.counted(self._records)

    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        empty = deepcopy(self._counter)

        def with_counter(records: Iterable[Record]) -> tuple[T, Counter]:
            of_part = deepcopy(empty)
            return count(of_part.counted(records)), of_part

        for result, of_part in self._records.fold(with_counter):
            self._counter.merge(of_part)
            yield result


class _Mapped(Parted):
    def __init__(self, records: Parted, change: Callable[[Record], Record]) -> None:
        self._records, self._change = records, change

    def __iter__(self) -> Iterator[Record]:
        return map(self._change, self._records)

    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        return self._records.fold(lambda records: count(map(self._change, records)))
