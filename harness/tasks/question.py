"""`from harness import questions`: the questions of a task for other programs, which their replies are scored by.

A question is plain data: what `dataclasses.asdict` makes of it, another process reads back as `Question(**data)`. All
that is imported for it is msgspec, pydantic, PyYAML and, for what needs numbers, numpy.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from harness.config_files import CONFIGS, listed, settings_in, use_folder
from harness.errors import ConfigError, unknown
from harness.prompting import prompts
from harness.prompting.prompts import Prompt
from harness.protocols import Task
from harness.scoring.replies import while_thinking
from harness.settings import build
from harness.tasks.base import TaskBase
from harness.types import JSON, Answer, ChatRequest, Failure, Item, Record, Response, Result, ended, replace

Reason = Literal["", "unreadable", "refused", "cut off"]


@dataclasses.dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What was read from a reply, and whether it is right."""

    label: int | None
    """0 for No and 1 for Yes, or the place of a choice; None where nothing could be read."""
    answer: str
    """The same in words, such as Yes; "" where nothing could be read."""
    correct: bool
    """False where nothing could be read, but with unreadable=no, where that counts as No."""
    reason: Reason
    """Why nothing could be read; "" where something was."""
    span: str = ""
    """The words that decided."""
    rule: str = ""
    """Which rule of harness.prompting.reading read them."""


@dataclasses.dataclass(frozen=True)
class Question:
    """A question as a model is asked it, and all that it takes to score what the model says."""

    id: str
    messages: list[dict[str, str]]
    """The conversation: `role` and `content` of each turn."""
    answer: str
    """The right one, in the words of `choices`."""
    choices: list[str]
    """What it can be answered with: Yes and No, or the item's own choices by letter."""
    max_tokens: int
    """Room for a reply, as the prompt's file has it."""
    metadata: dict[str, JSON]
    """`id`, `cluster`, `unit`, `label`, `labels` by label set, `groups` and each of them by its name (relation,
    num_nodes); `task`, `settings`, `prompt` and `fields`, by which a reply is read: all that scoring needs."""

    @property
    def text(self) -> str:
        """The last turn of the user."""
        return self.messages[-1]["content"]

    def score(self, text: str | None, finish_reason: str | None = "stop") -> ScoredAnswer:
        """Return what a reply answers, and whether that is right; see `score`."""
        return score(self.metadata, text, finish_reason)


def score(
    metadata: Mapping[str, JSON],
    text: str | None,
    finish_reason: str | None = "stop",
    logprobs: Mapping[str, float] | None = None,
) -> ScoredAnswer:
    """Return what a reply answers to the question of these metadata, read as in a run of this project.

    `finish_reason` is the server's, by any of its usual names: after `length`, or one that nobody knows, only an answer
    that was announced before counts, and of what was withheld (`content_filter`) nothing does. With `logprobs`, natural
    logarithms by choice, the answer is the likeliest choice, none where two are alike.
    """
    if ended(finish_reason) == "refused":
        return ScoredAnswer(None, "", False, "refused")
    task, prompt, _ = _parts(metadata)
    response = Response(text or "", logprobs, finish_reason=finish_reason or "")
    answer = prompt.parse(response, metadata["fields"])
    if answer.label is None:
        cut_off = ended(finish_reason) == "cut off" or while_thinking(response)
        as_no = isinstance(task, TaskBase) and task.unreadable == "no" and metadata["label"] == 0
        return ScoredAnswer(None, "", as_no, "cut off" if cut_off else "unreadable", rule=answer.rule)
    word = _word(prompt, prompt.choices(metadata["fields"]), answer.label)
    return ScoredAnswer(answer.label, word, answer.label == metadata["label"], "", answer.span, answer.rule)


def summarize(rows: Iterable[tuple[Mapping[str, JSON], ScoredAnswer]]) -> Result:
    """Return the scores of one task's questions, by their metadata, as a run of them has: intervals over clusters.

    Refused replies are failed calls there: they are counted, and no metric takes them in.
    """
    scored = list(rows)
    if not scored:
        raise ConfigError("there is nothing to score: no question was answered.")
    return _parts(scored[0][0]).task.summarize([_record(metadata, answer) for metadata, answer in scored])


def _record(metadata: Mapping[str, JSON], scored: ScoredAnswer) -> Record:
    refused = scored.reason == "refused"
    item = Item(fields={}, **{name: metadata[name] for name in ("id", "cluster", "unit", "groups", "labels")})
    if refused:
        return Record.of(item, None, Failure("content_filter", "the reply was withheld"), None)
    return Record.of(item, None, Response(""), Answer(scored.label, span=scored.span, rule=scored.rule))


