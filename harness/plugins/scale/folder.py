"""The folder of a command's workers, beside the cache: their assignments, and the import of what they leave.

N.json           the assignment: the run's settings, the items, the model that it has to be
N.sqlite         the answers, as they land; no other process writes to it
N.failures.jsonl the calls that failed, by the digests of their requests
N.status.json    how far it is, once a second
N.outcome.json   how it ended; one that was killed leaves none
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.cache import Store
from harness.cache.alone import for_reading
from harness.cache.merging import ImportCounts, merge, of_cache, texts_of_cache
from harness.cost.price import dollars
from harness.engine import Engine, State
from harness.errors import ConfigError, StoreError
from harness.runtime.progress import Progress
from harness.storage.atomic_write import beside, format_json, full, object_in
from harness.types import JSON, Failure

_LOCK, _NAMES, _RUN = ".lock", "workers.json", "run.json"
_GLANCE = 1.0
"""Seconds between two looks at the workers' status files."""
_PATIENCE = 120.0
"""Seconds that workers of a command that was killed are waited for."""


@dataclass(frozen=True)
class Assignment:
    """The work of one worker."""

    config: Mapping[str, JSON]
    """The run's, with a cache of its own and its part of the budget."""
    identity: Mapping[str, JSON]
    """The model's, as the command computes it that scores the answers."""
    runs: tuple[tuple[int, int], ...]
    """Half-open ranges of items."""
    shard: int
    shards: int
    folder: str
    """The working directory of the command."""
    paths: Mapping[str, str]
    """Settings that name a file or a folder, which the worker must see, too."""

    def write(self, place: Path) -> None:
        place.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read(place: Path) -> Assignment:
    content = json.loads(place.read_text(encoding="utf-8"))
    return Assignment(**content | {"runs": tuple((start, end) for start, end in content["runs"])})


@dataclass(frozen=True)
class WorkerStatus:
    """How far a worker is."""

    done: int = 0
    cached: int = 0
    failed: int = 0
    usd: float = 0.0
    """Spent, as its prices have it."""
    discarded: float = 0.0
    """USD of that for replies that were no answer."""
    taken: Mapping[str, float] = field(default_factory=dict)
    """What was taken from its budget, before restarts of the worker, too."""


@dataclass(frozen=True)
class WorkerOutcome:
    """How a worker ended."""

    error: str | None
    kind: str
    """The class of the error; "" without one."""
    host: str
    machine: Mapping[str, JSON]


def place_of(assignment: Path, what: str) -> Path:
    """Return a file that belongs to an assignment: its sqlite, failures.jsonl, status.json or outcome.json."""
    return assignment.with_name(f"{assignment.stem}.{what}")


def write(place: Path, value: WorkerStatus | WorkerOutcome) -> None:
    """Replace a file at once, so that no reader sees half of it."""
    temporary = beside(place)
    temporary.write_text(format_json(asdict(value)), encoding="utf-8")
    temporary.replace(place)


def status_of(assignment: Path) -> WorkerStatus:
    with suppress(TypeError):
        return WorkerStatus(**object_in(place_of(assignment, "status.json")))
    return WorkerStatus()


def outcome_of(assignment: Path) -> WorkerOutcome | None:
    content = object_in(place_of(assignment, "outcome.json"))
    return WorkerOutcome(**content) if content else None


def failures_of(assignment: Path) -> Iterator[tuple[str, Failure]]:
    """Yield the failed calls of a worker by the digests of their requests; incomplete lines are skipped."""
    with suppress(OSError):
        for line in place_of(assignment, "failures.jsonl").read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                content: Any = json.loads(line)
                yield content["request"], Failure(content["kind"], content["detail"])


@contextmanager
def new_folder(cache: str, run: Path) -> Iterator[Path]:
    """Make the folder of this command, and hold its lock within the context. Raises ConfigError.

    `run` is the results folder that it is for.
    """
    import filelock

    root = root_of(cache)
    try:
        root.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=time.strftime("%Y-%m-%d_%H-%M-%S-"), dir=root))
        lock = filelock.FileLock(place / _LOCK)
        lock.acquire()
        (place / _RUN).write_text(format_json({"run": str(run.absolute())}), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"no folder for the workers can be made in {root} ({error.strerror}): choose another cache.path=."
        ) from error
    try:
        yield place
    finally:
        lock.release()


def root_of(cache: str) -> Path:
    """Return where the folders of workers are that share a cache."""
    return Path(f"{cache}.workers").absolute()


def remove(place: Path) -> None:
    """Remove a folder whose answers were taken in, and the one above it if it was the last."""
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        place.parent.rmdir()


