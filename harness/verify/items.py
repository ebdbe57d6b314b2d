"""The items of a task beside the records of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.types import Item


class Items:
    """The items of a task by their ids, as far as records have asked for them: records come in nearly their order."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._source = iter(items)
        self._waiting: dict[str, Item] = {}

    def get(self, name: str, *, last: bool) -> Item | None:
        """Return the item of that id; None where the task has none. `last` says that nobody will ask again."""
        while name not in self._waiting:
            item = next(self._source, None)
            if item is None:
                return None
            self._waiting[item.id] = item
        return self._waiting.pop(name) if last else self._waiting[name]

    def rest(self) -> Iterator[str]:
        """Yield the ids of the items that no record has asked for, or not often enough."""
        yield from self._waiting
        yield from (item.id for item in self._source)
