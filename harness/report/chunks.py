"""The chunks of the page: items, texts of requests, answers and graphs, each packed by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

from harness.errors import DataError, HarnessError
from harness.report.bundle import pack
from harness.report.items import Answers, ItemColumns, RequestTexts, items_of
from harness.storage.files import inside, read_bytes
from harness.storage.rebuild import task_of
from harness.storage.replies import ReplyReader
from harness.storage.run_folder import RECORDS
from harness.storage.runs import Run
from harness.tasks.benchmark import Graphs
from harness.tasks.find import benchmark_of
from harness.types import JSON

NO_RECORDS = (
    f"The answers of this run are not here: its folder holds no {RECORDS}. The command of its run makes them again."
)
NOT_WANTED = "This page was made without answers (answers=none)."


class ChunkBuilder:
    """The chunks, packed as soon as they are whole, and the names of those that each run has."""

    def __init__(self, replies: ReplyReader, *, answers: bool) -> None:
        """Begin without runs. `answers`: whether replies are wanted.

        `replies` sees the lines of all runs pass, so that charts and tables need not read them again.
        """
        self._replies = replies
        self.chunks: dict[str, str] = {}
        self.parts_of_runs: list[dict[str, JSON]] = []
        """For each run: answers, no_answers, graphs."""
        self._with_answers = answers
        self._items: dict[tuple[str, ...], tuple[str, ItemColumns]] = {}
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
        texts = from_records(run) if graphs_missing(run) else None
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
        for line in self._replies.passing(run):
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

    def _items_of(self, run: Run) -> Generator[None, None, tuple[str, ItemColumns]]:
        """Return the name and the items of a run's chunk, which runs on the same items and label set share."""
        key = _key(run)
        if key not in self._items:
            items = yield from items_of(run)
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
    return run.place["task"], run.result.headline, run.items or str(run.folder)


FOLDER = "graphs"
"""Of a run's folder, the one that holds them."""


def graphs(run: Run, texts: Mapping[str, str] | None = None) -> dict[str, JSON] | None:
    """Return the graphs chunk of a run; None where it has no graphs.

    They are read from its folder's graphs/<network>/<name>.csv, or come as `texts` by these names.
    """
    make = benchmark_of(run.place["task"]).graphs
    if make is None:
        return None
    drawing = make()
    networks: dict[str, dict[str, JSON]] = {}
    for network, name, text in _texts(texts) if texts is not None else _files(run.folder, drawing):
        if sheet := drawing.sheet(network, name, text, run.result):
            if network not in networks:
                networks[network] = {**drawing.network(network), "templates": {}}
            networks[network]["templates"][name] = sheet
    return {"networks": networks} if networks else None


def graphs_missing(run: Run) -> bool:
    """Return whether a run that should have graph files has only its records."""
    records_only = run.records_file is not None and not (run.folder / FOLDER).is_dir()
    return records_only and benchmark_of(run.place["task"]).graphs is not None


def from_records(run: Run) -> Mapping[str, str]:
    """Recompute a run's missing files below graphs/ from its records; empty for a task without graphs."""
    from harness.scoring.samples import votes

    make = benchmark_of(run.place["task"]).graphs
    try:
        task = task_of(run.manifest)
    except (KeyError, TypeError, ValueError, HarnessError):
        return {}
    if make is None:
        return {}
    try:
        return make().of_records(task, votes(run.records(), run.samples))
    except (KeyError, ValueError, IndexError):  # of other items than the task's
        return {}


def _files(folder: Path, drawing: Graphs) -> Iterator[tuple[str, str, str]]:
    if not (folder / FOLDER).is_dir():
        return
    for network, name in drawing.files:
        if file := inside(folder, FOLDER, network, f"{name}.csv"):
            yield network, name, read_bytes(file).decode(errors="replace")


def _texts(texts: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for path, text in texts.items():
        if path.endswith(".csv"):
            _, network, name = path.removesuffix(".csv").split("/")
            yield network, name, text
