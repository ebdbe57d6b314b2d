"""One shard of a run, asked into a cache and not scored: here (shard=), or by a worker, which records how it ended."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import IO

from harness import trust
from harness.cache.model import differences
from harness.codec import request_digest
from harness.cost.budget import Amounts
from harness.errors import ConfigError, HarnessError, RunStopped
from harness.plugins.scale import folder
from harness.plugins.scale.dealing import Shard
from harness.plugins.scale.folder import Assignment, WorkerOutcome, WorkerStatus, place_of
from harness.prepare import Prepared, answering, opened_store, prepare
from harness.prompting.fit import fitting
from harness.protocols import Model, Outcomes, Wrapper, remarks_of
from harness.run import ask, watched
from harness.runtime.interrupt import interruptible
from harness.runtime.progress import Progress
from harness.runtime.secrets import mask_keys
from harness.scoring.replies import FirstReplies
from harness.storage.atomic_write import json_round_trip
from harness.storage.manifest import machine
from harness.tasks.check import CheckedItems, look_ahead
from harness.types import FINAL_FAILURES, Failure, Request

_EVERY = 1.0
"""Seconds between two states of its status."""


def run(prepared: Prepared, *, brief: bool) -> None:
    """Ask a shard's items into the cache and print the counts; in half a line if `brief`.

    Raises RunStopped where answers are missing at the end.
    """
    share, progress = prepared.task, prepared.progress
    if next(iter(share.items()), None) is None:
        print(f"{share} has nothing to ask: items that share an opening stay together, and others have them all.")
        return
    with interruptible(progress), opened_store(prepared) as store:
        stopped, failures = fill(prepared, answering(prepared, store, announced=brief))
    stopped = stopped or _curable(failures)
    where = prepared.settings.cache.path
    answers, failed = progress.done - progress.failed, f", {progress.failed:,} failed" * (progress.failed > 0)
    now = f"{answers - progress.cached:,} asked now, {progress.cached:,} stored before{failed}"
    if brief:
        print(f"    {'NOT COMPLETE: ' if stopped else ''}{share}: {now}; {where}", file=sys.stderr)
    else:
        print(f"{share}: {answers:,} answers in {where}: {now}.", *prepared.spending.ledger.lines(), sep="\n")
        print(next_step([prepared]))
    if stopped is not None:
        raise stopped


def fill(prepared: Prepared, model: Model) -> tuple[RunStopped | None, Counter[str]]:
    """Ask about a task's items for the cache alone; return what ended that early, and how many calls failed by kind.

    `model` stands behind its cache.
    """
    task, prompt, progress, settings = prepared.task, prepared.prompt, prepared.progress, prepared.settings
    look_ahead(task.task if isinstance(task, Shard) else task)
    for remark in remarks_of(task):
        progress.say(remark)
    items = CheckedItems(task)
    records = ask(items, prompt, model, fitting(prompt, model), progress.say, settings.samples)
    if settings.pause:
        records = watched(records, FirstReplies(model, settings.judge is not None), progress.say)
    failures: Counter[str] = Counter()
    try:
        for record, _ in progress.track(records, items, settings.samples):
            if isinstance(record.outcome, Failure):
                failures[record.outcome.kind] += 1
    except RunStopped as reason:
        return reason, failures
    return None, failures


def _curable(failures: Counter[str]) -> RunStopped | None:
    """Return the RunStopped for calls that failed in a way that may pass; None without such calls."""
    kinds = {kind: count for kind, count in failures.items() if kind not in FINAL_FAILURES}
    if not kinds:
        return None
    listing = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    return RunStopped(
        f"{sum(kinds.values()):,} calls failed in a way that may pass ({listing}): the same command asks for them "
        "again."
    )


def next_step(prepared: Sequence[Prepared]) -> str:
    """Return what to do when all shards have ended, given some of them; "" for no shards."""
    if not prepared:
        return ""
    caches = list(dict.fromkeys(each.settings.cache.path for each in prepared))
    rest = "the same command without shards=, shard= and their cache.path= scores the run"
    if len(caches) == 1 < len(prepared):
        return f"Next: {rest}."
    several = (
        f"{Path(caches[0]).parent}/*.sqlite" if len({Path(path).parent for path in caches}) == 1 else " ".join(caches)
    )
    take_in = f"`harness cache import {several if len(caches) > 1 else caches[0]}`"
    if len(caches) > 1:
        return f"Next: {take_in} (copied from elsewhere, each with its log: *.sqlite*), then {rest}."
    return f"When all shards have ended: {take_in} with those of the others, unless all of them share one, then {rest}."


def work(assignment: str) -> int:
    """Carry out the assignment in a file; return 0, or 1 if it ended early, with the reason in its outcome.

    It may be killed at any moment and started again with the same assignment: it continues from its cache.
    """
    place = Path(assignment)
    error: Exception | None = None
    try:
        with _alone(place):
            error = _carry_out(place, folder.read(place))
    except Exception as reason:
        error = reason
    message = None if error is None else mask_keys(_sentence(error))
    kind = "" if error is None else type(error).__name__
    if message:
        print(message, file=sys.stderr, flush=True)
    with suppress(OSError):  # the disk is full: its log may have had room
        folder.write(place_of(place, "outcome.json"), WorkerOutcome(message, kind, socket.gethostname(), machine()))
    return int(error is not None)


def _carry_out(place: Path, assignment: Assignment) -> HarnessError | None:
    """Carry out an assignment; return what ended it early."""
    _see(assignment)
    os.chdir(assignment.folder)
    trust.assume(assignment.folder)  # the process that has made the assignment has checked it
    before = folder.status_of(place)
    prepared = _prepared(assignment, before)
    with (
        interruptible(prepared.progress),
        opened_store(prepared) as store,
        place_of(place, "failures.jsonl").open("a", encoding="utf-8") as failures,
        _reporting(place_of(place, "status.json"), prepared, before),
    ):
        return fill(prepared, _Noting(answering(prepared, store, announced=True), failures))[0]


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold the lock by which others see that this worker lives; one that Slurm begins twice waits for the first."""
    import filelock

    try:
        lock = filelock.FileLock(place_of(place, "lock"))
        lock.acquire()
    except (OSError, NotImplementedError):  # a disk without locks
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _see(assignment: Assignment) -> None:
    """Raise ConfigError if the command's files cannot be seen from this machine."""
    here = socket.gethostname()
    if not Path(assignment.folder).is_dir():
        raise ConfigError(
            f"{here} does not see {assignment.folder}, where the command was started: start it on a disk that all "
            "share."
        )
    for name, path in assignment.paths.items():
        if not Path(path).exists():
            raise ConfigError(f"{here} does not see {name}={path}: put it on a disk that all workers share.")


