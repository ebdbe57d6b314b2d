"""Estimates of a text's length in tokens of OpenAI's chat models, without their vocabularies."""

from __future__ import annotations

import re
from functools import lru_cache

# Both of their pre-tokenizers (cl100k_base and o200k_base, published with OpenAI's tiktoken) cut a text into pieces
# by a pattern, and each piece becomes one token or more. This is the coarser of the two at every point: a contraction
# stays with its word, capitals do not begin a word, slashes stay with the newlines before them. It knows ASCII only.
_PIECE = re.compile(
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
_TENTHS = 38
"""Tenths of a character per token: Corr2Cause's texts have at most 3.9 characters per token by tokens_at_least."""
_FOREIGN = re.compile(r"[^\x00-\x7f]+")


@lru_cache(maxsize=256)
def tokens_at_least(text: str) -> int:
    """Return a lower bound of the tokens in a text, close for English and for tables of numbers.

    Characters outside ASCII are not counted: `re` cannot tell which of them the tokenizers take for letters, marks or
    numbers. Each run of them may join two pieces into one, so it subtracts one.
    """
    parts = _FOREIGN.split(text)
    pieces = sum(len(_PIECE.findall(part)) for part in parts)
    return max(pieces - (len(parts) - 1), min(1, len(text)))


@lru_cache(maxsize=256)  # the turns of a network's data come with each of its questions
def tokens_about(text: str) -> int:
    """Estimate the tokens in a text: one per 3.8 characters, as in English; long texts and tables are counted."""
    counted = len(text) > _LONG or 5 * (len(text) - len(text.translate(_CELLS))) >= len(text)
    return tokens_at_least(text) if counted else -(-10 * len(text) // _TENTHS)
