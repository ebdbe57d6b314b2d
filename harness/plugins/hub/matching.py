"""Which rows answer which items of a task: by the item's id, by the whole text of the question, or in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.config_files import prompt_files
from harness.errors import ConfigError, DataError
from harness.plugins.hub.rows import Row
from harness.prompting import prompts
from harness.prompting.schema import fill
from harness.protocols import Task
from harness.types import Item

Texts = Callable[[Item], Iterable[str]]
SHOWN = 5
"""Rows or items that a sentence names."""


@dataclass
class Matched:
    """The rows of each item that has some, and what is left over."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    """By the item's id, as many of each as there are samples."""
    items_without: int = 0
    """Items of the task that have no row."""
    rows_without: int = 0
    """Rows that no item has."""


def match_by(setting: str | None, rows: Sequence[Row]) -> str:
    """Return by what rows are matched; by their ids where all of them have one, else by their questions.

    Raises ConfigError where they have neither.
    """
    has = {"id": all(row.id for row in rows), "text": all(row.question for row in rows), "order": True}
    by = setting or next((name for name in ("id", "text") if has[name]), "")
    if not by or not has[by]:
        raise ConfigError(
            "nothing says which items the rows answer: name a column with map=id:COLUMN (the items' ids, as `harness "
            "items` has them) or map=question:COLUMN (the whole question); match=order takes them in the items' order."
        )
    return by


def matched(items: Iterable[Item], rows: Sequence[Row], by: str, samples: int, texts: Texts) -> Matched:
    """Return which rows answer which items, `samples` rows each.

    Items whose whole texts are the same are asked the same: rows that match by text go to them in their order.
    Raises DataError where an item has more rows than that, or fewer, or where no item has any.
    """

    def keys(item: Item) -> Iterable[str]:
        return map(plain, texts(item)) if by == "text" else [item.id if by == "id" else ""]

    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in reversed(rows):
        waiting["" if by == "order" else row.id if by == "id" else plain(row.question)].append(row)
    result, used = Matched(), set[str]()
    for item in items:
        key = next((key for key in keys(item) if waiting.get(key)), None)
        if key is None:
            result.items_without += 1
            continue
        used.add(key)
        result.rows[item.id] = [waiting[key].pop() for _ in range(min(samples, len(waiting[key])))]
    _refuse(result, {key: left for key in used if (left := waiting[key])}, by, samples)
    result.rows_without = sum(map(len, waiting.values()))
    return result


def _refuse(result: Matched, left: Mapping[str, Sequence[Row]], by: str, samples: int) -> None:
    """Raise DataError where rows and items do not fit each other; `left` has the rows of items that have enough."""
    if not result.rows:
        raise DataError(f"no row answers an item of the task, matched by {by}: is it the right task=?")
    few = [rows[0].where for rows in result.rows.values() if len(rows) < samples]
    if few:
        raise DataError(f"{len(few):,} items have fewer than samples={samples} rows, such as that of {_named(few)}.")
    if left:
        twice = [f"{key[:60]!r} ({rows[-1].where})" if key else rows[-1].where for key, rows in left.items()]
        raise DataError(
            f"{len(twice):,} items have more than samples={samples} rows, by {by}: {_named(twice)}. Choose rows with "
            "where=COLUMN:VALUE; several answers to each item are samples=K."
        )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def plain(text: str) -> str:
    """Return a text with single spaces: line ends and indents differ from program to program."""
    return " ".join(text.split())


def texts_of(task: Task) -> Texts:
    """Return the function that yields the whole texts by which an item may have been asked.

    These are its field `text`, its premise and hypothesis, and the user's turn of each prompt of the task.
    """
    templates = []
    for name in prompt_files(task.name):
        with suppress(ConfigError):  # a prompt of other fields, or one of the user's that is not whole
            words = prompts.load(task.name, name, task.examples(), format=task.prompt_format).words
            templates += [words.user] if words.user and not words.opening else []
    templates = list(dict.fromkeys(["{text}", "{premise} {hypothesis}", *templates]))

    def texts(item: Item) -> Iterator[str]:
        for template in templates:
            with suppress(ConfigError):
                yield fill(template, item.fields, Path("a prompt"))

    return texts


def missing_in(rows: Iterable[Row]) -> list[str]:
    """Return what no row says, in words."""
    missing = {"the replies' words": "reply", "why replies ended": "finish_reason", "tokens": "output_tokens"}
    for row in rows:
        missing = {words: name for words, name in missing.items() if getattr(row, name) in (None, "")}
    return list(missing)
