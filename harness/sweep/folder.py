"""The folder of a sweep, below results/.sweeps/: its jobs, what became of each, their leaderboard and their budget."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.cli.multirun import Multirun
from harness.errors import StoreError
from harness.runtime.secrets import mask_keys
from harness.storage.atomic_write import atomic_file

KEPT = 20
"""So many sweeps' folders are kept, the newest."""
SWEEP, OUTCOME, BUDGET, LOCK = "sweep.json", "outcome.json", "budget.sqlite", ".lock"
_DATED = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d+)?")


@contextmanager
def new_folder(multirun: Multirun) -> Iterator[tuple[Path, Multirun]]:
    """Make the folder of a sweep, and yield it and the sweep within it; older ones than the newest 20 are removed.

    A folder is never removed while the sweep runs that made it.
    """
    import filelock

    wanted = multirun.folder
    try:
        place = _new(wanted)
        with filelock.FileLock(place / LOCK):
            if wanted.parent.name == ".sweeps":
                _remove_old(wanted.parent)
            jobs = [{"number": job.number, "settings": mask_keys(str(job))} for job in multirun.jobs]
            _write(place / SWEEP, {"command": multirun.config_name, "jobs": jobs})
            yield place, multirun.within(place)
    except OSError as error:
        raise StoreError(
            f"the sweep's folder {wanted} cannot be written ({error.strerror}): choose another results=."
        ) from error


def note(place: Path, *, run: Path | None, error: str | None) -> None:
    """Write the outcome of a job into its folder: its results folder or its error."""
    place.mkdir(parents=True, exist_ok=True)
    _write(place / OUTCOME, {"run": str(run) if run else None, "error": error})


def outcome(place: Path) -> dict[str, Any] | None:
    """Return the outcome of a job from its folder; None where it has left none."""
    try:
        content = json.loads((place / OUTCOME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def number_of_jobs(place: Path) -> int:
    return len(json.loads((place / SWEEP).read_text(encoding="utf-8"))["jobs"])


def _new(wanted: Path) -> Path:
    """Make a folder of this name, or with a number after it where one is there: two sweeps may begin in a second."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        place = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            place.mkdir()
        except FileExistsError:
            number += 1
        else:
            return place


def _remove_old(sweeps: Path) -> None:
    import filelock

    dated = sorted(place for place in sweeps.iterdir() if place.is_dir() and _DATED.fullmatch(place.name))
    for place in dated[:-KEPT]:
        with suppress(filelock.Timeout, OSError), filelock.FileLock(place / LOCK, timeout=0):
            shutil.rmtree(place, ignore_errors=True)


def _write(file: Path, content: object) -> None:
    with atomic_file(str(file), "results=", user_path=False) as stream:
        json.dump(content, stream, indent=1)
