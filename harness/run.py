"""The one loop: items → requests → responses → answers → records → result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from harness import conversation, prompts, records
from harness.codec import KINDS, request_digest
from harness.errors import ConfigError, RunStopped
from harness.interrupt import finish_calls
from harness.models.protocol import Model
from harness.progress import Progress
from harness.prompts import Prompt, Replies
from harness.provenance import Traced
from harness.results import Folder
from harness.scoring.samples import summarize
from harness.settings import prompt_files
from harness.tasks.protocol import Task
from harness.types import FINAL_FAILURES, ChatRequest, Failure, Item, Record, Request, Response, Result, Transcript

BLOCK = 4096
"""Items whose openings are played together; prompts without an opening know no blocks."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `stopped` is what ended it early, None where every item has its record."""

    result: Result
    stopped: RunStopped | None


def run(task: Task, prompt: Prompt, model: Model, folder: Folder, progress: Progress, samples: int = 1) -> Outcome:
    """Asks the model about every item, `samples` times each; leaves records, scores and manifest in the folder.

    Whatever ends the run early, what has been answered is recorded and the result says `complete: false`.
    """
    kind = fitting(prompt, model)
    items = Traced(task.items())
    answered = ask(items, prompt, model, kind, progress.say, samples)
    return leave(task, items, answered, folder, progress, samples)


def leave(
    task: Task,
    items: Traced,
    answered: Iterable[tuple[Record, Request | None]],
    folder: Folder,
    progress: Progress,
    samples: int = 1,
) -> Outcome:
    """Writes the records as they come, then scores them and leaves result and manifest in the folder."""
    stopped: RunStopped | None = None
    with folder.claimed():
        with folder.recording(task.headline) as writer:
            tracked = progress.track(answered, items, samples)
            try:
                for record, request in tracked:
                    writer.write(record, request)
            except RunStopped as reason:
                stopped = reason
            except Exception:  # a full disk: that of the cache may have room
                finish_calls(tracked)
                raise
        result = folder.accounted(summarize(task, records.read(folder.recorded), samples))
        if stopped is None and result.curable:
            stopped = RunStopped(
                f"{result.curable:,} calls failed in a way that may pass ({_kinds_of(result)}): the same command asks "
                "for them again."
            )
        folder.finish(result, items=items.told, complete=stopped is None)
    return Outcome(result, stopped)


def _kinds_of(result: Result) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in result.failures.items() if kind not in FINAL_FAILURES)


def ask(
    items: Iterable[Item],
    prompt: Prompt,
    model: Model,
    kind: type[Request],
    say: Callable[[str], None] = lambda _: None,
    samples: int = 1,
) -> Iterator[tuple[Record, Request | None]]:
    """Records in the order in which the answers land, each with the request that was sent."""
    source = iter(items)
    draws = range(samples)
    if not prompt.words.opening:
        yield from _ask(((item, (), draw) for item in source for draw in draws), prompt, model, kind)
        return
    played: dict[tuple[conversation.Opening, int], Transcript | Failure] = {}
    while block := list(islice(source, BLOCK)):
        openings = [prompt.opening(item.fields) for item in block]
        # An opening that goes on from the block before is not played again: it would be asked, and could fail, anew.
        known = set(openings)
        played = {key: transcript for key, transcript in played.items() if key[0] in known}
        for draw in draws:
            new = [opening for opening in openings if (opening, draw) not in played]
            transcripts = conversation.play(model, prompt, new, say, draw)
            played |= {(opening, draw): transcript for opening, transcript in transcripts.items()}
        ready: list[tuple[Item, Transcript, int]] = []
        for item, opening in zip(block, openings, strict=True):
            for draw in draws:
                transcript = played[opening, draw]
                if isinstance(transcript, Failure):
                    yield _record(item, None, transcript, prompt, draw), None
                else:
                    ready.append((item, transcript, draw))
        yield from _ask(ready, prompt, model, kind)


