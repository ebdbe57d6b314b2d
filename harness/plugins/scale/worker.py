"""One worker: asks what its order says into a cache of its own, and leaves word of how it went.

It may be killed at any moment and begun again with the same order: it goes on from its cache.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import IO

from harness.cache.explain_miss import differences
from harness.codec import request_digest
from harness.cost.budget import Amounts
from harness.errors import ConfigError, HarnessError
from harness.plugins.scale import orders
from harness.plugins.scale.orders import Order, Outcome, Status, place_of
from harness.plugins.scale.shard import fill
from harness.plugins.scale.share import Share
from harness.prepare import Prepared, answering, opened_store, prepare
from harness.protocols import Model, Outcomes, Wrapper
from harness.runtime import signals, streams
from harness.runtime.interrupt import interruptible
from harness.runtime.progress import Progress
from harness.runtime.secrets import mask_keys
from harness.storage.json_files import json_round_trip
from harness.storage.provenance import machine
from harness.types import Failure, Request

_EVERY = 1.0
"""Seconds between two states of its status."""


def work(place: Path) -> int:
    """Carry out the order in a file; return 0, or 1 where it did not come to its end, of which its outcome tells."""
    error: Exception | None = None
    try:
        with _alone(place):
            error = _carry_out(place, orders.read(place))
    except Exception as reason:
        error = reason
    said = None if error is None else mask_keys(_sentence(error))
    kind = "" if error is None else type(error).__name__
    if said:
        print(said, file=sys.stderr, flush=True)
    with suppress(OSError):  # the disk is full: its log may have had room
        orders.write(place_of(place, "outcome.json"), Outcome(said, kind, socket.gethostname(), machine()))
    return int(error is not None)


def _carry_out(place: Path, order: Order) -> HarnessError | None:
    """Ask what an order says; return what ended it early."""
    _see(order)
    os.chdir(order.folder)
    if order.folder not in sys.path:  # code of the user's own
        sys.path.append(order.folder)
    before = orders.status_of(place)
    prepared = _prepared(order, before)
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


def _see(order: Order) -> None:
    """Refuse to begin where the command's files are not to be seen. Raises ConfigError."""
    here = socket.gethostname()
    if not Path(order.folder).is_dir():
        raise ConfigError(
            f"{here} does not see {order.folder}, where the command was started: start it on a disk that all share."
        )
    for name, path in order.paths.items():
        if not Path(path).exists():
            raise ConfigError(f"{here} does not see {name}={path}: put it on a disk that all workers share.")


def _prepared(order: Order, before: Status) -> Prepared:
    """Return the run of an order. Raises ConfigError where its model would be another one here."""
    budget = dict(order.config["budget"])
    for limit, amount in before.taken.items():
        if budget.get(limit) is not None:
            budget[limit] = max(0.0, budget[limit] - amount)
    prepared = prepare({**order.config, "budget": budget})
    identity = json_round_trip(dict(prepared.model.identity))
    if identity != order.identity:
        raise ConfigError(
            f"{prepared.model.name} is another model on {socket.gethostname()} than where the run was started "
            f"({'; '.join(differences(order.identity, identity)[:3])}): say it with a setting, such as model.dtype=."
        )
    share = Share(prepared.task, prepared.prompt, order.shard, order.shards, order.runs)
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
def _reporting(place: Path, prepared: Prepared, before: Status) -> Iterator[None]:
    """Write how far the worker is once a second, and at the end."""
    progress, ledger, till = prepared.progress, prepared.spending.ledger, prepared.spending.till
    earlier = Amounts(**before.taken)

    def report() -> None:
        names = ("usd", "tokens", "requests")
        taken = dict(zip(names, astuple(earlier + till.spent), strict=True))
        counts = progress.done, progress.cached, progress.failed
        usd, discarded = before.usd + ledger.spent_now, before.discarded + ledger.usd_discarded
        orders.write(place, Status(*counts, usd, discarded, taken))

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


def _end_with_input() -> None:
    """Wait for the end of standard input, then ask this process to end: who began it wants that, or is gone."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Carry out the order that the command line names, and end when standard input is closed."""
    streams.prepare()
    threading.Thread(target=_end_with_input, daemon=True).start()
    signals.leave(work(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
