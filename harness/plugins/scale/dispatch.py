"""The plug-in's side of `harness.engine.Dispatch`: a run in shards, here or by workers, and the jobs of a sweep.

With workers, items are dealt, submitted and watched; answers are imported, items of lost workers dealt again, and the
run is scored. Answers stand in the workers' caches until then, so that nothing is lost if a worker or this process is
killed: the next command on the same cache imports what a killed one left.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.cache import CachedModel, Store
from harness.codec import request_digest
from harness.engine import Engine, Started, Work
from harness.errors import ConfigError, Interrupted
from harness.plugins.scale import folder, shard
from harness.plugins.scale.array_number import numbered
from harness.plugins.scale.asking import Rounds, WorkWatch
from harness.plugins.scale.dealing import Shard
from harness.plugins.scale.shard import next_step
from harness.prepare import Prepared, judging, opened_store, stored_answer
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Outcomes, Task, Wrapper
from harness.run import RunOutcome, run
from harness.runtime import signals
from harness.runtime.interrupt import SIGNALS, Stoppable, interruptible
from harness.runtime.progress import Progress
from harness.runtime.signals import STOP
from harness.settings import Main, build
from harness.sweep import jobs
from harness.tasks.check import look_ahead
from harness.types import JSON, Failure, Request

_LOOK = 0.1
"""Seconds between two looks at the folders of a sweep's jobs."""
_EVERY = 60.0
"""Seconds between two lines on work that waits."""
__all__ = ["carry_out", "check", "next_step", "numbered", "shard_of", "wait"]


def shard_of(task: Task, prompt: Prompt, model: Model, settings: Main) -> Task:
    """Return the part of a task that shard= selects; with workers= the whole task. Raises ConfigError."""
    shard, shards = settings.shard, settings.shards
    if shard is None:
        if shards > 1 and settings.workers is None:
            raise ConfigError(
                f"shards={shards} needs to know which of them this is: shard=0 to shard={shards - 1}, or "
                f"-m 'shard=range({shards})' for all of them."
            )
        return task
    if shard >= shards:
        raise ConfigError(f"shard={shard} of shards={shards}: they are counted from 0 to {shards - 1}.")
    if settings.workers is not None:
        raise ConfigError(f"shard={shard} is what one of the workers asks: leave it out with workers=….")
    rule = f"shard={shard}: a shard asks its items into the cache and leaves nothing else"
    if model.traits.instant:
        raise ConfigError(f"{rule}, and {model.name} answers at once, without one: leave shards= and shard= out.")
    if settings.cache.mode in ("off", "frozen"):
        raise ConfigError(f"{rule}, which cannot be with cache={settings.cache.mode}: use cache=on.")
    if settings.dry_run:
        raise ConfigError(f"{rule}: dry_run=true without shards= and shard= plans all of them together.")
    return Shard(task, prompt, shard, shards)


def check(prepared: Prepared) -> None:
    """Raise ConfigError if workers cannot carry out a prepared run."""
    settings = prepared.settings
    if settings.workers is None:
        return
    if prepared.instant:
        raise ConfigError(f"workers=…: {prepared.model.name} answers at once and needs none: leave workers= out.")
    if settings.cache.mode != "on":
        raise ConfigError(
            f"workers=… with cache={settings.cache.mode}: workers hand over their answers by way of the cache: use "
            "cache=on (to ask everything anew, with another cache.path=)."
        )
    if (service := prepared.model.traits.service) is not None and service.batch_window is not None:
        raise ConfigError("workers=… with model.batch: the server works batches off by itself: leave workers= out.")
    if settings.shards > 1:
        Shard(prepared.task, prepared.prompt, 0, settings.shards).items()  # refuses more shards than items
    _engine(settings).check("workers")


def _engine(settings: Main) -> Engine:
    engine: Engine = build(settings.workers or {}, "workers")
    return engine


def carry_out(prepared: Prepared, config: Mapping[str, JSON], *, announced: bool) -> RunOutcome | None:
    """Have workers ask, take their answers in and score; return how the run ended, None for a shard.

    `config` is that of the run; `announced` says that the plan has been shown. Raises Interrupted after
    Ctrl-C, once the workers have ended and their answers are taken in, and what stopped the workers where there is no
    answer at all.
    """
    if prepared.shard:
        shard.run(prepared, brief=announced)
        return None
    engine = _engine(prepared.settings)
    at_once = engine.check("workers")
    look_ahead(prepared.task)
    prepared.folder.check()
    with (
        interruptible(prepared.progress),
        opened_store(prepared) as store,
        folder.new_folder(prepared.settings.cache.path, prepared.folder.path) as place,
    ):
        assert store is not None
        folder.recover(place, store, engine, prepared.progress.say)
        store.asked_after = store.last_row()
        if prepared.spending.paid and not announced:
            prepared.spending.announce(stored_answer(prepared, store), prepared.progress.say)
        asking = Rounds(prepared, config, engine, at_once, store, place)
        asking.ask()
        if not asking.unreadable and asking.stopped is None:
            folder.remove(place)
        if STOP.requested:
            raise Interrupted(signals.sentence("the workers have ended, and every answer so far is stored"))
        if asking.stopped is not None and not store.last_row():
            raise asking.stopped
        return _scored(prepared, asking, store)


