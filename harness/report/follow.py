"""A page that follows runs under way: written anew every few seconds, from the records that they have left so far."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from harness.errors import HarnessError
from harness.leaderboard.comparable import find_runs
from harness.protocols import Task
from harness.scoring.samples import summarize
from harness.storage import files, records
from harness.storage.atomic_write import format_json, json_round_trip
from harness.storage.find import SWEEPS, left_out
from harness.storage.manifest import Items, Manifest, TracedItems
from harness.storage.rebuild import SPARE, task_of
from harness.storage.result_json import result_json
from harness.storage.run_folder import MANIFEST, PARTIAL, RECORDS, RESULT
from harness.storage.runs import Run, manifest_of, samples_of
from harness.types import JSON

EVERY = 5.0
"""Seconds between two pages;"""
REST = 4
"""at least so many times as long as one takes to make, so that a large one leaves the cores alone."""
QUIET = 60.0
"""Seconds without a run under way after which a page follows none any more; the jobs of a sweep begin sooner."""
PATIENCE = 60.0
"""Seconds after which a page that was not written anew stops reloading: its command was killed."""

Write = Callable[[Sequence[Run], dict[str, JSON] | None], None]
"""Writes the page of some runs, with what it needs to know of being followed, if it is."""


def follow(folders: Sequence[str], write: Write) -> None:
    """Write the page again and again until there is no run under way or Ctrl-C comes, then once more as it stays."""
    every, quiet_since = EVERY, None
    with tempfile.TemporaryDirectory(prefix="harness-follow-") as name:
        snapshots = _Snapshots(Path(name))
        try:
            while True:
                began = time.monotonic()
                sentences = snapshots.take(folders)
                quiet_since = None if sentences else quiet_since or began
                if quiet_since is not None and began - quiet_since >= QUIET:
                    break
                write(_runs(folders, name), _for_page(sentences, every))
                every = max(EVERY, REST * (time.monotonic() - began))
                time.sleep(every)
        except KeyboardInterrupt:
            print("Ctrl-C: the page is written once more.", file=sys.stderr)
        snapshots.take(folders)
        write(_runs(folders, name), None)


def _runs(folders: Sequence[str], snapshots: str) -> list[Run]:
    return find_runs([*(folder for folder in folders if Path(folder).is_dir()), snapshots], some=False)


def _for_page(sentences: Sequence[str], every: float) -> dict[str, JSON]:
    """Return what a followed page has to know: the sentence above it, and when to reload."""
    state = "; ".join(sentences) or "no run is under way"
    return {
        "sentence": f"At {time.strftime('%H:%M:%S')}: {state}.",
        "every": round(every, 1),
        "until": int(1000 * (time.time() + every + max(PATIENCE, REST * every))),
    }


class _Snapshots:
    """What runs under way have come to, as folders of runs that are not complete."""

    def __init__(self, place: Path) -> None:
        """Keep them below `place`."""
        self._place = place
        self._tasks: dict[tuple[Path, str | None], tuple[Task, Items | None] | None] = {}

    def take(self, folders: Sequence[str]) -> list[str]:
        """Replace all snapshots by new ones; return a sentence for each run under way."""
        for old in self._place.iterdir():
            shutil.rmtree(old)
        return [
            sentence for number, run in enumerate(under_way(folders)) if (sentence := self._leave(run, str(number)))
        ]

    def _leave(self, folder: Path, number: str) -> str | None:
        """Leave a snapshot of a run; return a sentence on it, None where it has ended or cannot be read."""
        try:
            manifest = manifest_of(folder)
            made = self._task(folder, manifest)
            place = self._place / number
            count = _copy_lines(folder / PARTIAL, place)
            if made is not None and count:
                _leave_scores(made[0], replace(manifest.unfinished, items=made[1]), place)
        except FileNotFoundError:  # it has just ended
            return None
        except HarnessError as error:
            left_out(error)
            return None
        of_all = f" of {(made[1]['count'] or 0) * samples_of(manifest):,}" if made and made[1] else ""
        return f"{manifest.run.get('model')}, {count:,}{of_all} answers"

    def _task(self, folder: Path, manifest: Manifest) -> tuple[Task, Items | None] | None:
        """Return the task of a run and what its items are, made once; None where it cannot be made, said once.

        More than SPARE items are not looked through: the page then has the questions as they were asked.
        """
        key = folder, manifest.started
        if key not in self._tasks:
            self._tasks[key] = None
            try:
                task = task_of(manifest)
                items = TracedItems(islice(task.items(), SPARE))
                count = sum(1 for _ in items)
                self._tasks[key] = task, items.summary if count < SPARE else None
            except HarnessError as error:
                left_out(error)
        return self._tasks[key]


def under_way(folders: Sequence[str]) -> Iterator[Path]:
    """Yield the folders of runs that are being written to."""
    for top in dict.fromkeys(map(Path, folders)):
        for file in files.below(top, PARTIAL):
            if SWEEPS not in file.parts and _locked(file.with_name(".lock")):
                yield file.parent


def _locked(file: Path) -> bool:
    """Return whether a run holds its folder; what a killed run has left is there, too, but held by nobody."""
    import filelock

    if not file.is_file():
        return False
    try:
        with filelock.FileLock(file, timeout=0):
            return False
    except filelock.Timeout:
        return True


def _copy_lines(source: Path, place: Path) -> int:
    """Copy the records that are whole; return their number."""
    place.mkdir(parents=True)
    count = 0
    with files.open_file(source) as lines, (place / RECORDS).open("wb") as copy:
        for line in lines:
            if line.endswith(b"\n"):  # the last may be half written
                copy.write(line)
                count += 1
    return count


def _leave_scores(task: Task, manifest: Manifest, place: Path) -> None:
    result = summarize(task, lambda: records.read(place / RECORDS), samples_of(manifest), None)
    content = json_round_trip({"run": manifest.run, "complete": False, **result_json(result)})
    (place / RESULT).write_text(format_json(content), encoding="utf-8")
    (place / MANIFEST).write_text(format_json(manifest.as_json), encoding="utf-8")
