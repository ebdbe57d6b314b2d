"""Records that come in parts, each counted apart: what is counted of one part is added to what is of those before it.

Parts follow each other as the records do, so that the sum is what one pass comes to, to the last digit. What is counted
is a state, empty at first, that a value is added to; records that mean something only together wait for each other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import chain
from typing import Generic, Protocol, Self, TypeVar

A = TypeVar("A")
B = TypeVar("B")
S = TypeVar("S", bound="State")
T = TypeVar("T")


class State(Protocol):
    """What has been counted; another process sends it to this one."""

    def merge(self, later: Self) -> None:
        """Add what was counted of a part that comes after this one's; the later one is not used again."""


class Parted(Iterable[A]):
    """Records in parts, or what is made of them. To iterate over it is to read all of them in one pass."""

    @abstractmethod
    def fold(self, count: Callable[[Iterable[A]], T]) -> Iterator[T]:
        """Yield what `count` returns for each part, in their order; it may run in another process.

        Of values that belong together some parts are what lies across those before.
        """


def add_all(values: Iterable[A], state: S, add: Callable[[S, A], object]) -> None:
    """Add all values to an empty state."""
    exhaust: partial[deque[object]] = partial(deque, maxlen=0)
    exhaust(Counted(values, state, add).fold(exhaust))


def _parts(values: Iterable[A], count: Callable[[Iterable[A]], T]) -> Iterator[T]:
    return values.fold(count) if isinstance(values, Parted) else iter([count(values)])


class Counted(Parted[A], Generic[A, S]):
    """Values, each of which has been added to an empty state once they, or all of their parts, have passed."""

    def __init__(self, values: Iterable[A], state: S, add: Callable[[S, A], object]) -> None:
        self._values, self._state, self._add = values, state, add

    def __iter__(self) -> Iterator[A]:
        return self._adding(self._state, self._values)

    def fold(self, count: Callable[[Iterable[A]], T]) -> Iterator[T]:
        empty = deepcopy(self._state)

        def with_state(part: Iterable[A]) -> tuple[T, S]:
            of_part = deepcopy(empty)
            return count(self._adding(of_part, part)), of_part

        for result, of_part in _parts(self._values, with_state):
            self._state.merge(of_part)
            yield result

    def _adding(self, state: S, values: Iterable[A]) -> Iterator[A]:
        for value in values:
            self._add(state, value)
            yield value


class Changed(Parted[B], Generic[A, B]):
    """What `change` makes of values, or of each part of them alone."""

    def __init__(self, values: Iterable[A], change: Callable[[Iterable[A]], Iterable[B]]) -> None:
        self._values, self._change = values, change

    def __iter__(self) -> Iterator[B]:
        return iter(self._change(self._values))

    def fold(self, count: Callable[[Iterable[B]], T]) -> Iterator[T]:
        return _parts(self._values, lambda part: count(self._change(part)))


class Together(Parted[Sequence[A]]):
    """The values of each key, as soon as they are `whole`; those that never are come in the end."""

    def __init__(self, values: Iterable[A], key: Callable[[A], str], whole: Callable[[Sequence[A]], bool]) -> None:
        self._values, self._key, self._whole = values, key, whole

    def __iter__(self) -> Iterator[Sequence[A]]:
        waiting: dict[str, list[A]] = {}
        yield from self._ready(self._values, waiting)
        yield from waiting.values()

    def fold(self, count: Callable[[Iterable[Sequence[A]]], T]) -> Iterator[T]:
        def with_waiting(part: Iterable[A]) -> tuple[T, dict[str, list[A]]]:
            of_part: dict[str, list[A]] = {}
            return count(self._ready(part, of_part)), of_part

        waiting: dict[str, list[A]] = {}
        for result, of_part in _parts(self._values, with_waiting):
            yield result
            if across := list(self._ready(chain.from_iterable(of_part.values()), waiting)):
                yield count(across)
        yield count(waiting.values())

    def _ready(self, values: Iterable[A], waiting: dict[str, list[A]]) -> Iterator[Sequence[A]]:
        """Yield the values of keys that are whole, and leave the others waiting."""
        for value in values:
            group = waiting.setdefault(key := self._key(value), [])
            group.append(value)
            if self._whole(group):
                yield waiting.pop(key)
