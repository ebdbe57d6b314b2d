"""A prompt whose replies the server holds to its choices (answer=choice): what is asked of it, and how it is read.

The words that are sent stay the prompt's own. What comes back is read from its field and never by words; only a reply
that is not of the form, which a server that ignores the form gives, is read as any other, and its rule says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from harness.errors import ConfigError
from harness.prompting.prompts import Prompt
from harness.types import (
    IN_FORM,
    JSON,
    NOT_IN_FORM,
    Answer,
    AnswerForm,
    ChatRequest,
    Means,
    Request,
    Response,
    Transcript,
)

FIELD = "answer"
"""The field of the verdict, in JSON."""
ROOM = 32
"""Tokens that the form itself takes, beside the prompt's max_tokens: braces, names, and spaces where a model likes."""
_BARE = frozenset(("structured_outputs", "guided_choice", "regex"))
"""Means by which a reply without reasoning is the choice itself; by the others it is always JSON."""


@dataclass(frozen=True)
class ConstrainedPrompt(Prompt):
    """A prompt with the means by which its replies are held to its choices."""

    means: Means = "json_schema"

    def form(self, fields: Mapping[str, JSON]) -> AnswerForm:
        """Return what a reply about an item is held to: the prompt's choices, or the item's own."""
        return AnswerForm(self.choices(fields), self.means, self.words.reasoning)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Return the command's settings, with that of the answer."""
        return {**super().settings, "answer": "choice"}

    @property
    def model_settings(self) -> Mapping[str, JSON]:
        """Return the means: no part of the model's identity, as other prompts do not depend on it."""
        return {"constrain": self.means}

    @property
    def as_json(self) -> dict[str, JSON]:
        """Return the words as JSON, with whether they let the model reason: here that changes what is asked."""
        return super().as_json | ({"reasoning": True} if self.words.reasoning else {})

    def render(
        self, fields: Mapping[str, JSON], transcript: Transcript, kind: type[Request], sample: int = 0
    ) -> Request:
        """Return the prompt's request with the form. It has no stop: the form ends by itself, and may hold any sign."""
        request = super().render(fields, transcript, kind, sample)
        if not isinstance(request, ChatRequest):
            return request
        return replace(request, form=self.form(fields), max_tokens=request.max_tokens + ROOM, stop=())

    def parse(self, response: Response, fields: Mapping[str, JSON]) -> Answer:
        """Return the answer in the reply's field; where the reply is not of the form, what its words say."""
        form = self.form(fields)
        choice = choice_in(response.text, form)
        if choice is None:
            answer = super().parse(response, fields)
            return replace(answer, rule=f"{NOT_IN_FORM}, {answer.rule}".removesuffix(", "))
        place = form.choices.index(choice)
        label = place if self.words.choices_from else int(place == 0)
        return Answer(label, span=choice, rule=IN_FORM)


def constrained(prompt: Prompt, means: Any) -> ConstrainedPrompt:
    """Return a prompt whose replies are held to its choices. Raises ConfigError for means that there are none."""
    if means not in get_args(Means):
        raise ConfigError(f"model.constrain={means!s:.80} is none of {', '.join(get_args(Means))}.")
    parts = {part.name: getattr(prompt, part.name) for part in fields(Prompt)}
    return ConstrainedPrompt(**parts, means=means)


def choice_in(text: str, form: AnswerForm) -> str | None:
    """Return the choice that a reply makes in its form; None where the reply is not of the form."""
    if form.means in _BARE and not form.reasoning:
        return text.strip() if text.strip() in form.choices else None
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    choice = content.get(FIELD) if isinstance(content, dict) else None
    return choice if isinstance(choice, str) and choice in form.choices else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's members. Raises ValueError where it says one twice: which of them counts, nobody knows."""
    if len(members := dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return members
