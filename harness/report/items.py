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
from harness.storage.manifest import TracedItems
from harness.storage.record_lines import Line, reply_columns
from harness.storage.runs import Run
from harness.tasks.benchmark import Explanations, benchmark_of
from harness.types import JSON, Item

_IN_WORDS = ("hypothesis", "question", "statement")
"""Fields of an item that say in short what is asked, the first that it has."""
SPARE = 100_000  # items that a stopped run may have looked at beyond those that it has records of


class ItemColumns:
    """The items that some runs share, each in its row."""

    def __init__(self, task: str, headline: str, choices: tuple[str, ...] = ()) -> None:
        """Begin without items; the runs' tables show the label set `headline`, called No and Yes, or `choices`."""
        self.task = task
        self.headline = headline
        self.choices = choices
        self._rows: dict[str, int] = {}
        self._words: list[str] = []
        self._clusters: list[str] = []
        self._groups: dict[str, Codes] = {}
        self._labels: dict[str, list[int | None]] = {}
        path = benchmark_of(task).explanations
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
        item = line.item
        if item not in self._rows:
            questions = [turn["content"] for turn in line.turns if turn["role"] == "user"]
            self._add(item, questions[-1] if questions else "", line.cluster, line.groups, line.labels)
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


def items_of(run: Run) -> ItemColumns:
    """Rebuild the items of a run from its settings; none if that is impossible or they have changed.

    No more are made than the run has records for: its settings may claim a thousand million.
    """
    items = ItemColumns(run.place["task"], run.result.headline, run.result.choices)
    try:
        count = (run.manifest.items or {}).get("count")
        if count is None or (count > SPARE and count > SPARE + sum(1 for _ in run.lines())):
            return items
        source = rebuild.items_of(rebuild.task_of(run.manifest), run.manifest, run.records_file)
        # Of a complete run one more, to see that there are no others.
        traced = TracedItems(islice(source, count + run.complete))
        items.add_all(traced)
        if traced.summary == run.manifest.items:
            return items
    except (KeyError, TypeError, ValueError, AttributeError, OSError, ImportError, HarnessError):
        pass
    return ItemColumns(items.task, items.headline, items.choices)


class Codes:
    """A column of repeated names: each name once, and an index for each row."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.codes: list[int] = []

    def set(self, row: int, name: str | None) -> None:
        """Set the name of a row; rows between have none."""
        self.codes += [-1] * (row + 1 - len(self.codes))
        self.codes[row] = -1 if name is None else self.names.setdefault(name, len(self.names))

    def json(self, rows: int) -> JSON:
        """Return the names and a code for each of `rows` rows, -1 for no name."""
        return {"names": list(self.names), "codes": self.codes + [-1] * (rows - len(self.codes))}


_OWN = {
    "reply": "text",
    "reasoning": "reasoning",
    "read": "answer",
    "span": "span",
    "rule": "rule",
    "grade": "grade",
    "probability": "probability",
    "finish": "finish_reason",
    "input": "input_tokens",
    "output": "output_tokens",
    "usd": "cost_usd",
    "seconds": "seconds",
}
"""The columns that the page shows in a way of their own, by its names for them; all others stand below them."""
_FAILURE = ("failure", "failure_detail")
_DECIMALS = {"probability": 6, "seconds": 3}
_NOTHING: Mapping[str, Any] = {}


_CALLED = {column: name for name, column in _OWN.items()}
_ORDER = ("sample", *_OWN, "failure", "right")


def _shown(name: str, value: JSON) -> JSON:
    """Return a value of a column as the page has it; None for what says nothing."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict):
        return ", ".join(f"{part} {number:.4f}" for part, number in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if value is False or (name == "seconds" and not value):
        return None
    return round(value, _DECIMALS[name]) if name in _DECIMALS else value


class Answers:
    """A run's answers. Records come in the order in which a server replied, and are sorted by item and sample."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, dict[str, Any], Mapping[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, item: int, line: Line, right: bool | None) -> None:
        """Add a record about the item in that row."""
        own: dict[str, Any] = {}
        more: dict[str, Any] = {}
        for column, value in reply_columns(line).items():
            shown = _shown(column, value)
            if shown is None:
                continue
            if column in _CALLED:
                own[_CALLED[column]] = shown
            elif column not in _FAILURE:
                more[column] = shown
        if line.sample:
            own["sample"] = line.sample
        if line.failure:
            own["failure"] = set_fields(line.failure)
        if right is not None:
            own["right"] = right
        self._rows.append((item, line.sample, own, more or _NOTHING))

    def json(self) -> dict[str, JSON]:
        """Return the columns, all of one length; those that have nothing are left out."""
        rows = sorted(self._rows, key=itemgetter(0, 1))
        empty = {"sample": 0, "reply": "", "reasoning": "", "span": ""}
        columns: dict[str, JSON] = {"item": [item for item, *_ in rows]}
        names: dict[str, None] = {}
        for _, _, fields, _ in rows:
            if not fields.keys() <= names.keys():
                names |= dict.fromkeys(name for name in _ORDER if name in fields)
        for name in names:
            columns[name] = [fields.get(name, empty.get(name)) for _, _, fields, _ in rows]
        if "finish" in columns:
            columns["finish"] = _codes(columns["finish"])
        more = dict.fromkeys(name for *_, others in rows for name in others)
        if more:
            columns["more"] = {name.replace("_", " "): [others.get(name) for *_, others in rows] for name in more}
        return columns


def _codes(names: Sequence[str | None]) -> JSON:
    codes = Codes()
    for row, name in enumerate(names):
        codes.set(row, name)
    return codes.json(len(names))


class RequestTexts:
    """The texts of a run's requests, each text once."""

    def __init__(self) -> None:
        """Begin without requests."""
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
