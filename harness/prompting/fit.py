"""Which kind of request suits a prompt and a model, and which prompt to use if the user names none."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import get_args

from harness.codec import KINDS
from harness.config_files import prompt_files
from harness.errors import ConfigError, UnfitError
from harness.prompting import prompts
from harness.prompting.prompts import Prompt, Replies, constrained
from harness.protocols import Model, Task
from harness.types import ChatRequest, ChoiceRequest, Request


def check_samples(samples: int, prompt: Prompt, model: Model) -> None:
    """Raise ConfigError for samples > 1 of answers that would all be the same."""
    if samples > 1:
        _written(prompt, model, f"samples={samples}", "it has one outcome")
        if not model.traits.varies:
            raise ConfigError(
                f"samples={samples}: model {model.name} would give the same answer each time: set model.temperature "
                "above 0 (an API model's; local models write the likeliest words)."
            )


def with_room(prompt: Prompt, model: Model, max_tokens: int | None) -> Prompt:
    """Return a prompt whose replies have that much room (max_tokens=N), None for its own. Raises ConfigError."""
    if max_tokens is None:
        return prompt
    _written(prompt, model, f"max_tokens={max_tokens}", "there is nothing to limit")
    return prompt if max_tokens == prompt.words.max_tokens else replace(prompt, max_tokens=max_tokens)


def held_to_choices(prompt: Prompt, model: Model) -> Prompt:
    """Return a prompt whose replies the model's server holds to its choices (answer=choice). Raises ConfigError."""
    _written(prompt, model, "answer=choice", "it gives each of them a probability")
    service = model.traits.service
    if service is None or service.means is None:
        raise ConfigError(
            f"answer=choice: nothing holds what model {model.name} writes to the prompt's choices. It takes a chat "
            "model of an API (model=openai model.model=…) with model.constrain set, and no form of its own in "
            "model.extra; of other models model.method=rank gives each choice a probability."
        )
    return constrained(prompt, service.means)


def _written(prompt: Prompt, model: Model, setting: str, why: str) -> None:
    if (kind := fitting(prompt, model)) is not ChatRequest:
        otherwise = "leave it out, or set model.method=generate" if kind is ChoiceRequest else "leave it out"
        raise ConfigError(
            f"{setting}: with prompt {prompt.name} model {model.name} writes no reply: {why}: {otherwise}."
        )


def choose_prompt(task: Task, model: Model, name: str | None, replies: Replies = "model") -> Prompt:
    """Return the prompt of that name; without a name the task's first one that the model accepts, or ConfigError."""
    if (able := model.traits.tasks) and not set(able) & {task.name, task.like}:
        raise ConfigError(f"model {model.name} answers task={' or '.join(able)} only: choose another model=….")
    written: Prompt | None = None
    for candidate in task.prompts if name is None else (name,):
        if name is None and not prompts.has_format(task.name, candidate, task.prompt_format):
            continue
        prompt = prompts.load(task.name, candidate, task.examples(), format=task.prompt_format, replies=replies)
        if name and getattr(task, "has_choices", False) and prompt.words.choices_from is None:
            raise UnfitError(f"prompt {name} asks for Yes or No, not for choices: use {' or '.join(task.prompts)}.")
        if _asks(prompt, model):
            return prompt
        written = written or (prompt if _fits(prompt, model) else None)
    if written:
        raise UnfitError(
            f"model.method=rank: prompt {written.name} has model {model.name} write its answer, and gives it no "
            f"choices to rank: use model.method=generate. {_others(task, model)}"
        )
    which = f"prompt {name} does" if name else "the task's prompts do"
    raise UnfitError(f"{_no_fit(which, model)} {_others(task, model)}")


def fitting(prompt: Prompt, model: Model, task: Task | None = None) -> type[Request]:
    """Return the first kind of request that the prompt makes and the model accepts. Raises ConfigError."""
    if kinds := _fits(prompt, model):
        return kinds[0]
    raise ConfigError(_no_fit(f"prompt {prompt.name} does", model) + (f" {_others(task, model)}" if task else ""))


def _fits(prompt: Prompt, model: Model) -> list[type[Request]]:
    if prompt.words.opening and prompt.replies == "model" and ChatRequest not in model.accepts:
        return []
    return [kind for kind in prompt.makes if kind in model.accepts]


def _asks(prompt: Prompt, model: Model) -> bool:
    """Return whether a model is asked with a prompt: one that ranks, where it makes choices."""
    kinds = _fits(prompt, model)
    return bool(kinds) and (not model.traits.ranks or kinds[0] is ChoiceRequest)


def _others(task: Task, model: Model) -> str:
    """Return the sentence that names the task's prompts with which the model is asked; skips those that cannot be."""
    item = next(iter(task.items()), None)
    for replies in get_args(Replies):
        names = []
        for name in prompt_files(task.name):
            with suppress(ConfigError):
                prompt = prompts.load(task.name, name, (), format=task.prompt_format, replies=replies)
                if _asks(prompt, model) and (item is None or prompt.render(item.fields, (), _fits(prompt, model)[0])):
                    names.append(name)
        if names:
            return f"These do{' with replies=fixed' if replies == 'fixed' else ''}: {', '.join(names)}."
    return "No prompt of the task does."


def _no_fit(which_do: str, model: Model) -> str:
    names = " and ".join(name for kind in model.accepts for name, known in KINDS.items() if known is kind)
    return f"{which_do} not fit model {model.name}, which takes {names} requests."