def _prepared(assignment: Assignment, before: WorkerStatus) -> Prepared:
    """Return the run of an assignment. Raises ConfigError where its model would be another one here."""
    budget = dict(assignment.config["budget"])
    for limit, amount in before.taken.items():
        if budget.get(limit) is not None:
            budget[limit] = max(0.0, budget[limit] - amount)
    prepared = prepare({**assignment.config, "budget": budget})
    identity = json_round_trip(dict(prepared.model.identity))
    if identity != assignment.identity:
        raise ConfigError(
            f"{prepared.model.name} is another model on {socket.gethostname()} than where the run was started "
            f"({'; '.join(differences(assignment.identity, identity)[:3])}): say it with a setting, such as "
            "model.dtype=."
        )
    share = Shard(prepared.task, prepared.prompt, assignment.shard, assignment.shards, assignment.runs)
    progress = Progress(f"{share.name} {prepared.model.name} {share}", prepared.spending.so_far)
    return replace(prepared, task=share, progress=progress)


class _Noting(Wrapper):
    """A model whose failures are noted as they come: no cache has them, and the run has to record them."""

    def __init__(self, model: Model, file: IO[str]) -> None:
        super().__init__(model)
        self._file = file

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the model's outcomes as they are."""
        with closing(self.model.respond(requests)) as landing:
            for outcomes in landing:
                for request, outcome in outcomes:
                    if isinstance(outcome, Failure):
                        line = {"request": request_digest(request), "kind": outcome.kind, "detail": outcome.detail}
                        self._file.write(f"{json.dumps(line)}\n")
                        self._file.flush()
                yield outcomes


@contextmanager
def _reporting(place: Path, prepared: Prepared, before: WorkerStatus) -> Iterator[None]:
    """Write how far the worker is once a second, and at the end."""
    progress, ledger, till = prepared.progress, prepared.spending.ledger, prepared.spending.till
    earlier = Amounts(**before.taken)

    def report() -> None:
        names = ("usd", "tokens", "requests")
        taken = dict(zip(names, astuple(earlier + till.spent), strict=True))
        counts = progress.done, progress.cached, progress.failed
        usd, discarded = before.usd + ledger.spent_now, before.discarded + ledger.usd_discarded
        folder.write(place, WorkerStatus(*counts, usd, discarded, taken))

    def go_on() -> None:
        while not ended.wait(_EVERY):
            with suppress(OSError):
                report()

    ended = threading.Event()
    thread = threading.Thread(target=go_on, daemon=True)
    report()
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(OSError):
            report()


def _sentence(error: Exception) -> str:
    from harness.cli import hydra_app

    return hydra_app.sentence(error, "config", ())
