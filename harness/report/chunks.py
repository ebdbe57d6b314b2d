"""The chunks of the page: items, texts of requests, answers and graphs, each packed by itself."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from harness.errors import DataError, HarnessError
from harness.plugin import load
from harness.report.bundle import pack
from harness.report.items import Answers, ItemColumns, RequestTexts, items_of
from harness.scoring.samples import votes
from harness.storage.files import inside, read_bytes
from harness.storage.rebuild import task_of
from harness.storage.replies import ReplyReader
from harness.storage.run_folder import RECORDS
from harness.storage.runs import Run
from harness.tasks.benchmark import Graphs, benchmark_of
from harness.types import JSON

NO_RECORDS = (
    f"The answers of this run are not here: its folder holds no {RECORDS}. The command of its run makes them again."
)
NOT_WANTED = "This page was made without answers (answers=none)."
FOLDER = "graphs"
"""Of a run's folder, the one that holds its graphs, as <network>/<name>.csv."""


class ChunkBuilder:
    """The chunks, packed as soon as they are whole."""

    def __init__(self, replies: ReplyReader, *, answers: bool) -> None:
        """Begin without runs. `answers`: whether replies are wanted.

        `replies` sees the lines of all runs pass, so that charts and tables need not read them again.
        """
        self._replies = replies
        self._with_answers = answers
        self._chunks: dict[str, str] = {}
        self._items: dict[tuple[str, ...], tuple[str, ItemColumns]] = {}
        self._names: dict[tuple[str, str], str] = {}

    def parts_of(self, run: Run) -> dict[str, JSON]:
        """Return the names of a run's chunks, answers and graphs, or why it has no_answers."""
        parts: dict[str, JSON] = {"answers": None, "graphs": None}
        try:
            if content := graphs(run):
                parts["graphs"] = {"chunk": self._chunk("graphs", content), "networks": list(content["networks"])}
            parts["answers"] = self._answers(run)
        except DataError as error:
            parts["no_answers"] = str(error)
        return parts

    def chunks(self) -> dict[str, str]:
        """Return the chunks by name, those of the items of all runs last."""
        for name, items in self._items.values():
            classes = items.explanations and items.explanations.json()
            self._chunks[name] = pack(items.json(self._chunk("classes", classes) if classes else None))
        return self._chunks

    def _answers(self, run: Run) -> JSON:
        if not self._with_answers:
            raise DataError(NOT_WANTED)
        if run.records_file is None:
            raise DataError(NO_RECORDS)
        key = run.task, run.result.headline, run.items or str(run.folder)
        if key not in self._items:
            self._items[key] = f"items/{len(self._items)}", items_of(run)
        name, items = self._items[key]
        answers, requests = Answers(), RequestTexts()
        for line in self._replies.passing(run):
            row = items.row(line)
            answers.add(row, line, run.right(line))
            requests.add(row, line)
        prompts = self._chunk("prompts", requests.json()) if requests.kind else None
        packed = self._chunk("answers", answers.json())
        return {"items": name, "prompts": prompts, "answers": packed, "count": len(answers)}

    def _chunk(self, kind: str, value: JSON) -> str:
        """Pack a chunk and return its name; an equal one has its name already."""
        text = pack(value)
        key = kind, hashlib.sha256(text.encode()).hexdigest()
        if key not in self._names:
            self._names[key] = f"{kind}/{sum(other == kind for other, _ in self._names)}"
            self._chunks[self._names[key]] = text
        return self._names[key]


def graphs(run: Run) -> dict[str, JSON] | None:
    """Return the graphs chunk of a run, from its folder or else from its records; None where it has no graphs."""
    if not (path := benchmark_of(run.task).graphs):
        return None
    drawing: Graphs = load(path)()
    files = {place: inside(run.folder, FOLDER, place[0], f"{place[1]}.csv") for place in drawing.files}
    texts = {place: read_bytes(file).decode(errors="replace") for place, file in files.items() if file}
    if not texts and run.records_file:
        with suppress(HarnessError, KeyError, TypeError, ValueError, IndexError):  # records of other items
            made = drawing.of_records(task_of(run.manifest), votes(run.records(), run.samples))
            paths = {place: f"{FOLDER}/{place[0]}/{place[1]}.csv" for place in files}
            texts = {place: made[name] for place, name in paths.items() if name in made}
    networks: dict[str, dict[str, JSON]] = {}
    for (network, name), text in texts.items():
        if sheet := drawing.sheet(network, name, text, run.result):
            if network not in networks:
                networks[network] = {**drawing.network(network), "templates": {}}
            networks[network]["templates"][name] = sheet
    return {"networks": networks} if networks else None
