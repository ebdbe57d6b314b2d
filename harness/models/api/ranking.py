"""The log-probability of each choice, by the likeliest tokens that may come next in a server's reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from harness.models.api.replies import InvalidReplyError, UnsupportedError
from harness.types import Response, replace

Token = tuple[str, float]
"""A token as text, and its log-probability."""
_BEFORE = " \t\r\n\u0120\u010a\u2581\"'`*_([“‘"
"""What may stand before a word: spaces, which tokenizers may write as Ġ, Ċ or ▁, quotes, emphasis, brackets."""
_ROUNDING = 0.01
"""How far the sum of probabilities may exceed 1: servers round, and some compute with few digits."""
_LEAST = 1e-12
"""The probability left for other tokens if those in a reply add up to 1."""
_NEVER, _NEVER_FROM = -1e4, -9e3
"""What stands for minus infinity. Servers, whose JSON has no such number, write -9999."""
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
"""A token of one byte, as vocabularies write it."""
_THOUGHTS = re.compile(r"\s*(?:<\|?(?:think|reason|seed:think|begin_of_thought|channel)|\[think|◁think)", re.IGNORECASE)
"""The beginning of a reply of a model that thinks first, unless the server removes it."""


def ranked(choice: Mapping[str, Any], choices: tuple[str, ...], response: Response, where: str, model: str) -> Response:
    """Add the log-probabilities of the choices to a response.

    `choice` is the reply's; `where` and `model` name server and model in messages. Raises UnsupportedError for a model
    that thinks first and for a server without log-probabilities, InvalidReplyError if they are malformed.
    """
    thinks = bool(response.reasoning) or _THOUGHTS.match(response.text) is not None
    tokens = [] if thinks else first_tokens(choice, where)
    if thinks or _THOUGHTS.match(max(tokens, key=lambda token: token[1])[0]):
        raise UnsupportedError(
            f"{where}: {model} thinks before it answers, so that its first token says nothing of the choices: use "
            "model.method=generate, or switch its thinking off (model.extra, model.reasoning_effort)."
        )
    return by_next_token(tokens, choices, replace(response, finish_reason="stop"))


def first_tokens(choice: Mapping[str, Any], where: str) -> list[Token]:
    """Return the likeliest first tokens of a reply's choice, each once, with the one that was sampled.

    Some chat servers write them in the form of completions, and the other way around.
    Raises UnsupportedError if the server gives none, InvalidReplyError if they are malformed.
    """
    top, sampled = _first_place(choice.get("logprobs"))
    if not top:
        raise UnsupportedError(
            f"{where} gives no log-probabilities with its replies: use model.method=generate (with answer=choice where "
            "the server can hold replies to the choices)."
        )
    # Two tokens may read the same, as a word with and without the space before it in some vocabularies: both count.
    # The same token twice has the same number, and counts once.
    tokens = list(dict.fromkeys(map(_token, top)))
    total = sum(math.exp(logprob) for _, logprob in tokens)
    # The sampled token may be missing from the likeliest. It is among them if it reads the same, however rounded, or if
    # they leave no room for it: then it is only spelled in another way (▁No, No).
    token, logprob = _token(sampled) if sampled else tokens[0]
    if token not in {text for text, _ in tokens} and total + math.exp(logprob) <= 1 + _ROUNDING:
        tokens.append((token, logprob))
        total += math.exp(logprob)
    if not 0 < total <= 1 + _ROUNDING:
        raise InvalidReplyError(f"the reply's log-probabilities are those of {total:.3g} tokens, and one was written")
    return tokens


def _first_place(logprobs: Any) -> tuple[list[Any], Any]:
    """Return the entries of the likeliest tokens of the first place, and the entry of the token sampled there.

    No entries, and None, if they are missing.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else logprobs
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return _entries(content[0].get("top_logprobs")), content[0]
    if not isinstance(logprobs, dict):
        return [], None
    top, token, logprob = (
        part[0] if isinstance(part := logprobs.get(name), list) and part else None
        for name in ("top_logprobs", "tokens", "token_logprobs")
    )
    complete = isinstance(token, str) and logprob is not None
    return _entries(top), {"token": token, "logprob": logprob} if complete else None


