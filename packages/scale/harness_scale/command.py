"""A run in shards: `harness scale model=… task=… workers=slurm`, or one of them by itself with `shards=4 shard=0`.

Each shard asks into a cache of its own, which the command takes into the run's; the run is scored as one that finds all
answers there. Whatever is killed, what it stored stands in its cache, and the same command goes on from there.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from operator import length_hint
from pathlib import Path
from typing import Any

import filelock
import yaml
from msgspec import structs

from harness import __main__ as main_command
from harness.cache import CachedModel, Store
from harness.cache.upkeep import Merged, merge
from harness.cli import hydra_app
from harness.cli.arguments import ready_for_hydra
from harness.cli.key_value import exit_code
from harness.codec import digest, request_digest, text_digest
from harness.config_files import use_folder
from harness.cost.price import dollars
from harness.engine import Engine, Work, engine
from harness.errors import ConfigError, HarnessError, RunStopped
from harness.prepare import Prepared, announce, answering, carry_out, opened_store, planned, prepare
from harness.prompting.fit import fitting
from harness.protocols import Model, Outcomes, Wrapper
from harness.run import RunOutcome, ask, watched
from harness.runtime import console, signals
from harness.runtime.progress import Progress
from harness.runtime.secrets import in_environment, mask_keys, refuse_arguments
from harness.runtime.signals import interruptible
from harness.scoring.replies import FirstReplies
from harness.storage.atomic_write import json_round_trip, object_in
from harness.storage.manifest import machine
from harness.tasks.check import CheckedItems
from harness.types import FINAL_FAILURES, JSON, Failure, Request
from harness_scale.shards import ShardItems

HELP = """\
harness scale model=… task=… [shards=N] [workers=processes|slurm|ray] [workers.gpus=1 …]

