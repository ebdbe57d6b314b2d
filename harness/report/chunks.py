"""The chunks of the page: items, texts of requests, answers and graphs, each packed by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Generator, Iterator, Sequence

from harness.errors import DataError
from harness.report.answers import Answers, RequestTexts
from harness.report.bundle import pack
from harness.report.graphs import from_records, graphs, graphs_missing
from harness.report.items import Items, items_of
from harness.storage.run_folder import RECORDS
from harness.storage.runs import Run
from harness.types import JSON

NO_RECORDS = (
    f"The answers of this run are not here: its folder holds no {RECORDS}. The command of its run makes them again."
)
NOT_WANTED = "This page was made without answers (answers=none)."


class ChunkBuilder:
    """The chunks, packed as soon as they are whole, and the names of those that each run has."""

    def __init__(self, *, answers: bool, trust: Collection[str] = ()) -> None:
        """Begin without runs. `answers`: whether replies are wanted; `trust`: what outside tasks may be built."""
        self._trust = trust
        self.chunks: dict[str, str] = {}
        self.parts_of_runs: list[dict[str, JSON]] = []
        """For each run: answers, no_answers, graphs."""
        self._with_answers = answers
        self._items: dict[tuple[str, ...], tuple[str, Items]] = {}
        self._names: dict[tuple[str, str], str] = {}

    def steps(self, runs: Sequence[Run]) -> int:
        """Return about how often `read` yields."""
        with_records = [run for run in runs if self._with_answers and any(run.folder.glob(f"{RECORDS}*"))]
        sets = {_key(run): run.result.overall.items for run in with_records}
        return sum(sets.values()) + sum(run.result.overall.items for run in with_records)

    def read(self, runs: Sequence[Run]) -> Iterator[None]:
        """Read the runs; yield after every item and every record."""
        for run in runs:
            parts: dict[str, JSON] = {"answers": None, "graphs": None}
            try:
                parts["graphs"] = self._graphs(run)
                parts["answers"] = yield from self._answers(run)
            except DataError as error:
                parts["no_answers"] = str(error)
            self.parts_of_runs.append(parts)
        for name, items in self._items.values():
            classes = items.explanations and items.explanations.json()
            self.chunks[name] = pack(items.json(self._chunk("classes", classes) if classes else None))

    def _graphs(self, run: Run) -> JSON:
        texts = from_records(run, self._trust) if graphs_missing(run) else None
        if (content := graphs(run, texts)) is None:
            return None
        return {"chunk": self._chunk("graphs", content), "networks": list(content["networks"])}

    def _answers(self, run: Run) -> Generator[None, None, JSON]:
        if not self._with_answers:
            raise DataError(NOT_WANTED)
        if run.records_file is None:
            raise DataError(NO_RECORDS)
        name, items = yield from self._items_of(run)
        answers, requests = Answers(), RequestTexts()
        for line in run.lines():
            row = items.row(line)
            answers.add(row, line, run.right(line))
            requests.add(row, line)
            yield
        prompts = self._chunk("prompts", requests.json()) if requests.kind else None
        return {
            "items": name,
            "prompts": prompts,
            "answers": self._chunk("answers", answers.json()),
            "count": len(answers),
        }

    def _items_of(self, run: Run) -> Generator[None, None, tuple[str, Items]]:
        """Return the name and the items of a run's chunk, which runs on the same items and label set share."""
        key = _key(run)
        if key not in self._items:
            items = yield from items_of(run, self._trust)
            self._items[key] = f"items/{len(self._items)}", items
        return self._items[key]

    def _chunk(self, kind: str, value: JSON) -> str:
        """Pack a chunk and return its name; an equal one has its name already."""
        text = pack(value)
        key = kind, hashlib.sha256(text.encode()).hexdigest()
        if key not in self._names:
            self._names[key] = f"{kind}/{sum(other == kind for other, _ in self._names)}"
            self.chunks[self._names[key]] = text
        return self._names[key]


def _key(run: Run) -> tuple[str, ...]:
    """Return what runs share their items by."""
    return run.place["task"], run.result.headline, run.items or str(run.folder)
