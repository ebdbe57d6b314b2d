"""Lines of batches: a request as it is sent, and the reply to it, in the forms of several servers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from harness.models.api.bodies import secret_of
from harness.models.api.dialects import anthropic
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import RefusedError, failure_of, in_words, message_of
from harness.models.api.refusals import error_in, named_status
from harness.models.api.replies import InvalidReplyError, one_line
from harness.types import JSON, Failure, Request, Response

LONGEST = 64 << 20
"""Bytes of a line at most, as of the reply to a live call."""
_GROUP, _ROOM = 500, 16 << 20
"""Lines, and bytes of lines, that are held at a time."""
GONE = {
    **dict.fromkeys(("batch_expired", "expired", "timeout_exceeded"), "batch_expired"),
    **dict.fromkeys(("batch_cancelled", "cancelled", "canceled"), "batch_cancelled"),
}
"""Kinds of failure by the servers' words for a request, or a batch, that was not worked on in time."""
_ENDED = {"canceled": "batch_cancelled", "expired": "batch_expired"}
"""Anthropic's words for the same."""


def line_of(key: str, path: str, body: Mapping[str, JSON]) -> str:
    """Return the line of a request in OpenAI's form; `path` is that of the call below /v1."""
    content = {"custom_id": key, "method": "POST", "url": f"/v1{path}", "body": body}
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def read_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the lines of a file that are not blank; None for one that is too long, which is never held whole.

    Of one JSON list, or of objects that each take several lines, yield the objects.
    """
    began = file.tell()
    first = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0].rstrip()
    file.seek(began)
    if first == b"{" or first.startswith(b"["):
        yield from JSONObjects(file)
        return
    while text := file.readline(LONGEST + 1):
        if len(text) <= LONGEST:
            if text.strip():
                yield text
            continue
        while text and not text.endswith(b"\n"):
            text = file.readline(1 << 20)
        yield None


def groups_of(lines: Iterable[bytes | None]) -> Iterator[list[bytes | None]]:
    """Yield lines in groups of a few hundred, fewer where they are long: one may take 64 MB."""
    group: list[bytes | None] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line or b"")
        if len(group) >= _GROUP or size > _ROOM:
            yield group
            group, size = [], 0
    if group:
        yield group


def content_of(line: bytes, loads: Callable[[bytes], Any] = json.loads) -> dict[str, Any] | None:
    """Return the JSON object of a line of output; None for a line that is no object or names no request."""
    try:
        content = loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("custom_id"), str):
        return None
    return _as_openai(content) if "result" in content and "response" not in content else content


def names_of(lines: Iterable[bytes | None], loads: Callable[[bytes], Any] = json.loads) -> Iterator[str]:
    for line in lines:
        if line is not None and (content := content_of(line, loads)) is not None:
            yield content["custom_id"]


def outcome_of(content: Mapping[str, Any], endpoint: Endpoint, request: Request) -> Response | Failure:
    """Return the outcome in a line of output, its reply or error read as that of a live call."""
    response, error = content.get("response"), content.get("error")
    if not isinstance(response, dict):
        return _failure_of(error, None, endpoint.max_wait)
    body, status = response.get("body", response), _status_of(response)
    if isinstance(body, str):  # some servers put the body there as it was written
        body = _object(body)
    if not (isinstance(status, int) and 200 <= status < 300):
        parts = body.get("error", body) if isinstance(body, dict) else body
        return _failure_of(parts or error, status, endpoint.max_wait)
    if not isinstance(body, dict):
        return (
            _failure_of(error, None, endpoint.max_wait)
            if error
            else Failure("invalid_reply", "the reply is not a JSON object")
        )
    if error and not body.get("choices"):
        return _failure_of(error, None, endpoint.max_wait)
    try:
        if (refused := error_in(body, {})) is not None:
            raise refused
        return secret_of(endpoint.key).cleared(endpoint.read(body, request, 0.0))
    except RefusedError as refused:  # an error inside of a reply that calls itself a success
        return failure_of(refused, in_words(refused), endpoint.max_wait)
    except Exception as problem:
        # As with a live call: what a server has written cannot break anything but the answer that it was to be.
        invalid = isinstance(problem, InvalidReplyError)
        return Failure("invalid_reply", one_line(str(problem) if invalid else f"{type(problem).__name__}: {problem}"))


def is_done(content: Mapping[str, Any]) -> bool | None:
    """Return whether a line of output says that its request was worked on; None if it says neither that nor why not."""
    response = content.get("response")
    if isinstance(response, dict):
        status, body = _status_of(response), response.get("body", response)
        if not isinstance(status, int):
            return None
        if not 200 <= status < 300:
            return False
        if isinstance(_object(body) if isinstance(body, str) else body, dict):
            return True
    return False if content.get("error") else None


def _status_of(response: Mapping[str, Any]) -> Any:
    """Return the status of a line's reply, a text of digits as a number; 200 if it has none."""
    status = response.get("status_code")
    if isinstance(status, str) and status.strip().isascii() and status.strip().isdigit():
        return int(status[:9])
    return 200 if status is None else status


