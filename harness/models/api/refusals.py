"""Errors inside of a reply whose status is success, and parameters that a server refuses.

Routers send the status before the server behind them fails: HTTP 200, and the failure in the body or in the choice.
Read as an answer, such a reply would be stored for good as an empty or broken one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from harness.models.api.answer_forms import FORM_PARAMETERS
from harness.models.api.faults import RefusedError, in_words
from harness.models.api.replies import usage_of
from harness.types import JSON, ChatRequest, ChoiceRequest, Means, Request

_STATUSES = {
    "rate_limit": 429,
    "too_many": 429,
    "resource_exhausted": 429,
    "overloaded": 529,
    "authentication": 401,
    "invalid_api_key": 401,
    "unauthorized": 401,
    "insufficient": 402,
    "payment": 402,
    "billing": 402,
    "permission": 403,
    "forbidden": 403,
    "not_found": 404,
    "timeout": 408,
    "too_large": 413,
    "invalid": 400,
    "bad_request": 400,
    "context_length": 400,
    "content_filter": 400,
}
"""The status that a name stands for, where an error names none by number."""
_FAILED = {"error": 502, "network_error": 502, "insufficient_system_resource": 503, "abort": 502}
"""Reasons to finish that are failures of the server's (OpenRouter, Z.AI, DeepSeek, vLLM, SGLang)."""
_NO_ERROR: tuple[Any, ...] = (None, False, 0, "", "0", 200, "200", "ok", "OK", "success", [], {})
_SETTINGS = {
    **{name: f"model.{name}=null" for name in ("seed", "temperature", "top_p", "reasoning_effort")},
    "logprobs": "model.method=generate, or model.top_logprobs to what it allows",
    "top_logprobs": "model.top_logprobs to what it allows, or model.method=generate",
    "echo": "model.method=generate",
    "stop": "prompt to one without stop",
    "max_tokens": "model.reasoning=true if it takes max_completion_tokens, else max_tokens of the prompt to less",
    "max_completion_tokens": "model.reasoning=false if it takes max_tokens, else model.reasoning_tokens to less",
}
_OTHER = "model.extra without it"
"""What leaves out or changes a parameter."""
_OF_FORM = re.compile(
    r"response_?format|json|schema|structured|guided|grammar|regex|\btools?\b|function|requested parameters",
    re.IGNORECASE,
)
_OF_LOGPROBS = re.compile(r"log_?prob|requested parameters", re.IGNORECASE)
_REFUSES = re.compile(
    r"support|not (?:permitted|allowed|valid|available|accepted|recognized|enabled)|unknown|unrecogni[sz]ed|unexpected"
    r"|extra[_ ](?:inputs?|fields?|forbidden)|invalid|cannot find|deprecated|only the default|must be|too large"
    r"|at most|less than|greater than|removed|instead",
    re.IGNORECASE,
)
_PLAIN = frozenset(("seed", "temperature", "top_p", "logprobs", "echo"))
"""Parameters whose names no sentence holds for another reason; those with _ and quoted ones are as clear."""


