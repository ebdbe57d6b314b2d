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
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import NODEFAULT, ValidationError, convert, structs, to_builtins

from harness.types import (
    AnswerForm,
    Asked,
    ChatRequest,
    ChoiceRequest,
    Message,
    PairRequest,
    Request,
    Response,
)

KINDS: Mapping[str, type[Request]] = {"chat": ChatRequest, "choice": ChoiceRequest, "pair": PairRequest}
"""The names of the three kinds of request, in prompt files and in records."""

_NAMES = {kind: name for name, kind in KINDS.items()}
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
MOST_TOKENS = 10**9
"""The most tokens that one call may report; no context is near it."""
MOST_USD = 10**6
"""The most that one call may be said to cost."""
ALWAYS = ("sample", "label", "probability", "span", "seconds", "cached")
"""Fields that a file has even where they are as by default."""


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


class NotPlainError(OSError):
    """A pipe, a device or the like, which may never end."""


def open_plain(place: Path, flags: int = 0) -> BufferedReader:
    """Open an ordinary file for reading. Raises NotPlainError for everything else, OSError."""
    if not stat.S_ISREG(kind := os.stat(place).st_mode) and not stat.S_ISDIR(kind):  # noqa: PTH116
        raise NotPlainError(errno.EINVAL, "it is a pipe or a device, and no file", str(place))
    return open(place, "rb", opener=lambda name, mode: os.open(name, mode | flags))


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


def asked(request: Request) -> Asked:
    """Return a request as records have it, with all of its words."""
    content = request_json(request, lambda text: {"sha256": text_digest(text), "text": text})
    return convert({"digest": request_digest(request), **content}, Asked)


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


def as_json(value: Any, own: Mapping[type, Callable[[Any], Any]] = MappingProxyType({})) -> Any:
    """Return a part of a record or a result as JSON: its fields in their order, but those that are as by default.

    `own` says how values of a type are written that have another form in the file.
    """
    if write := own.get(type(value)):
        return write(value)
    if isinstance(value, Asked):
        return to_builtins(value)
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {name: as_json(part, own) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(part, own) for part in value]
    return {name: as_json(part, own) for name, part in set_fields(value).items()}


def set_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a part of a record or a result that are not as by default, or that a file always has."""
    fields_of: Sequence[tuple[str, Any]] = _parts(value.__class__)
    # A bound says something of each of the choices, or that there is none.
    always = ("bounded",) if getattr(value, "outside", None) is not None else ()
    return {name: part for name, empty in fields_of if (part := getattr(value, name)) != empty or name in always}


@cache
def _parts(kind: Any) -> Sequence[tuple[str, Any]]:
    """Return the fields of a type, each with the value at which it is left out."""
    parts = fields(kind) if is_dataclass(kind) else structs.fields(kind)
    empty = {part.name: part.default_factory() if callable(part.default_factory) else part.default for part in parts}
    return [(name, NODEFAULT if name in ALWAYS else value) for name, value in empty.items()]


def response_json(response: Response) -> dict[str, Any]:
    """Return a response as JSON, without empty fields and without whether it came from the cache."""
    content: dict[str, Any] = as_json(response)
    del content["cached"]
    return content


def response_from_json(content: Any, *, cached: bool) -> Response:
    """Return the response that `response_json` wrote.

    The answer was paid for: where a field beside it is not of its type, it is taken without these. Raises ValueError
    where the text or the log-probabilities cannot be read.
    """
    if not isinstance(content, Mapping):
        raise ValueError("it is no object")
    known = {name: content[name] for name in Response.__struct_fields__ if name in content} | {"cached": cached}
    answer = {name: known[name] for name in ("text", "logprobs", "cached") if name in known}
    for parts in (known, answer):
        with suppress(ValidationError):
            return convert(parts, Response)
    raise ValueError("it has no text, or its log-probabilities are none")


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
