"""A run's questions and answers as columns, and the texts of its requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from harness.codec import set_fields
from harness.errors import HarnessError
from harness.plugin import load
from harness.storage import rebuild
from harness.storage.columns import reply_columns
from harness.storage.manifest import TracedItems
from harness.storage.runs import Run
from harness.tasks.benchmark import Explanations, benchmark_of
from harness.types import JSON, Item, Line

_IN_WORDS = ("hypothesis", "question", "statement")
"""Fields of an item that say in short what is asked, the first that it has."""
SPARE = 100_000  # items that a stopped run may have looked at beyond those that it has records of


class ItemColumns:
    """The items that some runs share, each in its row."""

    def __init__(self, run: Run) -> None:
        """Begin without items; the tables of `run` show one label set, called No and Yes or by its choices."""
        self.task, self.headline, self.choices = run.task, run.result.headline, run.result.choices
        self._rows: dict[str, int] = {}
        self._items: list[tuple[str, str, Mapping[str, str], Mapping[str, int]]] = []
        """Words, cluster, groups and labels."""
        path = benchmark_of(self.task).explanations
        self.explanations: Explanations[Any] | None = load(path)() if path else None

    def add_all(self, items: Iterable[Item]) -> None:
        """Add the items of a task."""
        for item in items:
            words = next((str(item.fields[name]) for name in _IN_WORDS if name in item.fields), "")
            self._add(item.id, words, item.cluster, item.groups, item.labels)
            if self.explanations:
                self.explanations.add(item)

    def row(self, line: Line) -> int:
        """Return the row of a record's item, adding the item if it is new."""
        if line.item not in self._rows:
            questions = [turn["content"] for turn in line.turns if turn["role"] == "user"]
            self._add(line.item, questions[-1] if questions else "", line.cluster, line.groups, line.labels)
        return self._rows[line.item]

    def json(self, classes: str | None) -> dict[str, JSON]:
        """Return the items as columns; `classes` names the chunk of their classes."""
        every_group, every_label = [groups for *_, groups, _ in self._items], [labels for *_, labels in self._items]
        return {
            "task": self.task,
            "headline": self.headline,
            "ids": list(self._rows),
            "words": [words for words, *_ in self._items],
            "clusters": [cluster for _, cluster, *_ in self._items],
            "groups": {name: codes([of.get(name) for of in every_group]) for name in _names(every_group)},
            "labels": {name: [of.get(name) for of in every_label] for name in _names(every_label)},
            "classes": classes,
            **({"answers": list(self.choices)} if self.choices else {}),
        }

    def _add(self, item: str, words: str, cluster: str, groups: Mapping[str, str], labels: Mapping[str, int]) -> None:
        self._rows[item] = len(self._rows)
        self._items.append((words, cluster, groups, labels))


def items_of(run: Run) -> ItemColumns:
    """Rebuild the items of a run from its settings; none if that is impossible or they have changed.

    No more are made than the run has records for: its settings may claim a thousand million.
    """
    try:
        items, count = ItemColumns(run), (run.manifest.items or {}).get("count")
        if count is not None and (count <= SPARE or count <= SPARE + sum(1 for _ in run.records())):
            source = rebuild.items_of(rebuild.task_of(run.manifest), run.manifest, run.records_file)
            # Of a complete run one more, to see that there are no others.
            items.add_all(traced := TracedItems(islice(source, count + run.complete)))
            if traced.summary == run.manifest.items:
                return items
    except (KeyError, TypeError, ValueError, AttributeError, OSError, ImportError, HarnessError):
        pass
    return ItemColumns(run)


def codes(column: Sequence[str | None]) -> dict[str, JSON]:
    """Return a column of repeated names: each name once, and its place for each row, -1 for none."""
    places = {name: place for place, name in enumerate(dict.fromkeys(name for name in column if name is not None))}
    return {"names": list(places), "codes": [-1 if name is None else places[name] for name in column]}


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


