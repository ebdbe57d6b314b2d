"""Requests and outcomes as JSON, the digests that name them, and draws keyed by a digest: the same on every machine.

And how a file that a user names is opened: an ordinary one, as a pipe or a device may never end.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar

from harness.types import (
    TOKENS,
    AnswerForm,
    ChatRequest,
    ChoiceRequest,
    Message,
    PairRequest,
    Request,
    Response,
    Usage,
)

KINDS: Mapping[str, type[Request]] = {"chat": ChatRequest, "choice": ChoiceRequest, "pair": PairRequest}
"""The names of the three kinds of request, in prompt files and in records."""

_NAMES = {kind: name for name, kind in KINDS.items()}
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
MOST_TOKENS = 10**9
"""The most tokens that one call may report; no context is near it."""
MOST_USD = 10**6
"""The most that one call may be said to cost."""
MOST_SECONDS = 10**9
"""The longest that one call may be said to have taken."""


def kind_of(request: Request) -> str:
    return _NAMES[type(request)]


def canonical(value: object) -> str:
    """Return JSON with sorted keys, no spaces, ASCII only: equal values give equal text, half an emoji is no error."""
    return _CANONICAL.encode(value)


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


@lru_cache(maxsize=1024)  # the same long opening goes before thousands of questions
def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal: the name of a message's content."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def user_path(path: str | Path) -> Path:
    """Return a path with ~ as the home folder; ~t.csv is a file of that name where there is no user t."""
    return Path(os.path.expanduser(path))  # noqa: PTH111


LARGEST_TEXT = 1 << 22
"""Bytes of a config or prompt file: a hundred times the largest that ships."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotPlainError(OSError):
    """A pipe, a device or the like, which may never end."""


def open_plain(place: Path, flags: int = 0) -> BufferedReader:
    """Open an ordinary file for reading. Raises NotPlainError for everything else, OSError."""
    number = os.open(place, _FLAGS | flags)  # without blocking: a FIFO would wait for a writer
    try:
        kind = os.fstat(number).st_mode
        if not stat.S_ISREG(kind):
            if stat.S_ISDIR(kind):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
            raise NotPlainError(errno.EINVAL, "it is a pipe or a device, and no file", str(place))
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def plain_text(place: Path, most: int = LARGEST_TEXT) -> str:
    """Return a file's text, at most `most` bytes. Raises OSError, and UnicodeDecodeError where it is not UTF-8."""
    with open_plain(place) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EINVAL, f"it is larger than {most >> 20} MB", str(place))
    return content.decode().replace("\r\n", "\n").replace("\r", "\n")


def content_digest(place: Path) -> str:
    """Return the SHA-256 of a file's bytes, or of a folder's files with their names, in hexadecimal."""
    if not place.is_dir():
        with open_plain(place) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    files = sorted(file for file in place.rglob("*") if file.is_file())
    return digest([[file.relative_to(place).as_posix(), content_digest(file)] for file in files])


def request_json(request: Request, content: Callable[[str], Mapping[str, str]]) -> dict[str, Any]:
    """Return a request as JSON. `content` writes the words of a message, in full or by digest."""
    if isinstance(request, PairRequest):
        return {"kind": "pair", "premise": content(request.premise), "hypothesis": content(request.hypothesis)}
    chat: dict[str, Any] = {"kind": kind_of(request), "messages": [_message(m, content) for m in request.messages]}
    if isinstance(request, ChoiceRequest):
        return chat | {"choices": list(request.choices)}
    chat |= {"max_tokens": request.max_tokens, "stop": list(request.stop), "sample": request.sample}
    return chat if request.form is None else chat | {"form": _form(request.form)}


