"""The three parts of a run (task, model, prompt), and a task's items checked as they go by.

One sentence for the author of items that cannot be asked or scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import length_hint
from typing import Any

import msgspec

from harness.errors import ConfigError
from harness.prompting.fit import check_samples, choose_prompt, held_to_choices, with_room
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Task
from harness.settings import Main, build
from harness.types import Item

LOOKED_AHEAD = 20_000
"""Items of a task from elsewhere that are looked at before the first one is asked about."""
_PLAIN = (str, int, float, bool, type(None), list, tuple, dict)


def look_ahead(task: Task) -> None:
    """Check the first 20,000 items of a user's own task. Raises ConfigError for one that cannot be asked or scored."""
    if type(task).__module__.startswith("harness."):
        return
    number = sum(1 for _ in islice(CheckedItems(task), LOOKED_AHEAD))
    if (limit := getattr(task, "limit", None)) is not None and number > limit:
        raise ConfigError(f"{_of(task)} has items of its own that pay no heed to task.limit={limit}: leave it out.")


class CheckedItems(Iterable[Item]):
    """The items of a task, checked while they are iterated. Raises ConfigError for an invalid one, or for none."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._items = task.items()

    def __length_hint__(self) -> int:
        return length_hint(self._items)

    def __iter__(self) -> Iterator[Item]:
        ids: set[int] = set()
        number = 0
        for number, item in enumerate(self._items, start=1):
            if problem := _problem(item, self._task.headline):
                where = repr(item.id)[:60] if isinstance(item, Item) else f"number {number}"
                raise ConfigError(f"{_of(self._task)}: item {where} {problem}.")
            ids.add(hash(item.id))
            if len(ids) < number:
                raise ConfigError(f"{_of(self._task)}: two items have the id {item.id!r:.60}: each needs its own.")
            yield item
        if not number:
            raise ConfigError(f"{_of(self._task)} gives no items: items() has to yield harness.types.Item.")


def _of(task: Task) -> str:
    return f"task {task.name} ({type(task).__module__}.{type(task).__name__})"


def _problem(item: Any, headline: str) -> str:
    """Return what is wrong with an item, as the end of a sentence; "" for a valid one."""
    if not isinstance(item, Item):
        return f"is a {type(item).__name__}; harness.types.Item is needed"
    try:
        msgspec.convert(msgspec.structs.asdict(item), Item)
    except msgspec.ValidationError as error:
        return f"is no harness.types.Item: {error}"
    if not item.id or not item.cluster:
        return "has no id or no cluster; a text is needed for both"
    for name, value in item.fields.items():
        if not isinstance(value, _PLAIN):
            return f"has a {type(value).__name__} as its field {name}; a text, a number or a list of texts is needed"
    if headline not in item.labels:
        return f"has labels of {', '.join(item.labels) or 'no set'}, and none of the task's headline {headline!r}"
    choices = max((len(value) for value in item.fields.values() if isinstance(value, list | tuple)), default=0)
    for name, label in item.labels.items():
        if not 0 <= label < max(2, choices):
            return (
                f"has the {name} label {label}; 0 (No) and 1 (Yes) are allowed, or the place of a choice in a field "
                "that is the list of them"
            )
    return ""


def parts_of(settings: Main) -> tuple[Task, Model, Prompt]:
    """Return the three parts. Raises ConfigError if they do not fit together."""
    task: Task = build(settings.task, "task")
    model: Model = build(settings.model, "model")
    prompt = choose_prompt(task, model, settings.prompt, settings.replies)
    prompt = with_room(prompt, model, settings.max_tokens)
    if settings.answer == "choice":
        prompt = held_to_choices(prompt, model)
    check_samples(settings.samples, prompt, model)
    return task, model, prompt
