"""Lines of batches: a request as it is sent, and the reply to it, as OpenAI and Anthropic write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from harness.models.api.anthropic import completion
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import RefusedError, error_in, named_status
from harness.models.api.replies import InvalidReplyError, one_line
from harness.types import Failure, Request, Response

_LONGEST = 64 << 20
"""Bytes of a line at most, as of the reply to a live call: pieces of a longer one are no JSON."""
GONE = {
    **dict.fromkeys(("batch_expired", "expired"), "batch_expired"),
    **dict.fromkeys(("batch_cancelled", "cancelled", "canceled"), "batch_cancelled"),
}
"""Kinds of failure by the servers' words for a request, or a batch, that was not worked on in time."""


def contents_of(file: IO[bytes], loads: Callable[[bytes], Any]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects on a file's lines that name a request; what is too long is never held whole."""
    while line := file.readline(_LONGEST):
        content = None
        with suppress(ValueError, RecursionError):
            content = loads(line)
        if isinstance(content, dict) and isinstance(content.get("custom_id"), str):
            yield _as_openai(content) if "result" in content else content


def outcome_of(content: Mapping[str, Any], endpoint: Endpoint, request: Request) -> Response | Failure:
    """Return the outcome in a line of output, its reply or error read as that of a live call."""
    response, error = content.get("response"), content.get("error")
    body, status = (response.get("body"), response.get("status_code")) if isinstance(response, dict) else (None, None)
    if not (isinstance(status, int) and 200 <= status < 300):
        words = body.get("error", body) if isinstance(body, dict) else body
        return _failure_of(words or error, status, endpoint.max_wait)
    if not isinstance(body, dict):
        return Failure("invalid_reply", "the reply is not a JSON object")
    try:
        if (refused := error_in(body, {})) is not None:
            raise refused
        return endpoint.read(body, request, 0.0)
    except RefusedError as refused:  # an error inside of a reply that calls itself a success
        return refused.failure(endpoint.max_wait)
    except Exception as problem:
        # As with a live call: what a server has written cannot break anything but the answer that it was to be.
        invalid = isinstance(problem, InvalidReplyError)
        return Failure("invalid_reply", one_line(str(problem) if invalid else f"{type(problem).__name__}: {problem}"))


def is_done(content: Mapping[str, Any]) -> bool | None:
    """Return whether a line of output says that its request was worked on; None if it says neither that nor why not."""
    response = content.get("response")
    if isinstance(response, dict) and isinstance(status := response.get("status_code"), int):
        if not 200 <= status < 300:
            return False
        if isinstance(response.get("body"), dict):
            return True
    return False if content.get("error") else None


def _failure_of(error: Any, status: Any, max_wait: float) -> Failure:
    """Return the failure for an error in a line, named as that of a live call."""
    refused = RefusedError(status if type(status) is int else 0, error, {})
    message = one_line(str(refused))
    if ended := next((kind for name, kind in GONE.items() if name in refused.code.split()), None):
        return Failure(ended, message)
    if refused.scope == "item" or refused.status >= 400:
        return refused.failure(max_wait)
    return Failure("server_error", message if status is None else refused.in_words())


def _as_openai(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of Anthropic's results as one of OpenAI's: a reply, or an error with its status."""
    result = content["result"] if isinstance(content.get("result"), dict) else {}
    kind, message = result.get("type"), result.get("message")
    line = {"custom_id": content.get("custom_id"), "response": None, "error": None}
    if kind == "succeeded" and isinstance(message, dict):
        return line | {"response": {"status_code": 200, "body": completion(message)}}
    if isinstance(kind, str) and kind in GONE:
        return line | {"error": {"code": GONE[kind], "message": f"the server says that it is {kind}"}}
    if kind != "errored":
        return line
    error = result.get("error")
    error = error["error"] if isinstance(error, dict) and isinstance(error.get("error"), dict) else error
    return line | {"response": {"status_code": named_status(error), "body": {"error": error}}}