def request_from_json(content: Mapping[str, Any], text: Callable[[str], str]) -> Request:
    """Return the request that `request_json` wrote by digest; `text` gives the words for each.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    kind = content["kind"]
    if kind == "pair":
        return PairRequest(*(text(content[part]["sha256"]) for part in ("premise", "hypothesis")))
    messages = tuple(Message(message["role"], text(message["sha256"])) for message in content["messages"])
    if kind == "choice":
        return ChoiceRequest(messages, tuple(content["choices"]))
    if kind != "chat":
        raise ValueError(f"there is no kind of request {kind!r}")
    form = content.get("form")
    return ChatRequest(
        messages,
        content["max_tokens"],
        tuple(content["stop"]),
        content["sample"],
        None if form is None else AnswerForm(tuple(form["choices"]), form["means"], form.get("reasoning", False)),
    )


def words(request: Request) -> tuple[str, ...]:
    """Return the texts of a request that `request_json` writes by `content`."""
    if isinstance(request, PairRequest):
        return request.premise, request.hypothesis
    return tuple(message.content for message in request.messages)


def by_digest(text: str) -> Mapping[str, str]:
    """Return the words of a message by their digest, as the cache refers to them."""
    return {"sha256": text_digest(text)}


@lru_cache(maxsize=1024)  # used to look a request up, to store its answer, and for its record
def short(request: Request) -> str:
    return canonical(request_json(request, by_digest))


def request_digest(request: Request) -> str:
    """Return the digest that names a request, whatever model it goes to."""
    return hashlib.sha256(short(request).encode()).hexdigest()


def token_count(value: object) -> int | None:
    """Return a count of tokens as a server or a file reports it, or None for what cannot be one.

    A text, a negative number, a NaN or a number beyond `MOST_TOKENS` is no count. None is safe: a budget keeps what it
    set aside, and the account reports that the answer came without a count.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def charge(value: object) -> float | None:
    """Return what a server or a file says that one call cost in USD, or None for what cannot be an amount."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_USD:
        return None
    return float(value)


def response_json(response: Response) -> dict[str, Any]:
    """Return a response as JSON, without empty fields and without whether it came from the cache."""
    always = ("seconds",) if response.outside is None else ("seconds", "bounded")
    content = {"text": response.text}
    for name, empty in _EMPTY.items():
        if (value := getattr(response, name)) != empty or name in always:
            content[name] = _plain(value)
    return content


def response_from_json(content: Any, *, cached: bool) -> Response:
    """Return the response that `response_json` wrote.

    The answer was paid for, so a field beside it that has a wrong type (a count that is a text, a name that is a list)
    is dropped. Raises ValueError where the text or the log-probabilities cannot be read.
    """
    if not isinstance(content, Mapping) or not isinstance(text := content.get("text"), str):
        raise ValueError("it has no text")
    beside = {name: read(content[name]) for name, read in _BESIDE.items() if name in content}
    return Response(text, **beside, cached=cached)


def _logprobs(values: Any) -> Mapping[str, float] | None:
    if values is None:
        return None
    if isinstance(values, Mapping) and all(map(_is_logprob, values.values())):
        return values
    raise ValueError("its log-probabilities are none")


def _is_logprob(value: Any) -> bool:
    """Return whether a value is a log-probability: up to rounding not above zero, minus infinity allowed."""
    return (type(value) is float and value < 1) or (type(value) is int and -(10**15) < value < 1)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _usage(counts: Any) -> Usage:
    if not isinstance(counts, Mapping):
        return Usage()
    return Usage(**{name: read(counts[name]) for name, read in _COUNTED.items() if name in counts})


def _seconds(value: Any) -> float:
    return value if type(value) in (int, float) and 0 <= value <= MOST_SECONDS else 0.0


def _share(value: Any) -> float | None:
    return value if type(value) in (int, float) and 0 <= value <= 1 else None


def _names(values: Any) -> tuple[str, ...]:
    return tuple(values) if isinstance(values, list) and all(isinstance(name, str) for name in values) else ()


def _plain(value: Any) -> Any:
    """Return a part of a response as JSON."""
    if isinstance(value, str | float):
        return value
    if isinstance(value, Usage):
        return {name: count for name in _COUNTED if (count := getattr(value, name)) is not None}
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value


_COUNTED: Mapping[str, Callable[[Any], Any]] = dict.fromkeys(TOKENS, token_count) | {"usd": charge}
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "str": _text,
    "bool": lambda value: value is True,
    "TokenCount | None": token_count,
    "Elapsed": _seconds,
    "Probability | None": _share,
    "tuple[str, ...]": _names,
    "Mapping[str, LogProbability] | None": _logprobs,
    "Usage": _usage,
}
_BESIDE: Mapping[str, Callable[[Any], Any]] = {
    part.name: _READERS[str(part.type)] for part in fields(Response) if part.name not in ("text", "cached")
}
"""How each field of a response beside its text is read, by its type, in the order of the file."""
_EMPTY: Mapping[str, Any] = {name: getattr(Response(""), name) for name in _BESIDE}


def _form(form: AnswerForm) -> dict[str, Any]:
    """Return a form as JSON. It is part of the request's digest, so `reasoning` is written only where it is true."""
    return {"choices": list(form.choices), "means": form.means} | ({"reasoning": True} if form.reasoning else {})


def _message(message: Message, content: Callable[[str], Mapping[str, str]]) -> dict[str, str]:
    return {"role": message.role, **content(message.content)}


T = TypeVar("T")


def uniform(*parts: object) -> float:
    """Return a draw from [0, 1) that depends on the parts and on nothing else (53 bits of a SHA-256)."""
    text = "\x1f".join(map(str, parts))
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11) / (1 << 53)


def shuffled(values: Sequence[T], *parts: object) -> list[T]:
    """Return the values in an order drawn from the parts."""
    order = sorted(range(len(values)), key=lambda k: uniform(*parts, k))
    return [values[k] for k in order]


def permuted(size: int, *parts: object) -> Iterator[int]:
    """Yield 0 … size-1 in an order drawn from the parts.

    This is the Fisher–Yates shuffle, keeping only the entries that were swapped: the first k of many values take time
    and memory for k.
    """
    entries: dict[int, int] = {}
    for k in range(size):
        other = k + int(uniform(*parts, k) * (size - k))
        yield entries.get(other, other)
        entries[other] = entries.pop(k, k)
