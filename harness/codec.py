"""Requests and outcomes as JSON, and the digests that name them. Used by the cache and the records alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

from harness.types import ChatRequest, ChoiceRequest, Message, PairRequest, Request, Response, Usage

KINDS: Mapping[str, type[Request]] = {"chat": ChatRequest, "choice": ChoiceRequest, "pair": PairRequest}
"""The names of the three kinds of request, in prompt files and in records."""


def kind_of(request: Request) -> str:
    """chat, choice or pair."""
    return next(name for name, kind in KINDS.items() if type(request) is kind)


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal: the name of a message's content."""
    return hashlib.sha256(text.encode()).hexdigest()


def request_json(request: Request, content: Callable[[str], Mapping[str, str]]) -> dict[str, Any]:
    """A request as JSON. `content` says how the words of a message are written, in full or by digest."""
    if isinstance(request, PairRequest):
        return {"kind": "pair", "premise": content(request.premise), "hypothesis": content(request.hypothesis)}
    said: dict[str, Any] = {"kind": kind_of(request), "messages": [_message(m, content) for m in request.messages]}
    if isinstance(request, ChoiceRequest):
        return said | {"choices": list(request.choices)}
    return said | {"max_tokens": request.max_tokens, "stop": list(request.stop), "sample": request.sample}


def by_digest(text: str) -> Mapping[str, str]:
    """The words of a message by their digest: how the cache refers to them."""
    return {"sha256": text_digest(text)}


def request_digest(request: Request) -> str:
    """What names a request, whatever model it goes to."""
    return digest(request_json(request, by_digest))


def response_json(response: Response) -> dict[str, Any]:
    """A response as JSON, without whether it came from the cache and without what is empty."""
    said = {k: v for k, v in asdict(response).items() if k != "cached" and v not in (None, "")}
    said["usage"] = {k: v for k, v in asdict(response.usage).items() if v is not None}
    return said | {"text": response.text}


def response_from_json(said: Mapping[str, Any], *, cached: bool) -> Response:
    """The response that `response_json` wrote."""
    usage = {f.name: said.get("usage", {}).get(f.name) for f in fields(Usage)}
    rest = {k: v for k, v in said.items() if k not in ("usage", "cached")}
    return Response(**rest, usage=Usage(**usage), cached=cached)


def _message(message: Message, content: Callable[[str], Mapping[str, str]]) -> dict[str, str]:
    return {"role": message.role, **content(message.content)}