def _failure_of(error: Any, status: Any, max_wait: float) -> Failure:
    """Return the failure for an error in a line, named as that of a live call."""
    refused = RefusedError(status if type(status) is int else 0, error, {})
    message = message_of(refused)
    if ended := next((kind for name, kind in GONE.items() if name in refused.code.split()), None):
        return Failure(ended, message)
    if refused.kind is not None or refused.status >= 400:
        return failure_of(refused, message, max_wait)
    return Failure("server_error", message if status is None else in_words(refused))


def _as_openai(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of Anthropic's results as one of OpenAI's: a reply, or an error with its status."""
    result = content["result"] if isinstance(content.get("result"), dict) else {}
    kind = result.get("type")
    line = {"custom_id": content.get("custom_id"), "response": None, "error": None}
    if kind == "succeeded" and isinstance(message := result.get("message"), dict):
        return line | {"response": {"status_code": 200, "body": anthropic.DIALECT.reply(message)}}
    if isinstance(kind, str) and kind in _ENDED:
        return line | {"error": {"code": _ENDED[kind], "message": f"the server says that it is {kind}"}}
    if kind != "errored":
        return line
    error = result.get("error")
    error = error["error"] if isinstance(error, dict) and isinstance(error.get("error"), dict) else error
    return line | {"response": {"status_code": named_status(error), "body": {"error": error}}}


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_PIECE = 1 << 20
# A whole text, or a sign that opens or ends something; a quotation mark alone begins a text whose end is not read yet.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}:]|"', re.DOTALL)


class NestedResults:
    """The document in a file, read once from its beginning."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._held, self._at = bytearray(), 0
        """What is read and not handed out, and how far it has been looked at."""
        self._head = bytearray()

    @property
    def head(self) -> bytes:
        """Return the document without its results, once they were read: [0] in their place, or [] for none."""
        return bytes(self._head + self._held)

    def __iter__(self) -> Iterator[bytes | None]:
        """Yield each of the results as it stands; None for one that is too long."""
        depth, name, text, inside, begins, count = 0, b"", b"", False, 0, 0
        for sign, start in self._tokens():
            if sign[:1] == b'"':
                text = sign if depth == 1 else text
            elif sign == b":":
                name = text if depth == 1 else name
            elif sign in b"[{":
                depth += 1
                if depth == 2 and sign == b"[" and name == b'"results"':
                    inside = True
                    self._head += self._take()
                elif inside and depth == 3:
                    begins = start
            else:
                depth -= 1
                if inside and depth == 2:
                    result = self._take()[begins:]
                    count += 1
                    yield None if len(result) > LONGEST else result
                elif inside and depth == 1:
                    inside = False
                    self._take()
                    self._head += b"0]" if count else b"]"

    def _tokens(self) -> Iterator[tuple[bytes, int]]:
        """Yield the signs of the document, and where in `_held` each begins."""
        while len(self._held) <= 2 * LONGEST and (piece := self._file.read(_PIECE)):
            self._held += piece
            while (token := _TOKEN.search(self._held, self._at)) and (sign := token[0]) != b'"':
                self._at = token.end()
                start = token.start()
                del token  # what is matched in cannot be cut
                yield bytes(sign), start
            self._at = token.start() if token else len(self._held)  # what has no sign is not looked at again
            del token

    def _take(self) -> bytes:
        taken = bytes(self._held[: self._at])
        del self._held[: self._at]
        self._at = 0
        return taken


class JSONObjects(NestedResults):
    """The objects in a file: one after the other, or in one list."""

    def __iter__(self) -> Iterator[bytes | None]:
        """Yield each of the objects as it stands; None for one that is too long."""
        depth, outer, begins = 0, 0, 0
        for sign, start in self._tokens():
            if sign in (b"[", b"{"):
                outer = 1 if sign == b"[" and depth == 0 else outer
                begins = start if depth == outer else begins
                depth += 1
            elif sign in (b"]", b"}"):
                depth -= 1
                if sign == b"}" and depth == outer:
                    found = self._take()[begins:]
                    yield None if len(found) > LONGEST else found
