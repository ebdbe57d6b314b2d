"""Refusals at a second look: which parameter or form of the reply is refused, and errors inside of a success.

Routers have sent the status before the server behind them fails: HTTP 200, and the failure in the body or in the
choice. Read as an answer, such a reply is an empty or a broken one, stored for good. Which words refuse a parameter,
and which setting changes it, is data: harness/data/server_errors.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from harness.models.api.faults import RefusedError, in_words, kind, message_of, pattern, status, table
from harness.models.api.replies import usage_of
from harness.types import JSON, ChatRequest, ChoiceRequest, Means, Request

_QUESTION = frozenset(("model", "messages", "prompt"))
"""What a call is about: no setting leaves it out."""
_LENGTHS = ("max_tokens", "max_completion_tokens")
_UNSUPPORTED = frozenset((400, 403, 404, 422, 500, 501))
"""Statuses with which servers turn away what they cannot do; older ones of llama.cpp say 500."""
_OF_FORM = re.compile(
    r"response_?format|json|schema|structured|guided|grammar|sampler|regex|\btools?\b|tool_choice|function"
    r"|requested parameters",
    re.IGNORECASE,
)
_OF_LOGPROBS = re.compile(r"log_?prob|requested parameters", re.IGNORECASE)


def refusal(
    error: BaseException, request: Request, where: str, model: str, known: tuple[Means, ...] | None = None
) -> str | None:
    """Return a sentence for a server that refuses to hold replies to a form, or to give log-probabilities.

    None where it refuses something else. `known`: the means that its dialect has.
    """
    message = message_of(error)
    if status(error) not in _UNSUPPORTED or kind(error):
        return None
    reply = in_words(error)
    if isinstance(request, ChoiceRequest) and _OF_LOGPROBS.search(message):
        return (
            f"{where} does not give the log-probabilities of {model} that are asked for ({reply}): set "
            "model.top_logprobs to what it allows, or use model.method=generate (with answer=choice where the server "
            "can hold replies to the choices)."
        )
    if isinstance(request, ChatRequest) and request.form is not None and _OF_FORM.search(message):
        others = ", ".join(means for means in known or get_args(Means) if means != request.form.means)
        return (
            f"{where} does not hold the replies of {model} to the choices by model.constrain={request.form.means} "
            f"({reply}): set model.constrain to what it knows ({others}), or leave answer=choice out."
        )
    return None


def refused_parameters(error: BaseException, sent: Mapping[str, JSON], extra: Iterable[str]) -> list[str]:
    """Return those of the parameters that were sent which a server names as refused; none where it names none.

    `extra` are the names that came from model.extra.
    """
    rows = table()["parameters"]
    if not isinstance(error, RefusedError) or error.status not in rows["status"] or error.kind is not None:
        return []
    words = error.words
    names = [name for name in dict.fromkeys((*sent, *extra)) if name not in _QUESTION]
    if not pattern(rows["words"]).search(words):
        return [name for name in names if name == error.parameter]
    return [name for name in names if name == error.parameter.rpartition(".")[2] or _named(name, words)]


def sentence(error: RefusedError, refused: list[str], where: str, model: str, extra: Iterable[str]) -> str:
    parts = [f"model.extra without {name}" if name in extra else _setting(name, error.words) for name in refused]
    settings = " and ".join(dict.fromkeys(parts))
    names = f"parameter{'s' * (len(refused) > 1)} {', '.join(refused)}"
    return f"{where} refuses the {names} for {model} ({in_words(error).rstrip('.')}): set {settings}."


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
    """Test whether words name a parameter: in quotes or as a field, and without them where the name is no English word.

    "Use 'max_completion_tokens' instead" names what is not refused.
    """
    found = rf"(?<![\w.]){re.escape(name)}(?!\w)"
    if not (matches := list(re.finditer(found, words))):
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
    """Return the failure that a reply with a status of success tells of; None for an answer."""
    usage = counts if (counts := usage_of(reply)).input is not None else None

    def refused(status: int, body: Any) -> RefusedError:
        return RefusedError(status, body, headers, usage=usage)

    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    for error in (reply.get("error"), choice.get("error") if choice else None):
        if _is_error(error):
            return refused(named_status(error, reply), {"error": error})
    if reply.get("object") == "error":
        return refused(named_status(reply, reply), dict(reply))
    if choice is None:
        said = {name: reply[name] for name in ("message", "detail", "msg", "errors") if reply.get(name)}
        return refused(named_status(reply, reply), said) if said and not choices else None
    return _finished(choice, refused, generated=usage_of(reply).output != 0)


def _finished(
    choice: Mapping[str, Any], refused: Callable[[int, Any], RefusedError], *, generated: bool
) -> RefusedError | None:
    """Return the failure that a choice tells of by how it ended.

    `generated`: whether a token was, if only the one that ends a reply. None is where a server behind a router has
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
    """Test whether a choice holds anything beside its place: words, thoughts, a refusal, a call, probabilities."""
    message = choice.get("message")
    parts = [part for name, part in message.items() if name != "role"] if isinstance(message, dict) else [message]
    return any((*parts, choice.get("text"), choice.get("logprobs")))


def _is_error(error: Any) -> bool:
    """Test whether a field named error holds one: some servers send it empty, or with code 0 and "success"."""
    if isinstance(error, dict):
        return any(part not in _NO_ERROR for name, part in error.items() if name in ("code", "message", "type")) or (
            bool(error) and not {"code", "message", "type"} & set(error)
        )
    return bool(error) if isinstance(error, list) else isinstance(error, str) and error.lower() not in _NO_ERROR


def named_status(error: Any, reply: Mapping[str, Any] | None = None) -> int:
    """Return the status that an error gives itself, by number or by name; that of a bad gateway where it gives none."""
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
