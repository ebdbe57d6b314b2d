"""Refusals that need a second look: parameters that a server does not take, and errors inside of a success.

Routers send the status before the server behind them fails: HTTP 200, and the failure in the body or in the choice.
Read as an answer, such a reply would be stored for good as an empty or broken one. Which words refuse a parameter, and
which setting changes it, is data: harness/data/server_errors.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from harness.models.api.faults import RefusedError, in_words, message_of, pattern, table
from harness.models.api.replies import usage_of
from harness.types import JSON, ChatRequest, ChoiceRequest, Means, Request

_QUESTION = frozenset(("model", "messages", "prompt"))
"""What a call is about, which no setting can leave out."""
_LENGTHS = ("max_tokens", "max_completion_tokens")
_UNSUPPORTED = frozenset((400, 403, 404, 422, 500, 501))
"""Statuses with which servers refuse what they cannot do; older versions of llama.cpp use 500."""
_OF_FORM = re.compile(
    r"response_?format|json|schema|structured|guided|grammar|sampler|regex|\btools?\b|tool_choice|function"
    r"|requested parameters",
    re.IGNORECASE,
)
_OF_LOGPROBS = re.compile(r"log_?prob|requested parameters", re.IGNORECASE)


@dataclass(frozen=True)
class RefusedCall:
    """What a refused call asked for."""

    base_url: str
    model: str
    request: Request
    body: Mapping[str, JSON]
    extra: Mapping[str, Any]
    """model.extra, whose parameters are in the body as well."""
    means: tuple[Means, ...] | None
    """The ways of restricting replies that the dialect knows; None for all."""


def unsupported(error: RefusedError, call: RefusedCall) -> str | None:
    """Return a sentence on the setting to change if a server refuses something that a call asks for.

    None if it refuses the call for another reason.
    """
    if sentence := _unsupported_answer(error, call):
        return sentence
    names = _refused_parameters(error, call)
    if not names:
        return None
    parts = [f"model.extra without {name}" if name in call.extra else _setting(name, error.words) for name in names]
    settings = " and ".join(dict.fromkeys(parts))
    parameters = f"parameter{'s' * (len(names) > 1)} {', '.join(names)}"
    reply = in_words(error).rstrip(".")
    return f"{call.base_url} refuses the {parameters} for {call.model} ({reply}): set {settings}."


def _unsupported_answer(error: RefusedError, call: RefusedCall) -> str | None:
    """Return a sentence for a server that refuses to restrict replies to choices, or to give log-probabilities."""
    message, request = message_of(error), call.request
    if error.status not in _UNSUPPORTED or error.kind:
        return None
    reply = in_words(error)
    if isinstance(request, ChoiceRequest) and _OF_LOGPROBS.search(message):
        return (
            f"{call.base_url} does not give the log-probabilities of {call.model} that are asked for ({reply}): set "
            "model.top_logprobs to what it allows, or use model.method=generate (with answer=choice where the server "
            "can hold replies to the choices)."
        )
    if isinstance(request, ChatRequest) and request.form is not None and _OF_FORM.search(message):
        others = ", ".join(means for means in call.means or get_args(Means) if means != request.form.means)
        return (
            f"{call.base_url} does not hold the replies of {call.model} to the choices by "
            f"model.constrain={request.form.means} ({reply}): set model.constrain to what it knows ({others}), or "
            "leave answer=choice out."
        )
    return None


def _refused_parameters(error: RefusedError, call: RefusedCall) -> list[str]:
    """Return the parameters of a call that the server names as refused."""
    rows = table()["parameters"]
    if error.status not in rows["status"] or error.kind is not None:
        return []
    names = [name for name in dict.fromkeys((*call.body, *call.extra)) if name not in _QUESTION]
    if not pattern(rows["words"]).search(error.words):
        return [name for name in names if name == error.parameter]
    return [name for name in names if name == error.parameter.rpartition(".")[2] or _named(name, error.words)]


def _setting(name: str, words: str) -> str:
    if name not in _LENGTHS:
        return str(table()["parameters"]["settings"].get(name, f"model.extra without {name}"))
    other = _LENGTHS[name == _LENGTHS[0]]
    if name == "max_completion_tokens":
        if re.search(r"too (?:large|high|big)|at most|less than", words, re.IGNORECASE):
            return "model.reasoning_tokens to less"
        return f"model.limit_parameter={other}"
    if other in words or not re.search(r"too (?:large|high|big)|at most|less than|greater than|at least", words):
        return f"model.limit_parameter={other} (and model.reasoning=true if the model thinks before it answers)"
    return "max_tokens in the prompt's file to what it allows"


def _named(name: str, words: str) -> bool:
    """Test whether words name a parameter. A name that is an English word has to be quoted, or marked as a field.

    "Use 'max_completion_tokens' instead" names one that is not refused.
    """
    whole_name = rf"(?<![\w.]){re.escape(name)}(?!\w)"
    if not (matches := list(re.finditer(whole_name, words))):
        return False
    if name in table()["parameters"]["plain"] or "_" in name:
        return any(not re.search(r"\buse\W+$", words[: match.start()], re.IGNORECASE) for match in matches)
    quotes = "'\"`[:\\"
    return any(
        (words[match.start() - 1 : match.start()] in quotes and match.start())
        or words[match.end() : match.end() + 1] in ("'", '"', "`", "]", ":", "\\")
        or re.search(r"(?:parameters?|arguments?|fields?|name|body\.)\W*$", words[: match.start()], re.IGNORECASE)
        for match in matches
    )


_NO_ERROR: tuple[Any, ...] = (None, False, 0, "", "0", 200, "200", "ok", "OK", "success", [], {})


def error_in(reply: Mapping[str, Any], headers: Mapping[str, str]) -> RefusedError | None:
    """Return the failure inside of a reply whose status is success; None for an answer."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    # A reply with a choice was begun: whatever its error is called, only a count says how little was done.
    counts = usage_of(reply)
    usage = counts if counts.input is not None or choice else None

    def refused(status: int, body: Any) -> RefusedError:
        error = RefusedError(status, body, headers, usage=usage)
        error.inside = True
        return error

    for error in (reply.get("error"), choice.get("error") if choice else None):
        if _is_error(error):
            return refused(named_status(error, reply), {"error": error})
    if reply.get("object") == "error":
        return refused(named_status(reply, reply), dict(reply))
    if choice is None:
        fields = {name: reply[name] for name in ("message", "detail", "msg", "errors") if reply.get(name)}
        return refused(named_status(reply, reply), fields) if fields and not choices else None
    return _finished(choice, refused, generated=usage_of(reply).output != 0)


