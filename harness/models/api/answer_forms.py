"""How a server is asked to hold a reply to a prompt's choices (answer=choice)."""

from __future__ import annotations

import re

from harness.types import JSON, AnswerForm

FORM_PARAMETERS = frozenset(
    (
        *("response_format", "structured_outputs", "guided_choice", "guided_json", "guided_regex", "guided_grammar"),
        *("regex", "ebnf", "grammar", "json_schema", "tools", "tool_choice"),
    )
)
"""Parameters that restrict a reply to a form. If model.extra has one of them, ours would contradict it."""
_TOOL = "answer"


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
