"""The forms of providers' APIs. Live calls and the lines of batches both go through a `Dialect`.

The rest of the package writes and reads chat completions, OpenAI's form, which most servers take as it is. A dialect
translates such a call into its provider's form, and the provider's reply into a completion: so finish reasons, token
counts and refusals mean the same for all providers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, unknown
from harness.types import JSON, AnswerForm, Means

FORM_PARAMETERS = frozenset(
    (
        *("response_format", "structured_outputs", "guided_choice", "guided_json", "guided_regex", "guided_grammar"),
        *("regex", "ebnf", "grammar", "json_schema", "tools", "tool_choice"),
    )
)
"""Parameters that restrict a reply to a form. If model.extra has one of them, ours would contradict it."""
_TOOL = "answer"

Headers = Callable[[str], Mapping[str, str]]
Body = Mapping[str, JSON]


def _bearer(key: str) -> dict[str, str]:
    names = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    billed = {name: value for name, variable in names.items() if (value := os.environ.get(variable))}
    return {"Authorization": f"Bearer {key}", **billed}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One provider's headers, paths, bodies and replies; the defaults are OpenAI's."""

    kind: str = "openai.chat"
    """The name of the form in a model's identity."""
    headers: Headers = _bearer
    """Return the headers that hold the key."""
    call: Callable[[str, Body], tuple[str, Body]] = lambda path, body: (path, body)
    """Translate the path and body of a completion into the provider's."""
    reply: Callable[[dict[str, Any]], dict[str, Any]] = lambda reply: reply
    """Translate a reply into a completion. Errors may stay as they are: they are read in any shape."""
    means: tuple[Means, ...] | None = None
    """The ways of restricting replies to choices (model.constrain) that the provider has; None for all."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Features that the provider lacks (`rank`, `seed`), each with a sentence for the user."""


OPENAI = Dialect()


@cache
def dialect_of(name: str | None) -> Dialect:
    """Return a dialect by its name here, or by "module:NAME" if it is defined elsewhere. Raises ConfigError."""
    if name is None or name == "openai":
        return OPENAI
    from harness.plugin import load

    own = [file.stem for file in Path(__file__).parent.glob("[a-z]*.py")]
    if ":" not in name and name not in own:
        raise ConfigError(f"model.dialect: {unknown('dialect', name, ['openai', *own, 'package.module:NAME'])}")
    dialect = load(name if ":" in name else f"{__name__}.{name}:DIALECT")
    if not isinstance(dialect, Dialect):
        raise ConfigError(f"model.dialect={name} is no {__name__}.Dialect.")
    return dialect


def form_parameters(form: AnswerForm) -> dict[str, JSON]:
    """Return the parameters that restrict the reply of a chat completion to a form."""
    schema, choices = _schema(form), list(form.choices)
    if form.means == "json_schema":
        return {"response_format": {"type": form.means, form.means: {"name": _TOOL, "strict": True, "schema": schema}}}
    if form.means == "json_object":
        return {"response_format": {"type": form.means, "schema": schema}}
    if form.means == "structured_outputs":
        return {"structured_outputs": {"json": schema} if form.reasoning else {"choice": choices}}
    if form.means == "guided_choice":
        return {"guided_json": schema} if form.reasoning else {"guided_choice": choices}
    if form.means == "regex":
        return {"regex": _regex(form)}
    function = {"name": _TOOL, "description": "Give the answer.", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": _TOOL}},
    }


def _schema(form: AnswerForm) -> dict[str, JSON]:
    """Return the JSON schema of a form. Models write the members in order, so the reasoning comes first."""
    members: dict[str, JSON] = {"reasoning": {"type": "string"}} if form.reasoning else {}
    members[_TOOL] = {"type": "string", "enum": list(form.choices)}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _regex(form: AnswerForm) -> str:
    """Return a regular expression for a form: the choice alone, or JSON with the reasoning before it."""
    choice = f"({'|'.join(map(re.escape, form.choices))})"
    if not form.reasoning:
        return choice
    return rf'\{{"reasoning": "([^"\\\r\n\t]|\\["\\/bfnrt])*", "{_TOOL}": "{choice}"\}}'
