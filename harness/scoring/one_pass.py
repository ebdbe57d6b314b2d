"""Records in one pass, in which several things are counted: a task's `summarize` can read them only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

A = TypeVar("A")


def counted(values: Iterable[A], add: Callable[[A], object]) -> Iterator[A]:
    """Yield the values, each once it has been added to what is counted on the way."""
    for value in values:
        add(value)
        yield value


def together(
    values: Iterable[A], key: Callable[[A], str], whole: Callable[[Sequence[A]], bool]
) -> Iterator[Sequence[A]]:
    """Yield the values of each key, as soon as they are `whole`; those that never are come in the end."""
    waiting: dict[str, list[A]] = {}
    for value in values:
        group = waiting.setdefault(name := key(value), [])
        group.append(value)
        if whole(group):
            yield waiting.pop(name)
    yield from waiting.values()