def _entries(top: Any) -> list[Any]:
    """Return entries as chat completions have them, given those or the dictionary of completions."""
    if isinstance(top, dict):
        return [{"token": token, "logprob": logprob} for token, logprob in top.items()]
    return top if isinstance(top, list) else []


def _token(entry: Any) -> Token:
    """Return a token with its log-probability. Raises InvalidReplyError if it has none."""
    parts = entry if isinstance(entry, dict) else {}
    token, logprob = parts.get("token"), parts.get("logprob")
    number = logprob if isinstance(logprob, int | float) and not isinstance(logprob, bool) else math.nan
    if not isinstance(token, str) or not number <= _ROUNDING:  # NaN is not
        raise InvalidReplyError("the reply's log-probabilities are not a number for each token")
    # Smaller numbers are as good as 0, and an integer may be too large for a float.
    return _text(token, parts.get("bytes")), float(max(number, _NEVER))


def _text(token: str, content: Any) -> str:
    """Return a token's text: its bytes if they are valid UTF-8, else as it is written."""
    if isinstance(content, list) and content and all(type(part) is int and 0 <= part < 256 for part in content):
        with suppress(UnicodeDecodeError):
            return bytes(content).decode()
    if byte := _BYTE.fullmatch(token):
        return chr(int(byte[1], 16)) if int(byte[1], 16) < 128 else "\ufffd"
    return token


def by_next_token(tokens: Sequence[Token], choices: tuple[str, ...], response: Response) -> Response:
    """Add to a response the log-probability of each choice: that of all tokens that begin a spelling of it alone.

    A choice that none of the tokens begins is less likely than any of them, and than what they leave of 1: it gets the
    smaller of these bounds. If that is so for all choices, the response has no probabilities, and the token as text.
    """
    by_choice: dict[str, list[float]] = {choice: [] for choice in choices}
    for token, logprob in tokens:
        if len(names := choices_begun(token, choices)) == 1 and logprob > _NEVER_FROM:
            by_choice[names[0]].append(logprob)
    outside = round(min(1.0, max(0.0, 1.0 - sum(math.exp(p) for values in by_choice.values() for p in values))), 6)
    bounded = tuple(choice for choice in choices if not by_choice[choice])
    if len(bounded) == len(choices):
        return replace(response, logprobs={}, outside=outside)
    probabilities = [math.exp(logprob) for _, logprob in tokens]
    bound = max(_LEAST, min(1.0 - sum(probabilities), min(filter(None, probabilities))))
    logprobs = {choice: min(0.0, _sum(values) if values else math.log(bound)) for choice, values in by_choice.items()}
    best = max(logprobs, key=lambda choice: logprobs[choice])
    return replace(response, text=best, logprobs=logprobs, outside=outside, bounded=bounded)


def _sum(logprobs: Sequence[float]) -> float:
    """Return the logarithm of a sum of probabilities, each of which may be too small for a float."""
    largest = max(logprobs)
    return largest + math.log(sum(math.exp(logprob - largest) for logprob in logprobs))


@lru_cache(maxsize=4096)  # the same few tokens are the likeliest of thousands of replies
def choices_begun(token: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return the choices that a token may begin, in upper or lower case: " Yes", "yes", "Y" and "YES." begin Yes.

    The token may go on after the choice, unless that makes another word: "Not" does not begin No.
    """
    word = token.lstrip(_BEFORE).casefold()
    return tuple(choice for choice in choices if word and _begins(word, choice.casefold()))


def _begins(word: str, choice: str) -> bool:
    rest = word.removeprefix(choice)
    return choice.startswith(word) or (rest != word and not rest[0].isalnum() and rest[0] not in "-'’_")