def _scored(prepared: Prepared, asking: Rounds, store: Store) -> RunOutcome:
    """Record and score the workers' answers, as a run does that finds everything in its cache."""
    spending = prepared.spending
    spending.ledger.usd_discarded += asking.discarded
    reported = _Reported(prepared.model, asking.failures)
    cached = CachedModel(Stoppable(reported), store, task=prepared.task.name, say=prepared.progress.say)
    outcome = run(
        prepared.task,
        prepared.prompt,
        spending.metered(cached),
        replace(prepared.folder, manifest=replace(prepared.folder.manifest, **asking.provenance)),
        prepared.progress,
        prepared.settings.samples,
        judging(prepared, store),
        pause=False,  # the workers have seen to that
    )
    return outcome if outcome.stopped is None else replace(outcome, stopped=asking.stopped or outcome.stopped)


class _Reported(Wrapper):
    """A model that asks nothing: what the cache lacks has failed at a worker, or was left unanswered."""

    def __init__(self, model: Model, failures: Mapping[str, Failure]) -> None:
        super().__init__(model)
        self._failures = failures

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        unanswered = Failure("unanswered", "its worker ended without answering")
        for request in requests:
            yield [(request, self._failures.get(request_digest(request), unanswered))]


def wait(engine: Engine, setting: str, work: Sequence[Work], place: Path) -> Mapping[str, str]:
    """Have the jobs of a sweep carried out, whose folders are below `place`; return how those ended that left nothing.

    Raises KeyboardInterrupt after Ctrl-C, which ends the jobs in order. Where this process is ended in another way,
    those that outlive it go on.
    """
    engine.check(setting)
    started = engine.start(work, place / ".submitit")
    if started.outlives or started.grace:
        killed = ", and they go on where this process is killed" if started.outlives else ""
        jobs.say(f"{started.title}: {len(work)} jobs; Ctrl-C cancels them{killed}")
    watch = WorkWatch(started, [piece.name for piece in work], lambda name: _outcome(place / name))
    reporter = _JobReporter(watch, started, len(work))
    numbers = (signal.SIGINT,) if started.outlives else SIGNALS
    cancelled = False
    end_at_once = partial(started.cancel, at_once=True)
    signals.LAST.append(end_at_once)
    try:
        with interruptible(Progress("sweep"), numbers=numbers):
            while watch.open:
                if STOP.requested and not cancelled:
                    cancelled = True
                    started.cancel()
                reporter.report(watch.look(), quiet=cancelled)
                time.sleep(_LOOK)
            if cancelled:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        if watch.open:  # Ctrl-C again
            end_at_once()
        raise
    finally:
        signals.LAST.remove(end_at_once)
    return watch.lost


class _JobReporter:
    """Prints what becomes of a sweep's jobs."""

    def __init__(self, watch: WorkWatch, started: Started, total: int) -> None:
        self._watch, self._started, self._total = watch, started, total
        self._state, self._at = "", 0.0

    def report(self, ended: Sequence[str], *, quiet: bool) -> None:
        """Print a line for each job that has ended, and at times one on the jobs that wait."""
        watch = self._watch
        done = f"{self._total - len(watch.open) - len(watch.lost)} of {self._total} jobs are done"
        for name in () if quiet else ended:
            if name in watch.lost:
                others = "; the others go on" if watch.open else ""
                jobs.say(f"[{name}] has left no result ({watch.lost[name]}){others}: {done}")
            else:
                jobs.say(f"[{name}] has ended; {done}")
        state = self._started.waiting() if watch.answered else "the engine does not answer, and is asked again"
        if state and watch.open and (state != self._state or time.monotonic() - self._at >= _EVERY):
            self._state, self._at = state, time.monotonic()
            jobs.say(f"{self._started.title}: {state}")


def _outcome(place: Path) -> bool:
    with suppress(OSError):  # a network file system looks at its server when a folder is listed
        list(place.iterdir())
    return jobs.outcome(place) is not None