def note_names(place: Path, engine: Engine, names: object) -> None:
    """Write the names by which a later command can end these workers."""
    (place / _NAMES).write_text(format_json({"engine": engine.name, "names": names}), encoding="utf-8")


def recover(mine: Path, store: Store, engine: Engine, say: Callable[[str], None]) -> int:
    """Import the answers of killed commands, once their workers have ended; return how many there were.

    Raises StoreError while a live command has workers for the same run: both would ask for all of it.
    """
    import filelock

    new = 0
    for place in sorted(mine.parent.iterdir()):
        if place == mine or not place.is_dir():
            continue
        try:
            with filelock.FileLock(place / _LOCK, timeout=0):
                left = object_in(place / _NAMES)
                if left.get("engine") == engine.name:
                    engine.cancel_named(left.get("names") or [])
                new += _taken_from(place, store, say)
        except filelock.Timeout:
            if (run := object_in(place / _RUN)) == object_in(mine / _RUN):
                remove(mine)
                raise StoreError(f"another command has workers for {run['run']}: wait for it, or end it.") from None
    if new:
        say(f"{new:,} answers that workers of an earlier command left are taken in")
    return new


def _taken_from(place: Path, store: Store, say: Callable[[str], None]) -> int:
    import filelock

    new, whole = 0, True
    for assignment in sorted(place.glob("*-*.json")):
        if assignment.name.count(".") > 1:
            continue
        try:
            with filelock.FileLock(place_of(assignment, "lock"), timeout=0):
                pass
        except filelock.Timeout:
            say(f"waiting for worker {assignment.stem} of an earlier command, which is ending")
            with suppress(filelock.Timeout), filelock.FileLock(place_of(assignment, "lock"), timeout=_PATIENCE):
                pass
        for count in take_in(store, assignment, say):
            if count < 0:
                whole = False
            new += max(count, 0)
    if whole:
        remove(place)
    return new


def take_in(store: Store, assignment: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Import a worker's answers; yield the number of new ones, some at a time, and -1 if its cache cannot be read."""
    cache = place_of(assignment, "sqlite")
    if not cache.exists():
        return
    counts = ImportCounts()
    try:
        with closing(for_reading(cache)) as db:
            for _ in merge(store, of_cache(db, counts), texts_of_cache(db), counts, replace=False):
                yield counts.new
                counts.new = 0
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, OSError) and full(error):
            raise StoreError(f"{cache} cannot be taken in ({error.strerror}): make room, and start again.") from error
        say(f"{cache} cannot be read ({error}): `harness cache import {cache}` takes what can be saved")
        yield -1


class WorkersProgress(Progress):
    """Progress of a run whose workers get the answers."""

    def __init__(self, title: str) -> None:
        super().__init__(title, self._spent)
        self._usd = self._usd_before = 0.0
        self._states: Mapping[Path, State] = {}
        self._base = self._known = self._failed_before = 0
        self._seeded: Mapping[Path, int] = {}
        self._new: dict[Path, int] = {}
        self._last_look = 0.0

    def begin(self, total: int, missing: int, seeded: Mapping[Path, int]) -> None:
        """Begin a round with `missing` of `total` answers; `seeded` counts those already in each worker's cache."""
        if not self.total:
            self.cached = total - missing
        self._base, self._failed_before, self._usd_before = total - missing, self.failed, self._usd
        self.done = self._known = self._base
        self._seeded, self._new, self._last_look = seeded, {}, 0.0

    def look(self, states: Mapping[Path, State]) -> None:
        """Read the workers' counts, once a second."""
        self._states = states
        self.done = self._known  # Progress.watch has counted this look as one more answer
        if (now := time.monotonic()) - self._last_look < _GLANCE and any(state != "ended" for state in states.values()):
            return
        self._last_look = now
        statuses = {assignment: status_of(assignment) for assignment in states}
        for assignment, status in statuses.items():  # one that was begun again counts its stored answers anew
            self._new[assignment] = max(self._new.get(assignment, 0), status.done - self._seeded.get(assignment, 0))
        self.done = self._known = self._base + sum(self._new.values())
        self.failed = self._failed_before + sum(status.failed for status in statuses.values())
        self._usd = self._usd_before + sum(status.usd for status in statuses.values())

    def facts(self, now: float) -> dict[str, str]:
        alive, waiting = (sum(state == which for state in self._states.values()) for which in ("running", "waiting"))
        workers = f"{alive} of {len(self._states)} workers alive" + f", {waiting} waiting" * (waiting > 0)
        return super().facts(now) | ({"workers": workers} if self._states else {})

    def _spent(self) -> str:
        return dollars(self._usd) if self._usd else ""
