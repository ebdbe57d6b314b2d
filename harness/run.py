"""The one loop: items → requests → responses → answers → records → result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice

from msgspec import structs

from harness.codec import asked
from harness.errors import Interrupted, RunStopped
from harness.judge import Judge, read_rest
from harness.prompting import conversation
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Task
from harness.runtime.progress import Progress
from harness.runtime.signals import STOP, finish_calls
from harness.scoring.replies import FirstReplies
from harness.storage import records
from harness.storage.manifest import TracedItems
from harness.storage.run_folder import Folder
from harness.tasks.check import CheckedItems, look_ahead
from harness.types import FINAL_FAILURES, Failure, Item, Record, Request, Result, Transcript

BLOCK = 4096
"""Items whose openings are played together; prompts without an opening know no blocks."""
FEWEST_UNREAD = 3
"""Replies of which none could be read, from which on a run has nothing to show; one or two may be chance."""


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended. `stopped` is what ended it early, None where every item has its record."""

    result: Result
    stopped: RunStopped | None
    unread: RunStopped | None = None
    """What to say of a whole run in which no reply could be read: its scores are those of nothing."""

    @property
    def error(self) -> RunStopped | None:
        return self.stopped or self.unread


def run(
    task: Task,
    prompt: Prompt,
    model: Model,
    folder: Folder,
    progress: Progress,
    samples: int = 1,
    judge: Judge | None = None,
) -> RunOutcome:
    """Ask the model about every item, `samples` times each; leave records, scores and manifest in the folder.

    A `judge` reads the replies in which the prompt's rules find nothing, once all are there.
    It stops where its first replies hold no answer at all.
    Whatever ends the run early, what has been answered is recorded and the result says `complete: false`.
    """
    kind = fitting(prompt, model)
    look_ahead(task)
    for remark in task.remarks:
        progress.say(remark)
    items = TracedItems(CheckedItems(task))
    answered, first = ask(items, prompt, model, kind, progress.say, samples), FirstReplies(model, judge is not None)
    if not model.traits.instant:
        answered = watched(answered, first, progress.say)
    outcome = leave(task, items, answered, folder, progress, samples, judge)
    overall = outcome.result.overall
    if overall.unreadable < FEWEST_UNREAD or overall.unreadable + overall.failed < overall.items:
        return outcome
    return replace(outcome, unread=RunStopped(f"{first.fault(f'{overall.unreadable:,}')} The replies are stored."))


def watched(answered: Iterator[Record], first: FirstReplies, say: Callable[[str], None]) -> Iterator[Record]:
    """Yield the records as they come; where the first ones hold no answer, those of the calls under way, and no more.

    Raises RunStopped after them. The end is asked for as Ctrl-C asks for it, so that what was paid for is kept.
    """
    pausing = False
    try:
        for record in answered:
            yield record
            first.add(record)
            if first.hopeless and not STOP.requested:
                say("pausing: no reply so far holds an answer; the calls under way are being finished and kept")
                pausing = STOP.requested = True
    except Interrupted:
        if not pausing:
            raise
    finally:
        if pausing:
            STOP.requested = False
    if pausing:
        raise RunStopped(first.reason)


def leave(
    task: Task,
    items: TracedItems,
    answered: Iterable[Record],
    folder: Folder,
    progress: Progress,
    samples: int = 1,
    judge: Judge | None = None,
) -> RunOutcome:
    """Write the records as they come, have the judge read what is left to it, then score them.

    Result and manifest are left in the folder.
    """
    stopped: RunStopped | None = None
    failures: dict[str, str] = {}
    """Of each kind a sentence, with the words of the first."""
    with folder.lock():
        with folder.open_records(task.headline) as writer:
            tracked = progress.track(answered, items, samples)
            try:
                for record in tracked:
                    writer.write(record)
                    if isinstance(record.outcome, Failure):
                        kind, words = record.outcome.kind, record.outcome.detail.rstrip(".")
                        failures.setdefault(kind, f" {kind}: {words}.")
            except RunStopped as reason:
                stopped = reason
            except Exception:  # a full disk: that of the cache may have room
                finish_calls(tracked)
                raise
        if judge is not None and stopped is None:
            stopped = read_rest(task, folder, judge, progress.say)
        from harness.scoring.samples import summarize  # with numpy, which no call has to wait for

        scores = summarize(task, lambda: records.read(folder.records_file), samples, judge.name if judge else None)
        result = folder.with_usage(scores)
        if stopped is None and result.curable:
            kinds, calls = _kinds_of(result), f"{result.curable:,} call{'s' * (result.curable > 1)}"
            may_pass = " in a way that may pass" * ("bad_request" not in kinds)
            said = "".join(words for kind, words in failures.items() if kind not in FINAL_FAILURES)
            stopped = RunStopped(f"{calls} failed{may_pass} ({kinds}): the same command asks for them again.{said}")
        stopped = stopped or _nothing_answered(result, failures)
        folder.finish(result, items=items.summary, complete=stopped is None)
    return RunOutcome(result, stopped)


