"""One shard of a run: its items are asked into the cache, and nothing else is left."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.errors import RunStopped
from harness.plugins.scale.share import Share
from harness.prepare import Prepared, answering, opened_store
from harness.prompting.fit import fitting
from harness.protocols import Model, remarks_of
from harness.run import ask, watched
from harness.runtime.interrupt import interruptible
from harness.scoring.replies import FirstReplies
from harness.tasks.check import CheckedItems, look_ahead
from harness.types import FINAL_FAILURES, Failure


def run(prepared: Prepared, *, brief: bool) -> None:
    """Ask a shard's items into the cache and print what became of them; in half a line if `brief`.

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
    look_ahead(task.task if isinstance(task, Share) else task)
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
    """Return what to say of calls that failed in a way that may pass; None where none did."""
    kinds = {kind: count for kind, count in failures.items() if kind not in FINAL_FAILURES}
    if not kinds:
        return None
    listing = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    return RunStopped(
        f"{sum(kinds.values()):,} calls failed in a way that may pass ({listing}): the same command asks for them "
        "again."
    )


def next_step(prepared: Sequence[Prepared]) -> str:
    """Return what the user does when all shards have ended, of which these are some; "" where these are none."""
    if not prepared:
        return ""
    caches = list(dict.fromkeys(each.settings.cache.path for each in prepared))
    rest = "the same command without shards=, shard= and their cache.path= scores the run"
    if len(caches) == 1 < len(prepared):
        return f"Next: {rest}."
    several = (
        f"{Path(caches[0]).parent}/*.sqlite" if len({Path(path).parent for path in caches}) == 1 else " ".join(caches)
    )
    take_in = f"`python -m harness.cache import {several if len(caches) > 1 else caches[0]}`"
    if len(caches) > 1:
        return f"Next: {take_in} (copied from elsewhere, each with its log: *.sqlite*), then {rest}."
    return f"When all shards have ended: {take_in} with those of the others, unless all of them share one, then {rest}."
