"""What stands behind the scores, as chunks of the page: items, the words that were asked, the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Generator, Iterator, Sequence

from harness.errors import DataError
from harness.report.answers import Answers, Asked
from harness.report.bundle import packed
from harness.report.graphs import from_records, graphs, lost
from harness.report.items import Items, items_of
from harness.storage.run_folder import RECORDS
from harness.storage.runs import Run
from harness.types import JSON

NO_RECORDS = (
    f"The answers of this run are not here: its folder holds no {RECORDS}. The command of its run makes them again."
)
NOT_WANTED = "This page was made without answers (answers=none)."


class Behind:
    """Chunks, packed as soon as they are whole, and what each run has of them."""

    def __init__(self, *, answers: bool, trust: Collection[str] = ()) -> None:
        """`answers` says whether replies are wanted, `trust` what tasks from outside of harness may be built."""
        self._trust = trust
        self.chunks: dict[str, str] = {}
        self.told: list[dict[str, JSON]] = []
        """For each run: answers, no_answers, graphs."""
        self._wanted = answers
        self._items: dict[tuple[str, ...], tuple[str, Items]] = {}
        self._names: dict[tuple[str, str], str] = {}

    def steps(self, runs: Sequence[Run]) -> int:
        """How often `read` yields, about."""
        with_records = [run for run in runs if self._wanted and any(run.folder.glob(f"{RECORDS}*"))]
        sets = {_key(run): run.result.overall.items for run in with_records}
        return sum(sets.values()) + sum(run.result.overall.items for run in with_records)

    def read(self, runs: Sequence[Run]) -> Iterator[None]:
        """Reads the runs; yields after every item and every record."""
        for run in runs:
            told: dict[str, JSON] = {"answers": None, "graphs": None}
            try:
                told["graphs"] = self._graphs(run)
                told["answers"] = yield from self._answers(run)
            except DataError as error:
                told["no_answers"] = str(error)
            self.told.append(told)
        for name, items in self._items.values():
            classes = items.explanations and items.explanations.json()
            self.chunks[name] = packed(items.json(self._chunk("classes", classes) if classes else None))

    def _graphs(self, run: Run) -> JSON:
        texts = from_records(run, self._trust) if lost(run) else None
        if (found := graphs(run, texts)) is None:
            return None
        return {"chunk": self._chunk("graphs", found), "networks": list(found["networks"])}

    def _answers(self, run: Run) -> Generator[None, None, JSON]:
        if not self._wanted:
            raise DataError(NOT_WANTED)
        if run.records_file is None:
            raise DataError(NO_RECORDS)
        of, items = yield from self._items_of(run)
        answers, asked = Answers(), Asked()
        for line in run.lines():
            place = items.place(line)
            answers.add(place, line, run.right(line))
            asked.add(place, line)
            yield
        prompts = self._chunk("prompts", asked.json()) if asked.kind else None
        return {
            "items": of,
            "prompts": prompts,
            "answers": self._chunk("answers", answers.json()),
            "count": len(answers),
        }

    def _items_of(self, run: Run) -> Generator[None, None, tuple[str, Items]]:
        """The name and the items of a run's chunk: one for all runs on the same items that show the same labels."""
        key = _key(run)
        if key not in self._items:
            made = yield from items_of(run, self._trust)
            self._items[key] = f"items/{len(self._items)}", made
        return self._items[key]

    def _chunk(self, kind: str, value: JSON) -> str:
        """Packs a chunk and names it; the same again has its name already."""
        text = packed(value)
        key = kind, hashlib.sha256(text.encode()).hexdigest()
        if key not in self._names:
            self._names[key] = f"{kind}/{sum(one == kind for one, _ in self._names)}"
            self.chunks[self._names[key]] = text
        return self._names[key]


def _key(run: Run) -> tuple[str, ...]:
    """Return what runs share their items by."""
    return run.place["task"], run.result.headline, run.items or str(run.folder)