A run in shards, by several processes at once; with shard=0 to N-1 this process asks one of them, and nothing is scored.
packages/scale/README.md says what each engine takes as workers.NAME. All other settings are those of `harness`."""


def main() -> int:
    console.prepare_streams()
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(HELP)
        return 0
    signals.as_exception()
    return exit_code(lambda: job(sys.argv[1:]), interrupted=signals.sentence())


def job(arguments: Sequence[str]) -> int:
    refuse_arguments(arguments)
    own = [each for each in arguments if each.startswith(("shards=", "shard=", "workers=", "workers."))]
    given = {key: yaml.safe_load(value) for key, _, value in (each.partition("=") for each in own)}
    config = hydra_app.run_config(ready_for_hydra([each for each in arguments if each not in own], "config"))
    prepared = prepare(config)
    settings, service = prepared.settings, prepared.model.traits.service
    batches = service is not None and service.batch_window is not None
    if prepared.model.traits.instant or settings.cache.mode != "on" or settings.dry_run or batches:
        raise ConfigError("scale asks by way of the cache: no baseline, cache=on, no dry_run= and batches.")
    name, shards = str(given.get("workers", "processes")), given.get("shards")
    if "shard" not in given:
        more = {key.partition(".")[2]: value for key, value in given.items() if "." in key}
        chosen = engine(name, "workers", **more)
        shards = shards or min(chosen.check(f"workers={name}"), max(1, length_hint(prepared.task.items())))
    ShardItems(prepared.task.items(), prepared.prompt, given.get("shard", 0), shards or 1)  # refuses what is none
    # Below the working directory, which all workers see; the cache may lie on a disk of this machine alone.
    place = Path(".cache/shards", text_digest(str(prepared.folder.path.absolute()))[:12]).absolute()
    place.mkdir(parents=True, exist_ok=True)
    order = {
        "config": config,
        "identity": json_round_trip(dict(prepared.model.identity)),
        "directory": str(Path.cwd()),
        "place": str(place),
        "known": str(place / f"known{given.get('shard', '')}.sqlite"),
        "shards": shards or 1,
    }
    if "shard" in given:
        if Path(settings.cache.path).exists():
            with closing(Store(Path(settings.cache.path), readonly=True)) as store:
                hand_out(store, prepared, order["known"])
        code = work({**order, "shard": given["shard"], "alone": True})
        print(f"When all have ended: `harness cache import {place}/*.sqlite`, then `harness` without shards and shard.")
        return code
    with filelock.FileLock(place / ".lock"):  # one command at a time: the second finds what the first has stored
        return with_workers(prepared, place, chosen, name, [{**order, "shard": k} for k in range(shards or 1)])


def work(order: Mapping[str, Any]) -> int:
    """Ask the shard of an order; leave how it ended in its place, and return the exit code.

    Whoever carries it out may be killed at any moment and begin again: it goes on from its cache.
    """
    place, shard, host = Path(order["place"]), order["shard"], socket.gethostname()
    left: dict[str, Any] = {"host": host, "error": "", "failures": {}, "discarded": 0.0, "usd": 0.0}
    try:
        os.chdir(order["directory"])
        use_folder()
        prepared = prepare(order["config"], None if "alone" in order else place / "budget.sqlite")
        if json_round_trip(dict(prepared.model.identity)) != order["identity"]:
            raise ConfigError(
                f"{prepared.model.name} is another model on {host} than where the run was started: say it with a "
                "setting, such as model.dtype=."
            )
        _ask(prepared, place, order, left)
    except Exception as error:
        left["error"] = mask_keys(hydra_app.sentence(error, "config", ()))
        console.complain(left["error"])
    (place / f"{shard}.part").write_text(json.dumps({**left, "machine": machine()}), encoding="utf-8")
    (place / f"{shard}.part").replace(place / f"{shard}.json")
    return int(bool(left["error"]))


def _ask(prepared: Prepared, place: Path, order: Mapping[str, Any], left: dict[str, Any]) -> None:
    """Ask a shard into its cache in `place`; what was handed out is not asked."""
    shard, shards = order["shard"], order["shards"]
    ledger, handed_out = prepared.ledger, Path(order["known"])
    items = ShardItems(CheckedItems(prepared.task), prepared.prompt, shard, shards)
    progress = Progress(f"{prepared.model.name} shard {shard} of {shards}", partial(prepared.budget.so_far, ledger))
    prepared, path = replace(prepared, progress=progress), place / f"{shards}-{shard}.sqlite"
    with ExitStack() as stack:
        # One that Slurm begins again, or a later command, waits for a process that still writes.
        stack.enter_context(filelock.FileLock(f"{path}.lock"))
        stack.enter_context(interruptible(progress.say))
        model = answering(prepared, stack.enter_context(closing(Store(path, alone=True))), announced=True)
        known = stack.enter_context(closing(Store(handed_out, readonly=True))) if handed_out.exists() else None
        model = _Noting(model, None if known is None else CachedModel(prepared.model, known), left["failures"])
        records = ask(
            items, prepared.prompt, model, fitting(prepared.prompt, model), progress.say, prepared.settings.samples
        )
        records = watched(records, FirstReplies(model, prepared.settings.judge is not None), progress.say)
        try:
            for _ in progress.track(records, items, prepared.settings.samples):
                continue
        finally:
            left |= {"discarded": ledger.usd_discarded, "usd": ledger.spent_now}
    if passing := sum(kind not in FINAL_FAILURES for kind, _ in left["failures"].values()):
        raise RunStopped(f"{passing:,} calls failed in a way that may pass: the same command asks for them again.")


class _Noting(Wrapper):
    """A model that is not asked what is known, and whose failures are noted: no cache has them."""

    def __init__(self, model: Model, known: CachedModel | None, failures: dict[str, tuple[str, str]]) -> None:
        super().__init__(model)
        self._known, self._failures = known, failures

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield known answers, and the model's outcomes as they are."""
        ready: list[Any] = []

        def unknown() -> Iterable[Request]:
            for request in requests:
                if self._known is not None and (response := self._known.peek(request)) is not None:
                    ready.append((request, response))
                else:
                    yield request

        with closing(self.model.respond(unknown())) as landing:
            for outcomes in landing:
                outcomes = list(outcomes)
                failed = [(request, outcome) for request, outcome in outcomes if isinstance(outcome, Failure)]
                self._failures |= {request_digest(request): (each.kind, each.detail) for request, each in failed}
                known, ready[:] = list(ready), []
                yield [*known, *outcomes]
        yield ready


