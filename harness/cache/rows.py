"""What stands in a row of answers, and whether it is what was stored."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from harness.codec import left_out, response_from_json
from harness.types import Response

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, MemoryError)
"""What is raised where JSON of any content is read as if it were our own."""


def digest_of(key: str, response: str) -> str:
    """Return the digest that stands beside a response: of its canonical JSON, and of the key that it belongs to."""
    return hashlib.sha256(f'["{key}",{response}]'.encode()).hexdigest()


def response_of(key: str, response: Any, digest: Any) -> Response:
    """Return the response of a row. Raises ValueError where it is not the one that was stored, or cannot be read."""
    try:
        if digest_of(key, response) != digest:
            raise ValueError("the response is not the one its digest names")
        return response_from_json(json.loads(response), cached=True)
    except UNREADABLE as error:
        raise ValueError(str(error)) from error


def oddities(response: str) -> list[str]:
    """Return the names of the fields of a readable response that are of another type than their own."""
    return left_out(json.loads(response))


def utf8(name: object) -> str:
    """Return a name that SQLite takes: without halves of characters."""
    return str(name).encode(errors="replace").decode()


def words_of(request: dict[str, Any]) -> list[dict[str, str]]:
    """Return the objects of a request's JSON that hold its words, to be read, filled in or taken out."""
    return [request["premise"], request["hypothesis"]] if request["kind"] == "pair" else request["messages"]


def moment(stored: float) -> str:
    """Return seconds since 1970 as a date and time in UTC."""
    return datetime.fromtimestamp(stored, UTC).isoformat()
