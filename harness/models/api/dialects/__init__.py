"""How providers' APIs are spoken: live calls and the lines of batches alike go through one `Dialect`.

Everything else in this room composes and reads chat completions, OpenAI's form, which most servers take as it is. A
dialect says such a call in its provider's words, and its provider's reply as a completion: so a finish reason, a count
of tokens or a refusal means the same whoever sent it.
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
"""Parameters of a request that hold its reply to a form: beside ours, another one of these would be at odds with it."""
_TOOL = "answer"

Headers = Callable[[str], Mapping[str, str]]
Body = Mapping[str, JSON]


def _bearer(key: str) -> dict[str, str]:
    names = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    billed = {name: value for name, variable in names.items() if (value := os.environ.get(variable))}
    return {"Authorization": f"Bearer {key}", **billed}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One provider's headers, paths, bodies, replies and form of batches; the defaults are OpenAI's."""

    kind: str = "openai.chat"
    """The form's name in a model's identity."""
    headers: Headers = _bearer
    """Return what each call says of who asks, given the key."""
    call: Callable[[str, Body], tuple[str, Body]] = lambda path, body: (path, body)
    """Return path and body in the provider's form, given those of a completion."""
    reply: Callable[[dict[str, Any]], dict[str, Any]] = lambda reply: reply
    """Return the completion that a reply is. An error in it may stay as it is: those are read in any shape."""
    means: tuple[Means, ...] | None = None
    """The ways in which a reply can be held to a prompt's choices (model.constrain); None for any."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """What the provider does not give, and the sentence on it: `rank`, `seed`."""
    batches: str | None = None
    """The form of its batches, by the name that the plug-in `batches` has for it; None: as the address says."""


OPENAI = Dialect()


@cache
def dialect_of(name: str | None) -> Dialect:
    """Return a dialect by model.dialect: one of ours, or "module:NAME" of another's. Raises ConfigError."""
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
    """Return the parameters of a chat completion whose reply has to be of a form."""
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
    """Return the JSON schema of a form. Models write the members in this order: what is reasoned comes before."""
    members: dict[str, JSON] = {"reasoning": {"type": "string"}} if form.reasoning else {}
    members[_TOOL] = {"type": "string", "enum": list(form.choices)}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _regex(form: AnswerForm) -> str:
    """Return a regular expression for a form: the choice itself, or JSON with what is reasoned before it."""
    choice = f"({'|'.join(map(re.escape, form.choices))})"
    if not form.reasoning:
        return choice
    return rf'\{{"reasoning": "([^"\\\r\n\t]|\\["\\/bfnrt])*", "{_TOOL}": "{choice}"\}}'
