"""How a server is asked to hold a reply to a prompt's choices, by each of the means that servers have for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.models.api.replies import InvalidReplyError
from harness.types import JSON, AnswerForm

PARAMETERS = frozenset(
    (
        *("response_format", "structured_outputs", "guided_choice", "guided_json", "guided_regex", "guided_grammar"),
        *("regex", "ebnf", "grammar", "json_schema", "tools", "tool_choice"),
    )
)
"""Parameters of a request that hold its reply to a form: beside ours, another one of these would be at odds with it."""
_NAME = "answer"


def parameters(form: AnswerForm) -> dict[str, JSON]:
    """Return the parameters of a chat completion whose reply has to be of a form."""
    schema, choices = _schema(form), list(form.choices)
    if form.means == "json_schema":
        return {"response_format": {"type": form.means, form.means: {"name": _NAME, "strict": True, "schema": schema}}}
    if form.means == "json_object":
        return {"response_format": {"type": form.means, "schema": schema}}
    if form.means == "structured_outputs":
        return {"structured_outputs": {"json": schema} if form.reasoning else {"choice": choices}}
    if form.means == "guided_choice":
        return {"guided_json": schema} if form.reasoning else {"guided_choice": choices}
    if form.means == "regex":
        return {"regex": _regex(form)}
    function = {"name": _NAME, "description": "Give the answer.", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": _NAME}},
    }


def arguments_of(message: Mapping[str, Any]) -> str:
    """Return what a message calls the tool of the answer with, as JSON; nothing where it calls none.

    Raises InvalidReplyError where the call is none.
    """
    calls = message.get("tool_calls")
    if not calls:
        return ""
    call = calls[0] if isinstance(calls, list) else None
    function = call.get("function") if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(arguments, str):
        raise InvalidReplyError("the reply's call of a tool has no arguments")
    return arguments


def _schema(form: AnswerForm) -> dict[str, JSON]:
    """Return the JSON schema of a form. Models write the members in this order: what is reasoned comes before."""
    members: dict[str, JSON] = {"reasoning": {"type": "string"}} if form.reasoning else {}
    members[_NAME] = {"type": "string", "enum": list(form.choices)}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _regex(form: AnswerForm) -> str:
    """Return a regular expression for a form: the choice itself, or JSON with what is reasoned before it."""
    choice = f"({'|'.join(map(re.escape, form.choices))})"
    if not form.reasoning:
        return choice
    return rf'\{{"reasoning": "([^"\\\r\n\t]|\\["\\/bfnrt])*", "{_NAME}": "{choice}"\}}'