def with_workers(prepared: Prepared, place: Path, by: Engine, name: str, orders: Sequence[Mapping[str, Any]]) -> int:
    """Have an engine's processes carry out the orders, take their answers in, and score the run; return 0.

    Raises KeyboardInterrupt after Ctrl-C, once the workers have ended, and what has left answers missing.
    """
    say = prepared.progress.say
    prepared.folder.check()
    with opened_store(prepared) as store:
        take_in(store, place, say)  # what a command that was killed has left
        orders = orders if planned(prepared, store).total.calls else ()
        if orders and prepared.ledger.paid:
            announce(prepared, store)
        if orders and store is not None:
            hand_out(store, prepared, orders[0]["known"])
    for file in (*place.glob("*.json"), *place.glob("budget.sqlite*")):
        file.unlink()
    keys = tuple(in_environment())
    pieces = [Work(str(order["shard"]), "harness_scale.command:work", order, keys) for order in orders]
    try:
        lost = by.carry_out(pieces, place, lambda shard: (place / f"{shard}.json").exists()) if pieces else {}
    finally:
        with opened_store(prepared) as store:
            take_in(store, place, say)
    left = {piece.name: object_in(place / f"{piece.name}.json") for piece in pieces if piece.name not in lost}
    errors = [f"shard {shard} has left no result ({how})." for shard, how in lost.items()]
    errors += [f"shard {shard} on {end['host']}: {end['error']}" for shard, end in left.items() if end["error"]]
    outcome = _scored(prepared, [*left.values()], {"engine": name, "started": len(pieces), "lost": len(lost)})
    if errors and outcome.stopped is not None:
        outcome = replace(outcome, stopped=RunStopped(f"{errors[0]} The same command asks for the rest."))
    main_command.show(prepared, outcome)
    if outcome.error:
        raise outcome.error
    shutil.rmtree(place, ignore_errors=True)
    return 0


def _scored(prepared: Prepared, left: Sequence[Any], workers: dict[str, JSON]) -> RunOutcome:
    """Record and score the workers' answers, as a run does that finds everything in its cache."""
    failures: dict[str, Failure] = {}
    for end in left:
        prepared.ledger.usd_discarded += end["discarded"]
        failures |= {request: Failure(*words) for request, words in end["failures"].items()}
    if left:
        print(f"Asked now, by workers: {dollars(sum(end['usd'] for end in left))}.")
        workers["machines"] = [*{str(end["machine"]): end["machine"] for end in left}.values()]
        folder = replace(prepared.folder, manifest=structs.replace(prepared.folder.manifest, workers=workers))
        prepared = replace(prepared, folder=folder)
    return carry_out(replace(prepared, model=_Reported(prepared.model, failures)), announced=True)


def hand_out(store: Store, prepared: Prepared, path: str) -> None:
    """Copy what the run's cache has of its model for the workers, who may not see the cache."""
    with closing(Store(Path(path), alone=True)) as known:
        insert = "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)"
        rows = store.query("SELECT * FROM answers WHERE identity = ?", digest(prepared.model.identity))
        with known.transaction() as db:
            db.executemany(insert, rows)
        known.connection.execute("PRAGMA journal_mode=DELETE")  # readers then need no log


def take_in(store: Any, place: Path, say: Callable[[str], None]) -> None:
    """Store the answers of all shards' caches in a folder."""
    for cache in sorted(place.glob("*-*.sqlite")):
        try:
            with closing(Store(cache, readonly=True)) as other:
                for _ in merge(store, other, Merged()):
                    continue
        except HarnessError as error:
            say(f"{cache} is left out: {error}")


class _Reported(Wrapper):
    """A model that asks nothing: what the cache lacks has failed at a worker, or was left unanswered."""

    def __init__(self, model: Model, failures: Mapping[str, Failure]) -> None:
        super().__init__(model)
        self._failures = failures

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield a failure for each."""
        unanswered = Failure("unanswered", "its worker ended without answering")
        yield [(request, self._failures.get(request_digest(request), unanswered)) for request in requests]
