"""What a run left, read for a comparison: its replies by item, and how it was scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.scoring.definitions import definition
from harness.scoring.samples import votes
from harness.storage import records, runs
from harness.storage.files import inside
from harness.storage.find import find
from harness.storage.manifest import NO_MANIFEST, Manifest
from harness.storage.replies import MOST_REMEMBERED, Reply, ReplyReader, reply_of
from harness.storage.run_folder import MANIFEST, PARTIAL, RECORDS, RESULT, records_in
from harness.storage.runs import Run
from harness.types import Unreadable

_PLACE = ("model", "prompt", "variant", "task")


@dataclass(frozen=True)
class Replies:
    """The replies of one run, and how it was scored."""

    path: Path
    place: Mapping[str, str]
    """task, variant, prompt and model; empty for records without their folder."""
    headline: str | None
    unreadable: Unreadable
    complete: bool
    by_other_rules: bool
    """Whether its replies were read by other rules than today's."""
    by_item: Mapping[str, Reply]
    """In the order of the file."""
    choices: tuple[str, ...] = ()
    """What the answers are called where they are places of choices; () where they are No and Yes."""

    @property
    def label_sets(self) -> list[str]:
        sets = [[name for name, _ in labels] for labels in {reply.labels for reply in self.by_item.values()}]
        return [name for name in sets[0] if all(name in other for other in sets)] if sets else []


class Loader:
    """Loads runs, and remembers them: a page sets each run beside several others."""

    def __init__(self, read: ReplyReader | None = None) -> None:
        """Take replies from what `read` remembers."""
        self._read = read or ReplyReader()
        self._loaded: dict[Path, Replies] = {}

    def __call__(self, run: Run) -> Replies:
        """Return the replies of a run as `load` does."""
        loaded = self._loaded.pop(run.folder, None) or self._load(run)
        self._loaded[run.folder] = loaded  # the newest stands last
        while len(self._loaded) > 1 and sum(len(one.by_item) for one in self._loaded.values()) > MOST_REMEMBERED:
            del self._loaded[next(iter(self._loaded))]
        return loaded

    def _load(self, run: Run) -> Replies:
        if run.samples > 1:
            return load(str(run.folder))
        if run.manifest_error and inside(run.folder, MANIFEST):
            raise run.manifest_error
        return _replies(run.folder, run, run.manifest, self._read.of(run))


def load(name: str) -> Replies:
    """Return the replies of the run that a folder holds, or a file of records (.jsonl, .jsonl.gz). Raises DataError."""
    file = _file(Path(name))
    run, manifest = _beside(file.parent)
    samples = run.samples if run else runs.samples_of(manifest)
    shared: dict[Any, Any] = {}
    found = records.read(file)
    replies = (reply_of(record, shared) for record in (found if samples == 1 else votes(found, samples)))
    return _replies(Path(name), run, manifest, replies)


def _replies(path: Path, run: Run | None, manifest: Manifest, replies: Iterable[Reply]) -> Replies:
    """Return the replies of a run by item, with how it was scored. Raises DataError for an item that is there twice."""
    by_item: dict[str, Reply] = {}
    for reply in replies:
        if reply.item in by_item:
            raise DataError(f"{path} holds the item {reply.item} twice: a comparison takes one run.")
        by_item[reply.item] = reply
    if not by_item:
        raise DataError(f"{path} holds no records.")
    if run and any(definition(metric.name).made_of == "items" for metric in run.result.overall.metrics):
        raise DataError(f"{path} has scores that are means over items: only right and wrong answers are compared.")
    place = run.place if run else manifest.run
    headline = run.result.headline if run else None
    complete = run.complete if run else manifest is NO_MANIFEST or bool(manifest.complete)
    unreadable = (manifest.configuration.get("task") or {}).get("unreadable")
    counts_as: Unreadable = "no" if unreadable == "no" else "wrong"
    older = run is not None and run.read_by_other_rules
    choices = run.result.choices if run else ()
    return Replies(path, place, headline, counts_as, complete, older, by_item, choices)


def _beside(folder: Path) -> tuple[Run | None, Manifest]:
    """Return the run that a file of records belongs to, None where no result is beside it, and the manifest there."""
    if not inside(folder, RESULT):
        return None, runs.manifest_of(folder) if inside(folder, MANIFEST) else NO_MANIFEST
    run = runs.load(folder)
    if run.manifest_error and inside(folder, MANIFEST):
        raise run.manifest_error
    return run, run.manifest


def names(several: Sequence[Replies]) -> list[str]:
    """Return a name for each: the parts of its place that tell it from the others, else its path."""
    parts = [part for part in _PLACE if len({run.place.get(part) for run in several}) > 1]
    texts = [" ".join(run.place[part] for part in parts) if run.place and parts else str(run.path) for run in several]
    return texts if len(set(texts)) == len(texts) else [str(run.path) for run in several]


def _file(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.exists():
        raise DataError(f"there is no {path}: give the folder that a run printed when it ended, or its {RECORDS}.")
    if file := records_in(path):
        return file
    if (path / PARTIAL).is_file():
        raise DataError(f"{path} holds a run that has not ended: start its command again, then compare.")
    if (path / MANIFEST).is_file():
        raise runs.no_records(path)
    below = [str(folder) for folder in find([str(path)], need="none")]
    hint = f": {', '.join(below[:3])}{', …' if len(below) > 3 else ''}" if below else ""
    raise DataError(f"{path} is not the folder of one run{'; there are some below it' if below else ''}{hint}.")
