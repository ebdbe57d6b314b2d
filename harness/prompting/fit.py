"""Which kind of request suits a prompt and a model, and which prompt to use if the user names none."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from harness.codec import KINDS
from harness.config_files import prompt_files
from harness.errors import ConfigError
from harness.prompting import prompts
from harness.prompting.prompts import Prompt, Replies
from harness.protocols import Model, Task
from harness.types import ChatRequest, ChoiceRequest, Request


def check_samples(samples: int, prompt: Prompt, model: Model) -> None:
    """Raise ConfigError for samples > 1 of answers that would all be the same."""
    if samples == 1:
        return
    if fitting(prompt, model) is not ChatRequest:
        raise ConfigError(
            f"samples={samples}: model {model.name} ranks with prompt {prompt.name}, which has one outcome. Samples "
            "are for models that write (model.method=generate, or a chat model)."
        )
    if not model.traits.varies:
        raise ConfigError(
            f"samples={samples}: model {model.name} would give the same answer each time: set model.temperature "
            "above 0 (an API model's; local models write the likeliest words)."
        )


def with_room(prompt: Prompt, model: Model, max_tokens: int | None) -> Prompt:
    """Return a prompt whose replies have that much room (max_tokens=N), None for its own. Raises ConfigError."""
    if max_tokens is None:
        return prompt
    if fitting(prompt, model) is not ChatRequest:
        raise ConfigError(
            f"max_tokens={max_tokens}: with prompt {prompt.name} model {model.name} writes no reply that it could "
            "limit: leave it out."
        )
    # What the prompt's file says already is no setting: it is the same run.
    return prompt if max_tokens == prompt.words.max_tokens else replace(prompt, max_tokens=max_tokens)


def held_to_choices(prompt: Prompt, model: Model) -> Prompt:
    """Return a prompt whose replies the model's server holds to its choices (answer=choice). Raises ConfigError."""
    from harness.prompting.constrained_choices import held

    kind, service = fitting(prompt, model), model.traits.service
    if kind is not ChatRequest:
        raise ConfigError(
            f"answer=choice: with prompt {prompt.name} model {model.name} writes nothing that could be held to the "
            "choices, it gives each of them a probability: leave answer=choice out"
            + (", or set model.method=generate." if kind is ChoiceRequest else ".")
        )
    if service is None or service.means is None:
        raise ConfigError(
            f"answer=choice: nothing holds what model {model.name} writes to the prompt's choices. It takes a chat "
            "model of an API (model=openai model.model=…) with model.constrain set, and no form of its own in "
            "model.extra; of other models model.method=rank gives each choice a probability."
        )
    return held(prompt, service.means)


def choose_prompt(task: Task, model: Model, name: str | None, replies: Replies = "model") -> Prompt:
    """Return the prompt of that name; without a name the task's first one that the model accepts."""
    if (able := model.traits.tasks) and not set(able) & {task.name, task.like}:
        raise ConfigError(f"model {model.name} answers task={' or '.join(able)} only: choose another model=….")
    if name is not None:
        prompt = prompts.load(task.name, name, task.examples(), format=task.prompt_format, replies=replies)
        if getattr(task, "has_choices", False) and prompt.words.choices_from is None:
            raise ConfigError(f"prompt {name} asks for Yes or No, not for choices: use {' or '.join(task.prompts)}.")
        fitting(prompt, model, task)
        if not _method_fits(prompt, model):
            raise ConfigError(_nothing_to_rank(prompt, model, task))
        return prompt
    tried: list[str] = []
    written: list[Prompt] = []
    for candidate in task.prompts:
        if not prompts.has_format(task.name, candidate, task.prompt_format):
            continue
        tried.append(candidate)
        prompt = prompts.load(task.name, candidate, task.examples(), format=task.prompt_format, replies=replies)
        if _fits(prompt, model):
            if _method_fits(prompt, model):
                return prompt
            written.append(prompt)
    if written:
        raise ConfigError(_nothing_to_rank(written[0], model, task))
    which_do = f"the task's prompts {', '.join(tried)} do" if len(tried) > 1 else f"prompt {', '.join(tried)} does"
    raise ConfigError(_no_fit(which_do if tried else "the task's prompts do", model, task))


def fitting(prompt: Prompt, model: Model, task: Task | None = None) -> type[Request]:
    """Return the first kind of request that the prompt makes and the model accepts. Raises ConfigError."""
    if kinds := _fits(prompt, model):
        return kinds[0]
    raise ConfigError(_no_fit(f"prompt {prompt.name} does", model, task))


def _fits(prompt: Prompt, model: Model) -> list[type[Request]]:
    if prompt.words.opening and prompt.replies == "model" and ChatRequest not in model.accepts:
        return []
    return [kind for kind in prompt.makes if kind in model.accepts]


def _method_fits(prompt: Prompt, model: Model) -> bool:
    """Return whether a model with method=rank would rank with this prompt; True for any other model."""
    return not model.traits.ranks or _fits(prompt, model)[0] is ChoiceRequest


def _nothing_to_rank(prompt: Prompt, model: Model, task: Task) -> str:
    names = [other.name for other in _candidates(task) if _fits(other, model) and _method_fits(other, model)]
    instead = f", or a prompt whose choices it can rank ({', '.join(names)})" if names else ""
    return (
        f"model.method=rank: prompt {prompt.name} has model {model.name} write its answer, and gives it no choices to "
        f"rank: use model.method=generate{instead}."
    )


def _candidates(task: Task) -> list[Prompt]:
    """Return the task's prompts, skipping invalid files: the user did not name these."""
    candidates = []
    for name in prompt_files(task.name):
        with suppress(ConfigError):
            if prompts.has_format(task.name, name, task.prompt_format):
                candidates.append(prompts.load(task.name, name, (), format=task.prompt_format))
    return candidates


def _no_fit(which_do: str, model: Model, task: Task | None) -> str:
    sentence = f"{which_do} not fit model {model.name}, which takes {_names(model.accepts)} requests."
    if task is None:
        return sentence
    candidates = _candidates(task)
    if names := [prompt.name for prompt in candidates if _fits(prompt, model)]:
        return f"{sentence} These do: {', '.join(names)}."
    fixed = [replace(prompt, replies="fixed") for prompt in candidates if prompt.words.opening_reply]
    if names := [prompt.name for prompt in fixed if _fits(prompt, model)]:
        return f"{sentence} It writes no turns of a conversation: with replies=fixed these do: {', '.join(names)}."
    return f"{sentence} No prompt of the task does."


def _names(kinds: Iterable[type[Request]]) -> str:
    return " and ".join(name for kind in kinds for name, known in KINDS.items() if known is kind)
