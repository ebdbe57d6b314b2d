"""What one request may take: estimates and bounds in tokens, without a vocabulary."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import add
from typing import NamedTuple

from harness.protocols import Service
from harness.types import ChatRequest, PairRequest, Request

_AROUND, _AROUND_MOST = 4, 64
"""Tokens that a server puts around a message; at most, with what chat templates say of their own."""
# Both pre-tokenizers of OpenAI's chat models (cl100k_base and o200k_base, published with tiktoken) cut a text into
# pieces by a pattern, and each piece becomes one token or more. This is the coarser of the two at every point: a
# contraction stays with its word, capitals do not begin a word, slashes stay with the newlines before them.
PIECE = re.compile(
    r"[^\r\nA-Za-z0-9]?[A-Za-z]+(?:'(?:[sdmt]|ll|ve|re))?"  # a word with one sign before it
    r"|[0-9]{1,3}"
    r"| ?[^\sA-Za-z0-9]+[\r\n/]*"  # signs
    r"|\s+\Z|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII | re.IGNORECASE,
)
_LONG = 4096
"""Longer texts, in characters, are worth counting."""
_CELLS = {ord(sign): None for sign in "0123456789|,;\t"}
"""What tables of numbers consist of: if it is a fifth of a text or more, tokens have one or two characters."""


class Size(NamedTuple):
    """What one request may take, or several together. `input` is an estimate, the others are bounds."""

    calls: int = 0
    input: int = 0
    input_most: int = 0
    """Of requests as they stand: more than `input` by far, as a token has a byte at least."""
    output_least: int = 0
    output_most: int = 0
    input_more: int = 0
    """Tokens that replies to earlier turns, which are not known yet, may add to the input."""

    def plus(self, other: Size) -> Size:
        """Return what both take."""
        return Size(*map(add, self, other))


NOTHING = Size()


def size(request: Request, service: Service | None) -> Size:
    """Return the size of a request to a server, or to a model on this machine.

    A token is at least a byte of UTF-8, so `input_most` holds for every vocabulary that is made of bytes. A server that
    obeys max_tokens writes no more than `output_most`.
    """
    if isinstance(request, PairRequest):
        texts: list[str] = [request.premise, request.hypothesis]
    else:
        texts = [message.content for message in request.messages]
    about = sum(map(tokens_about, texts)) + _AROUND * len(texts)
    most = sum(map(_bytes, texts)) + _AROUND_MOST * (len(texts) + 1)
    if isinstance(request, PairRequest):
        return Size(1, about, most)
    room = service.room_to_think if service is not None else 0
    return Size(1, about, most, 1, request.max_tokens + room if isinstance(request, ChatRequest) else 1)


@lru_cache(maxsize=256)  # the turns of a network's data come with each of its questions
def tokens_about(text: str) -> int:
    """Estimate the tokens in a text: one per 3.8 characters, as in English; long texts and tables are counted."""
    counted = len(text) > _LONG or 5 * (len(text) - len(text.translate(_CELLS))) >= len(text)
    return len(PIECE.findall(text)) if counted else -(-10 * len(text) // 38)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