def _nothing_answered(result: Result, failures: Mapping[str, str]) -> RunStopped | None:
    """Return the error for a run in which every call failed for good: there is nothing to score. Else None."""
    overall = result.overall
    if not overall.items or overall.failed < overall.items:
        return None
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.failures.items())
    return RunStopped(f"no item was answered ({kinds}), so that there is nothing to score.{''.join(failures.values())}")


def _kinds_of(result: Result) -> str:
    failures = Counter(result.failures)
    failures.update(result.judge.failures if result.judge else {})
    return ", ".join(f"{count:,} {kind}" for kind, count in failures.items() if kind not in FINAL_FAILURES)


def ask(
    items: Iterable[Item],
    prompt: Prompt,
    model: Model,
    kind: type[Request],
    say: Callable[[str], None] = lambda _: None,
    samples: int = 1,
) -> Iterator[Record]:
    """Yield records in the order in which the answers land."""
    source = iter(items)
    draws = range(samples)
    if not prompt.words.opening:
        yield from _ask(((item, (), draw) for item in source for draw in draws), prompt, model, kind)
        return
    played: dict[tuple[conversation.Opening, int], Transcript | Failure] = {}
    while block := list(islice(source, BLOCK)):
        openings = [prompt.opening(item.fields) for item in block]
        # An opening that goes on from the block before is not played again: it would be asked, and could fail, anew.
        current = set(openings)
        played = {key: transcript for key, transcript in played.items() if key[0] in current}
        for draw in draws:
            new = [opening for opening in openings if (opening, draw) not in played]
            transcripts = conversation.play(model, prompt, new, say, draw)
            played |= {(opening, draw): transcript for opening, transcript in transcripts.items()}
        ready: list[tuple[Item, Transcript, int]] = []
        for item, opening in zip(block, openings, strict=True):
            for draw in draws:
                transcript = played[opening, draw]
                if isinstance(transcript, Failure):
                    yield Record.of(item, None, transcript, None, draw)
                else:
                    ready.append((item, transcript, draw))
        yield from _ask(ready, prompt, model, kind)


def _ask(
    ready: Iterable[tuple[Item, Transcript, int]], prompt: Prompt, model: Model, kind: type[Request]
) -> Iterator[Record]:
    waiting: dict[Request, list[tuple[Item, int]]] = {}

    def requests() -> Iterator[Request]:
        """Yield each distinct request once; items that make an equal one wait for its answer."""
        for item, transcript, draw in ready:
            request = prompt.render(item.fields, transcript, kind, draw)
            # Without the words that the request has, too: in batches tens of thousands wait.
            waits = structs.replace(item, fields=prompt.parsed_fields(item.fields)), draw
            if request in waiting:
                waiting[request].append(waits)
            else:
                waiting[request] = [waits]
                yield request

    with closing(model.respond(requests())) as landing:
        for request, outcome in chain.from_iterable(landing):
            sent = asked(request)
            for item, draw in waiting.pop(request):
                answer = None if isinstance(outcome, Failure) else prompt.parse(outcome, item.fields)
                yield Record.of(item, sent, outcome, answer, draw)
    for request, items in waiting.items():
        unanswered = Failure("unanswered", "the model ended without answering")
        for item, draw in items:
            yield Record.of(item, asked(request), unanswered, None, draw)
