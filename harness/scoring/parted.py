"""Records that come in parts, each counted apart: what is counted of one part is added to what is of those before it.

Parts follow each other as the records do, so that the sum is what one pass comes to, to the last digit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

from harness.types import Record

T = TypeVar("T")


class Counter(Protocol):
    """Counts records while they pass."""

    def __init__(self) -> None:
        """Begin with none."""

    def counted(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records as they come, each counted."""

    def add(self, later: Self) -> None:
        """Add the counts of a part that comes after this one's."""


class Parted(Iterable[Record]):
    """Records in parts."""

    @abstractmethod
    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        """Yield what `count` returns for each part, in their order; it may run in another process."""


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
        def with_counter(records: Iterable[Record]) -> tuple[T, Counter]:
            of_part = type(self._counter)()
            return count(of_part.counted(records)), of_part

        for result, of_part in self._records.fold(with_counter):
            self._counter.add(of_part)
            yield result


class _Mapped(Parted):
    def __init__(self, records: Parted, change: Callable[[Record], Record]) -> None:
        self._records, self._change = records, change

    def __iter__(self) -> Iterator[Record]:
        return map(self._change, self._records)

    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        return self._records.fold(lambda records: count(map(self._change, records)))
