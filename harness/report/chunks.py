"""What stands behind the scores, as chunks of the page: items, the words that were asked, the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.export.runs import Run
from harness.leaderboard.rows import Row
from harness.report.answers import Answers, Asked
from harness.report.bundle import packed
from harness.report.graphs import from_records, graphs
from harness.report.items import Items, items_of
from harness.storage import records
from harness.storage.run_folder import RECORDS, records_in
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

    def steps(self, rows: Sequence[Row]) -> int:
        """How often `read` yields, about."""
        told = [row for row in rows if self._wanted and any(Path(row.path).glob(f"{RECORDS}*"))]
        sets = {_key(row): row.result.overall.items for row in told}
        return sum(sets.values()) + sum(row.result.overall.items for row in told)

    def read(self, rows: Sequence[Row], manifests: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """Reads the runs; yields after every item and every record."""
        for row, manifest in zip(rows, manifests, strict=True):
            told: dict[str, JSON] = {"answers": None, "graphs": None}
            try:
                file = records_in(Path(row.path))
                told["graphs"] = self._graphs(row, manifest, file)
                told["answers"] = yield from self._answers(row, manifest, file)
            except DataError as error:
                told["no_answers"] = str(error)
            self.told.append(told)
        for name, items in self._items.values():
            classes = items.classes.json()
            self.chunks[name] = packed(items.json(self._chunk("classes", classes) if classes else None))

    def _graphs(self, row: Row, manifest: Mapping[str, Any], file: Path | None) -> JSON:
        folder = Path(row.path)
        lost = file is not None and not (folder / "graphs").is_dir() and "/" in row.task
        texts = from_records(records.read(file), manifest, self._trust) if file is not None and lost else None
        if (found := graphs(folder, row.result, texts)) is None:
            return None
        return {"chunk": self._chunk("graphs", found), "networks": list(found["networks"])}

    def _answers(self, row: Row, manifest: Mapping[str, Any], file: Path | None) -> Generator[None, None, JSON]:
        if not self._wanted:
            raise DataError(NOT_WANTED)
        if file is None:
            raise DataError(NO_RECORDS)
        run = Run(Path(row.path), file, {}, row.complete, row.result, {}, manifest)
        of, items = yield from self._items_of(row, manifest)
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

    def _items_of(self, row: Row, manifest: Mapping[str, Any]) -> Generator[None, None, tuple[str, Items]]:
        """The name and the items of a run's chunk: one for all runs on the same items that show the same labels."""
        key = _key(row)
        if key not in self._items:
            made = yield from items_of(manifest, row.task, row.result.headline, self._trust)
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


def _key(row: Row) -> tuple[str, ...]:
    """What runs share their items by."""
    return row.task, row.result.headline, row.items or row.path
