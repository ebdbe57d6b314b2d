"""The questions of a run: made again from its settings, or as its records have them."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping

from harness.errors import HarnessError
from harness.report.answers import Codes
from harness.storage.provenance import TracedItems
from harness.storage.rebuild import task_of
from harness.storage.records import Line, turns
from harness.storage.runs import Run
from harness.tasks.find import benchmark_of
from harness.types import JSON, Item

_IN_WORDS = ("hypothesis", "question", "statement")
"""Fields of an item that say in short what is asked, the first that it has."""


class Items:
    """The items that some runs share, each in its row."""

    def __init__(self, task: str, headline: str, choices: tuple[str, ...] = ()) -> None:
        """Begin without items; `headline` is the label set that the runs' tables show.

        `choices` is what its labels are called where they are not No and Yes.
        """
        self.task = task
        self.headline = headline
        self.choices = choices
        self._rows: dict[str, int] = {}
        self._words: list[str] = []
        self._clusters: list[str] = []
        self._groups: dict[str, Codes] = {}
        self._labels: dict[str, list[int | None]] = {}
        begin = benchmark_of(task).explanations
        self.explanations = begin and begin()

    def add_all(self, items: Iterable[Item]) -> Iterator[None]:
        """Add the items of a task; yield after each."""
        for item in items:
            words = next((str(item.fields[name]) for name in _IN_WORDS if name in item.fields), "")
            self._add(item.id, words, item.cluster, item.groups, item.labels)
            if self.explanations:
                self.explanations.add(item)
            yield

    def row(self, line: Line) -> int:
        """Return the row of a record's item, adding the item if it is new."""
        item = line["item"]
        if item not in self._rows:
            questions = [turn["content"] for turn in turns(line) if turn["role"] == "user"]
            self._add(item, questions[-1] if questions else "", line["cluster"], line["groups"], line["labels"])
        return self._rows[item]

    def json(self, classes: str | None) -> dict[str, JSON]:
        """Return the items as columns; `classes` names the chunk of their classes."""
        rows = len(self._rows)
        return {
            "task": self.task,
            "headline": self.headline,
            "ids": list(self._rows),
            "words": self._words,
            "clusters": self._clusters,
            "groups": {name: codes.json(rows) for name, codes in self._groups.items()},
            "labels": {name: column + [None] * (rows - len(column)) for name, column in self._labels.items()},
            "classes": classes,
            **({"answers": list(self.choices)} if self.choices else {}),
        }

    def _add(self, item: str, words: str, cluster: str, groups: Mapping[str, str], labels: Mapping[str, int]) -> None:
        row = self._rows[item] = len(self._rows)
        self._words.append(words)
        self._clusters.append(cluster)
        for name, group in groups.items():
            self._groups.setdefault(name, Codes()).set(row, group)
        for name, label in labels.items():
            column = self._labels.setdefault(name, [])
            column += [None] * (row - len(column))
            column.append(label)


def items_of(run: Run, trust: Collection[str]) -> Generator[None, None, Items]:
    """Return the items of a run, made again from its settings; none where they cannot be made, or are others today.

    Items that come from outside of harness are made only where `trust` names what they come from. Yield after each.
    """
    items = Items(run.place["task"], run.result.headline, run.result.choices)
    try:
        traced = TracedItems(task_of(run.manifest, trust).items())
        yield from items.add_all(traced)
        if traced.summary == run.manifest.get("items"):
            return items
    except (KeyError, TypeError, ValueError, AttributeError, OSError, ImportError, HarnessError):
        pass
    return Items(items.task, items.headline, items.choices)
