"""A run whose items are asked by workers: dealt, submitted, watched, taken in, dealt again where one was lost, scored.

Whatever ends a worker, or this process, the answers stand in the workers' caches: they are taken in when a worker ends,
and those of a command that was killed by the next one on the same cache.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace

from harness.cache import CachedModel, Store
from harness.codec import request_digest
from harness.errors import ConfigError, Interrupted
from harness.models.api.endpoint import Endpoint
from harness.plugins.scale import folder
from harness.plugins.scale.asking import Asking
from harness.plugins.scale.engine import Engine
from harness.plugins.scale.share import Share
from harness.prepare import Prepared, judging, opened_store, stored_answer
from harness.protocols import Model, Outcomes, Wrapper
from harness.run import Outcome, run
from harness.runtime import signals
from harness.runtime.interrupt import Stoppable, interruptible
from harness.runtime.signals import STOP
from harness.settings import build
from harness.tasks.check import look_ahead
from harness.types import JSON, Failure, Request


def check(prepared: Prepared) -> tuple[Engine, int] | None:
    """Return who starts the workers of a run, and how many there are at a time; None for a run without.

    Raises ConfigError where there can be none.
    """
    settings = prepared.settings
    if settings.workers is None:
        return None
    if prepared.instant:
        raise ConfigError(f"workers=…: {prepared.model.name} answers at once and needs none: leave workers= out.")
    if settings.cache.mode != "on":
        raise ConfigError(
            f"workers=… with cache={settings.cache.mode}: workers hand over their answers by way of the cache: use "
            "cache=on (to ask everything anew, with another cache.path=)."
        )
    if isinstance(prepared.model, Endpoint) and prepared.model.batch is not None:
        raise ConfigError("workers=… with model.batch: the server works batches off by itself: leave workers= out.")
    if settings.shards > 1:
        Share(prepared.task, prepared.prompt, 0, settings.shards).items()  # refuses more shards than items
    engine: Engine = build(settings.workers, "workers")
    return engine, engine.check()


def carry_out(
    prepared: Prepared, found: tuple[Engine, int], config: Mapping[str, JSON], *, announced: bool = False
) -> Outcome:
    """Have workers ask, take their answers in and score; return how the run ended.

    `found` is what `check` returned, `config` that of the run; `announced` says that the plan has been shown. Raises
    Interrupted after Ctrl-C, once the workers have ended and their answers are taken in, and what stopped the workers
    where there is no answer at all.
    """
    engine, at_once = found
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
        asking = Asking(prepared, config, engine, at_once, store, place)
        asking.ask()
        if not asking.unreadable and asking.stopped is None:
            folder.remove(place)
        if STOP.requested:
            raise Interrupted(signals.sentence("the workers have ended, and every answer so far is stored"))
        if asking.stopped is not None and not store.last_row():
            raise asking.stopped
        return _scored(prepared, asking, store)


def _scored(prepared: Prepared, asking: Asking, store: Store) -> Outcome:
    """Record and score what the workers have answered, as a run does that finds everything in its cache."""
    spending = prepared.spending
    spending.ledger.usd_discarded += asking.discarded
    reported = _Reported(prepared.model, asking.failures)
    cached = CachedModel(Stoppable(reported), store, task=prepared.task.name, say=prepared.progress.say)
    outcome = run(
        prepared.task,
        prepared.prompt,
        spending.metered(cached),
        replace(prepared.folder, provenance={**prepared.folder.provenance, **asking.provenance}),
        prepared.progress,
        prepared.settings.samples,
        judging(prepared, store),
        pause=False,  # the workers have seen to that
    )
    return outcome if outcome.stopped is None else replace(outcome, stopped=asking.stopped or outcome.stopped)


class _Reported(Wrapper):
    """A model that asks nothing: what no cache holds has failed, as a worker has told, or was left unanswered."""

    def __init__(self, model: Model, failures: Mapping[str, Failure]) -> None:
        super().__init__(model)
        self._failures = failures

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield a failure for each request."""
        unanswered = Failure("unanswered", "its worker ended without answering")
        for request in requests:
            yield [(request, self._failures.get(request_digest(request), unanswered))]