def error_in(reply: Mapping[str, Any], headers: Mapping[str, str]) -> RefusedError | None:
    """Return the failure inside of a reply whose status is success; None for an answer."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    counts = usage_of(reply)
    # A reply with a choice was begun: whatever its error is called, only a count says how little was done.
    usage = counts if counts.input is not None or choice else None

    def refused(status: int, body: Any) -> RefusedError:
        return RefusedError(status, body, headers, usage=usage)

    for error in (reply.get("error"), choice.get("error") if choice else None):
        if _is_error(error):
            return refused(named_status(error, reply), {"error": error})
    if reply.get("object") == "error":
        return refused(named_status(reply), dict(reply))
    if choice is None:
        said = {name: reply[name] for name in ("message", "detail", "msg", "errors") if reply.get(name)}
        return refused(named_status(reply), said) if said and not choices else None
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason.lower() in _FAILED:
        return refused(_FAILED[reason.lower()], f"the reply ended with finish_reason {reason}")
    message = choice.get("message")
    parts = [part for name, part in message.items() if name != "role"] if isinstance(message, dict) else [message]
    if any((*parts, choice.get("text"), choice.get("logprobs"))):  # words, thoughts, a refusal, a tool call
        return None
    if reason == "model_context_window_exceeded":
        return refused(
            400, {"message": f"the reply ended with finish_reason {reason}", "code": "context_length_exceeded"}
        )
    # A server behind a router that has just started (OpenRouter), or fails without a word (Gemini).
    nothing = reason is None and ("message" in choice or "text" in choice)
    if nothing or (reason == "stop" and "message" in choice and counts.output == 0):
        return refused(502, "the reply is empty, and no token was generated")
    return None


def _is_error(error: Any) -> bool:
    """Test whether a field named error holds an error: some servers send it empty, or with code 0 and "success"."""
    if isinstance(error, dict):
        told = [part for name, part in error.items() if name in ("code", "message", "type")]
        return any(part not in _NO_ERROR for part in told) if told else bool(error)
    return bool(error) if isinstance(error, list) else isinstance(error, str) and error.lower() not in _NO_ERROR


def named_status(error: Any, reply: Mapping[str, Any] | None = None) -> int:
    """Return the HTTP status that an error gives itself, by number or by name; 502 if it gives none."""
    fields = error if isinstance(error, dict) else reply or {}
    named = [fields.get(name) for name in ("code", "status", "status_code", "type")]
    for value in named:
        text = str(value)[:4]
        if isinstance(value, int | str) and text.isascii() and text.isdigit() and 400 <= int(text) < 600:
            return int(text)
    names = " ".join(value.lower() for value in named if isinstance(value, str))
    return next((status for part, status in _STATUSES.items() if part in names), 502)


def unsupported(
    error: RefusedError, where: str, model: str, request: Request, body: Mapping[str, JSON], extra: Mapping[str, Any]
) -> str | None:
    """Return a sentence on the setting to change if a server refuses something that a call asks for; else None."""
    told, form = error.told, request.form if isinstance(request, ChatRequest) else None
    if error.fault.fault == "item" or error.status in (402, 429) or error.status > 501:
        return None
    if isinstance(request, ChoiceRequest) and _OF_LOGPROBS.search(told):
        names = ["logprobs"]
    elif error.fault.fault in ("request", "moment"):
        names = [name for name in dict.fromkeys((*body, *extra)) if _refused(name, error)]
    else:
        names = []
    if form is not None and (FORM_PARAMETERS & {*names} or (not names and _OF_FORM.search(told))):
        others = ", ".join(means for means in get_args(Means) if means != form.means)
        settings = [f"model.constrain to another way than {form.means} ({others}), or leave answer=choice out"]
        names = ["response_format"]
    elif not names:
        return None
    else:
        settings = [f"model.extra without {name}" if name in extra else _SETTINGS.get(name, _OTHER) for name in names]
    parameters = f"parameter{'s' * (len(names) > 1)} {', '.join(names)}"
    said = " and ".join(dict.fromkeys(settings))
    return f"{where} refuses the {parameters} for {model} ({in_words(error).rstrip('.')}): set {said}."


def _refused(name: str, error: RefusedError) -> bool:
    """Test whether a server's words name a parameter as refused, as "use 'max_completion_tokens'" does not."""
    if name in ("model", "messages", "prompt", "stream") or (
        name != error.parameter and not _REFUSES.search(error.words)
    ):
        return False
    plain = name in _PLAIN or "_" in name
    pattern = (
        rf"(?<![\w.]){name}(?!\w)"
        if plain
        else rf"['\"`\[]{name}['\"`\]]|\b{name}:|(?:parameters?|name|body\.)\W*{name}\b"
    )
    found = re.finditer(pattern, error.words)
    return name == error.parameter or any(not re.search(r"\buse\W+$", error.words[: m.start()], re.I) for m in found)