def questions(task: str, prompt: str | None = None, **settings: Any) -> Iterator[Question]:
    """Return the questions of a task, made one at a time.

    `task` names a file of configs/task/, `prompt` one of the task's prompts (by default the first that makes a model
    write), `settings` are the task's own: `questions("corr2cause", perturbation="permutation", limit=60)`. A task that
    is drawn from a seed and has no limit (corr2cause/fresh, corr2cause/pairs with limit=None) never ends: once its
    premises are used up, the next seed names and words them anew. Raises ConfigError at once for what does not fit.
    """
    parts = _made(task, prompt, settings)
    return (_question(item, *parts) for item in _items(parts.task))


class _Parts(NamedTuple):
    """A task with the prompt that makes questions of its items, and the names that make both again."""

    task: Task
    prompt: Prompt
    source: Mapping[str, JSON]


def _made(task: str, prompt: str | None, settings: Mapping[str, Any]) -> _Parts:
    use_folder()
    part: Task = build({**_composed(task, ()), **settings}, "task")
    name, words = _prompt(part, prompt)
    return _Parts(part, words, {"task": task, "settings": dict(settings), "prompt": name})


@lru_cache(maxsize=64)
def _made_again(task: str, prompt: str, settings: str) -> _Parts:
    return _made(task, prompt, json.loads(settings))


def _parts(metadata: Mapping[str, JSON]) -> _Parts:
    """Return the task and the prompt of a question from what its metadata say of it."""
    return _made_again(metadata["task"], metadata["prompt"], json.dumps(metadata["settings"], sort_keys=True))


def _question(item: Item, task: Task, prompt: Prompt, source: Mapping[str, JSON]) -> Question:
    request = prompt.render(item.fields, (), ChatRequest)
    assert isinstance(request, ChatRequest)
    label, choices, fields = item.labels[task.headline], prompt.choices(item.fields), prompt.parsed_fields(item.fields)
    return Question(
        id=item.id,
        messages=[{"role": message.role, "content": message.content} for message in request.messages],
        answer=_word(prompt, choices, label),
        choices=list(choices),
        max_tokens=request.max_tokens,
        metadata={
            **item.groups,
            **source,
            "id": item.id,
            "cluster": item.cluster,
            "unit": item.unit,
            "label": label,
            "labels": dict(item.labels),
            "groups": dict(item.groups),
            "fields": {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()},
        },
    )


def _composed(name: str, above: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of a task's file over those of the files that its `defaults` name, without Hydra."""
    if (file := listed(CONFIGS, "task").get(name)) is None:
        raise ConfigError(unknown("task", name, listed(CONFIGS, "task")))
    if name in above:
        raise ConfigError(f"{file} builds on itself.")
    content = settings_in(file)
    own_settings = {str(key): value for key, value in content.items() if key != "defaults"}
    settings: dict[str, Any] = {}
    for base in [*content.get("defaults", ()), *(() if "_self_" in content.get("defaults", ()) else ("_self_",))]:
        settings |= own_settings if base == "_self_" else _composed(str(base), (*above, name))
    return settings


def _prompt(task: Task, name: str | None) -> tuple[str, Prompt]:
    """Return the prompt of a name, or the task's first one that has a model write; and how it is asked for again."""
    for candidate in task.prompts if name is None else (name,):
        if name is None and not prompts.has_format(task.name, candidate, task.prompt_format):
            continue
        prompt = prompts.load(task.name, candidate, task.examples(), format=task.prompt_format)
        if ChatRequest in prompt.makes and not prompt.words.opening:
            return candidate, prompt
        if name is not None:
            raise ConfigError(
                f"prompt={name} is not for one question and one reply: "
                + ("its opening is a conversation." if prompt.words.opening else "with it a model writes nothing.")
            )
    raise ConfigError(
        f"none of the prompts of {task.name} ({', '.join(task.prompts)}) has a model write one reply to one question: "
        "give prompt=…, or other settings of the task."
    )


def _items(task: Task) -> Iterator[Item]:
    yield from task.items()
    while isinstance(task, TaskBase) and task.draw_size and task.limit is None and type(task.seed) is int:
        task = dataclasses.replace(task, seed=task.seed + 1)
        for item in task.items():
            yield replace(item, id=f"{item.id} seed {task.seed}")


def _word(prompt: Prompt, choices: Sequence[str], label: int) -> str:
    """Return the answer of a label: of an item's own choices the one at that place, else Yes, the first, for 1."""
    return choices[label] if prompt.words.choices_from is not None else choices[1 - label]