def _ask(
    asked: Iterable[tuple[Item, Transcript, int]], prompt: Prompt, model: Model, kind: type[Request]
) -> Iterator[tuple[Record, Request]]:
    waiting: dict[Request, list[tuple[Item, int]]] = {}

    def requests() -> Iterator[Request]:
        """Each distinct request once; items that make an equal one wait for its answer."""
        for item, transcript, draw in asked:
            request = prompt.render(item.fields, transcript, kind, draw)
            if request in waiting:
                waiting[request].append((item, draw))
            else:
                waiting[request] = [(item, draw)]
                yield request

    for request, outcome in model.respond(requests()):
        for item, draw in waiting.pop(request):
            yield _record(item, request, outcome, prompt, draw), request
    for request, items in waiting.items():
        for item, draw in items:
            unanswered = Failure("unanswered", "the model ended without answering")
            yield _record(item, request, unanswered, prompt, draw), request


def _record(item: Item, request: Request | None, outcome: Response | Failure, prompt: Prompt, sample: int) -> Record:
    return Record(
        item=item.id,
        cluster=item.cluster,
        groups=item.groups,
        labels=item.labels,
        request=None if request is None else request_digest(request),
        outcome=outcome,
        answer=None if isinstance(outcome, Failure) else prompt.parse(outcome),
        sample=sample,
    )


def check_samples(samples: int, prompt: Prompt, model: Model) -> None:
    """Refuses several samples of what would be the same each time. Raises ConfigError."""
    if samples == 1:
        return
    if fitting(prompt, model) is not ChatRequest:
        raise ConfigError(
            f"samples={samples}: model {model.name} ranks with prompt {prompt.name}, which has one outcome. Samples "
            "are for models that write (model.method=generate, or a chat model)."
        )
    if not getattr(model, "draws", False):
        raise ConfigError(
            f"samples={samples}: model {model.name} would give the same answer each time: set model.temperature "
            "above 0 (an API model's; local models write the likeliest words)."
        )


def choose_prompt(task: Task, model: Model, name: str | None, replies: Replies = "model") -> Prompt:
    """The prompt of that name; without a name the task's first one that the model accepts."""
    if task.name not in (able := getattr(model, "tasks", (task.name,))):
        raise ConfigError(f"model {model.name} answers task={' or '.join(able)} only: choose another model=….")
    if name is not None:
        prompt = prompts.load(task.name, name, task.examples(), format=task.prompt_format, replies=replies)
        fitting(prompt, model, task)
        return prompt
    for candidate in task.prompts:
        if not prompts.has_format(task.name, candidate, task.prompt_format):
            continue
        prompt = prompts.load(task.name, candidate, task.examples(), format=task.prompt_format, replies=replies)
        if _fits(prompt, model):
            return prompt
    raise ConfigError(_no_fit(f"none of the task's prompts {', '.join(task.prompts)}", model, task))


def fitting(prompt: Prompt, model: Model, task: Task | None = None) -> type[Request]:
    """The first kind of request that the prompt makes and the model accepts. Raises ConfigError."""
    kinds = _fits(prompt, model)
    if not kinds:
        raise ConfigError(_no_fit(f"prompt {prompt.name}", model, task))
    return kinds[0]


def _fits(prompt: Prompt, model: Model) -> list[type[Request]]:
    if prompt.words.opening and prompt.replies == "model" and ChatRequest not in model.accepts:
        return []
    return [kind for kind in prompt.makes if kind in model.accepts]


def _no_fit(what: str, model: Model, task: Task | None) -> str:
    sentence = f"{what} does not fit model {model.name}, which takes {_kinds(model.accepts)} requests."
    if task is None:
        return sentence
    names = [name for name in prompt_files(task.name) if prompts.has_format(task.name, name, task.prompt_format)]
    written = [prompts.load(task.name, name, (), format=task.prompt_format) for name in names]
    if fitting := [prompt.name for prompt in written if _fits(prompt, model)]:
        return f"{sentence} These do: {', '.join(fitting)}."
    fixed = [replace(prompt, replies="fixed") for prompt in written if prompt.words.opening_reply]
    if fitting := [prompt.name for prompt in fixed if _fits(prompt, model)]:
        return f"{sentence} It writes no turns of a conversation: with replies=fixed these do: {', '.join(fitting)}."
    return f"{sentence} No prompt of the task does."


def _kinds(kinds: Iterable[type[Request]]) -> str:
    names: Mapping[type[Request], str] = {kind: name for name, kind in KINDS.items()}
    return " and ".join(names[kind] for kind in kinds)