_CALLED = {
    "text": "reply",
    "reasoning": "reasoning",
    "answer": "read",
    "span": "span",
    "rule": "rule",
    "grade": "grade",
    "probability": "probability",
    "finish_reason": "finish",
    "input_tokens": "input",
    "output_tokens": "output",
    "cost_usd": "usd",
    "seconds": "seconds",
}
"""What the page calls the columns that it shows in a way of their own; all others stand below them."""
_ORDER = ("sample", *_CALLED.values(), "failure", "right")
_DECIMALS = {"probability": 6, "seconds": 3}
_EMPTY = {"sample": 0, "reply": "", "reasoning": "", "span": ""}


class Answers:
    """A run's answers. Records come in the order in which a server replied, and are sorted by item and sample."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, dict[str, Any], dict[str, Any]]] = []
        """Item, sample, the page's own columns, the others."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, item: int, line: Line, right: bool | None) -> None:
        """Add a record about the item in that row."""
        shown = {name: _shown(name, value) for name, value in reply_columns(line).items() if "failure" not in name}
        shown = {name: value for name, value in shown.items() if value is not None}
        own = {_CALLED[name]: value for name, value in shown.items() if name in _CALLED}
        facts = {"sample": line.sample or None, "failure": line.failure and set_fields(line.failure), "right": right}
        own |= {name: value for name, value in facts.items() if value is not None}
        others = {name.replace("_", " "): value for name, value in shown.items() if name not in _CALLED}
        self._rows.append((item, line.sample, own, others))

    def json(self) -> dict[str, JSON]:
        """Return the columns, all of one length; those that have nothing are left out."""
        rows = sorted(self._rows, key=itemgetter(0, 1))
        every, others = [own for *_, own, _ in rows], [more for *_, more in rows]
        there = set(_names(every))
        columns: dict[str, JSON] = {"item": [item for item, *_ in rows]}
        columns |= {name: [of.get(name, _EMPTY.get(name)) for of in every] for name in _ORDER if name in there}
        if "finish" in columns:
            columns["finish"] = codes(columns["finish"])
        if more := {name: [of.get(name) for of in others] for name in _names(others)}:
            columns["more"] = more
        return columns


def _shown(name: str, value: JSON) -> JSON:
    """Return a value of a column as the page has it; None for what says nothing."""
    if isinstance(value, dict):
        return ", ".join(f"{part} {number:.4f}" for part, number in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if value == "" or value is False or value is None or (name == "seconds" and not value):
        return None
    return round(value, _DECIMALS[name]) if name in _DECIMALS else value


class RequestTexts:
    """The texts of a run's requests, each text once."""

    def __init__(self) -> None:
        self.kind: str | None = None
        """chat, choice or pair; None where no record has a request."""
        self._messages: dict[int, list[tuple[str, str]]] = {}
        self._texts: dict[str, str] = {}

    def add(self, item: int, line: Line) -> None:
        """Add a request; samples of one item ask the same."""
        request = line.request
        if request is None or item in self._messages:
            return
        self.kind = self.kind or request.kind
        roles = ("premise", "hypothesis") if request.kind == "pair" else [words.role or "" for words in request.words]
        texts = [(role, words.text or "") for role, words in zip(roles, request.words, strict=True)]
        # A network's data stands in thousands of questions, and each line of the records brings its own copy: keep one.
        self._messages[item] = [(role, self._texts.setdefault(text, text)) for role, text in texts]

    def json(self) -> dict[str, JSON]:
        """Return the texts in the order of the items, and for each item which role has which text."""
        texts: dict[str, int] = {}
        messages: list[JSON] = [None] * (max(self._messages) + 1)
        for item in sorted(self._messages):
            messages[item] = [[role, texts.setdefault(text, len(texts))] for role, text in self._messages[item]]
        return {"kind": self.kind, "texts": list(texts), "messages": messages}
