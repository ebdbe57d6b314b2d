"""The graphs that a run's answers add up to, as its benchmark draws them: from its folder, or from its records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from harness.errors import HarnessError
from harness.storage.files import inside, read_bytes
from harness.storage.rebuild import task_of
from harness.storage.runs import Run
from harness.tasks.benchmark import Graphs
from harness.tasks.find import benchmark_of
from harness.types import JSON

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
    """Return whether a run that should have graphs has records alone."""
    records_only = run.records_file is not None and not (run.folder / FOLDER).is_dir()
    return records_only and benchmark_of(run.place["task"]).graphs is not None


def from_records(run: Run, trust: Collection[str] = ()) -> Mapping[str, str]:
    """Return the files below graphs/ of a run whose folder has lost them; none where its task has none."""
    from harness.scoring.samples import Votes

    make = benchmark_of(run.place["task"]).graphs
    try:
        task = task_of(run.manifest, trust)
    except (KeyError, TypeError, ValueError, HarnessError):
        return {}
    if make is None:
        return {}
    try:
        records = run.records()
        return make().of_records(task, Votes(task.headline, run.samples).votes(records) if run.samples > 1 else records)
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