def _finished(
    choice: Mapping[str, Any], refused: Callable[[int, Any], RefusedError], *, generated: bool
) -> RefusedError | None:
    """Return the failure that a choice's finish_reason stands for; None for an answer.

    `generated`: whether any token was generated, be it only the end token. None is when a server behind a router has
    just started (OpenRouter), or fails without a word (Gemini).
    """
    reason = choice.get("finish_reason")
    name = reason.lower() if isinstance(reason, str) else ""
    failed, withheld = table()["failed_replies"], table()["withheld_replies"]
    if name in failed:
        return refused(failed[name], f"the reply ended with finish_reason {name}")
    if _says_something(choice):
        return None
    if name in withheld:
        return refused(400, {"message": f"the reply ended with finish_reason {name}", "code": withheld[name]})
    if reason is None and ("message" in choice or "text" in choice):
        return refused(502, "the reply is empty and says no reason for its end")
    if name == "stop" and "message" in choice and not generated:
        return refused(502, "the reply is empty, and no token was generated")
    return None


def _says_something(choice: Mapping[str, Any]) -> bool:
    """Test whether a choice has any content: words, thoughts, a refusal, a tool call, probabilities."""
    message = choice.get("message")
    parts = [part for name, part in message.items() if name != "role"] if isinstance(message, dict) else [message]
    return any((*parts, choice.get("text"), choice.get("logprobs")))


def _is_error(error: Any) -> bool:
    """Test whether a field named error holds an error: some servers send it empty, or with code 0 and "success"."""
    if isinstance(error, dict):
        return any(part not in _NO_ERROR for name, part in error.items() if name in ("code", "message", "type")) or (
            bool(error) and not {"code", "message", "type"} & set(error)
        )
    return bool(error) if isinstance(error, list) else isinstance(error, str) and error.lower() not in _NO_ERROR


def named_status(error: Any, reply: Mapping[str, Any] | None = None) -> int:
    """Return the HTTP status that an error gives itself, by number or by name; 502 if it gives none."""
    fields = error if isinstance(error, dict) else reply or {}
    named = [fields.get(name) for name in ("code", "status", "status_code", "type")]
    for value in named:
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:4])
        if isinstance(value, int) and 400 <= value < 600:
            return value
    names = " ".join(value.lower() for value in named if isinstance(value, str))
    rows: dict[str, int] = table()["named_statuses"]
    return next((status for parts, status in rows.items() if any(part in names for part in parts.split("|"))), 502)
