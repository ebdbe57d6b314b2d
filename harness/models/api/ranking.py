"""How likely a server holds each choice to be: by the next token, or by the choices echoed behind the prompt."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from harness.models.api.replies import InvalidReplyError, NoLogprobsError
from harness.types import Response

Token = tuple[str, float]
"""A token as text, and its log-probability."""
_BEFORE = " \t\r\n\u0120\u010a\u2581\"'`*_([“‘"
"""What may stand before a word: spaces, also as tokenizers write them (Ġ, Ċ, ▁), quotes, emphasis, brackets."""
_ROUNDING = 0.01
"""By so much the probabilities of tokens may be more than 1: servers round, some compute with few digits."""
_LEAST = 1e-12
"""A probability that is no number of a server's: where all that it told adds up to 1, something has to be left."""


def tokens_of_chat(logprobs: Any, where: str) -> list[Token]:
    """Return the likeliest first tokens of a chat completion, each once.

    Raises NoLogprobsError where the server gives none, InvalidReplyError where they are none.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    written = content[0] if isinstance(content, list) and content else None
    top = written.get("top_logprobs") if isinstance(written, dict) else None
    if not top or not isinstance(top, list):
        raise NoLogprobsError(_no_logprobs(where))
    # The token that was drawn need not be one of the likeliest.
    entries = [entry if isinstance(entry, dict) else {} for entry in (*top, written)]
    # Two tokens may read the same, such as halves of a character; the same one told twice has the same number.
    distinct = {(entry.get("token"), _key(entry.get("bytes")), entry.get("logprob")): None for entry in entries}
    return _checked([(token, logprob) for token, _, logprob in distinct])


def tokens_of_completion(logprobs: Any, where: str) -> list[Token]:
    """Return the likeliest first tokens of a completion. Raises as `tokens_of_chat` does."""
    places = logprobs.get("top_logprobs") if isinstance(logprobs, dict) else None
    top = places[0] if isinstance(places, list) and places else None
    if not top or not isinstance(top, dict):
        raise NoLogprobsError(_no_logprobs(where))
    return _checked(list(top.items()))


def by_next_token(tokens: Sequence[Token], choices: tuple[str, ...], response: Response) -> Response:
    """Return a response with the log-probability of each choice: of all tokens that begin a spelling of it alone.

    A choice that none of the tokens begins is less likely than any of them, and than what they leave: that bound is
    taken for it. Where that is so of all choices, the response has a probability of none, and the token as its text.
    """
    masses = dict.fromkeys(choices, 0.0)
    for token, logprob in tokens:
        begun = choices_begun(token, choices)
        if len(begun) == 1:
            masses[begun[0]] += math.exp(logprob)
    begun_mass = sum(masses.values())
    outside = round(min(1.0, max(0.0, 1.0 - begun_mass)), 6)
    if not begun_mass:
        return replace(response, logprobs={}, outside=outside)
    probabilities = [math.exp(logprob) for _, logprob in tokens]
    bound = max(_LEAST, min(1.0 - sum(probabilities), min(filter(None, probabilities))))
    bounded = tuple(choice for choice in choices if not masses[choice])
    logprobs = {choice: min(0.0, math.log(mass or bound)) for choice, mass in masses.items()}
    best = max(logprobs, key=lambda choice: logprobs[choice])
    return replace(response, text=best, logprobs=logprobs, outside=outside, bounded=bounded)


@lru_cache(maxsize=4096)  # the same few tokens are the likeliest of thousands of replies
def choices_begun(token: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return the choices of which a token may be the beginning, in any case: " Yes", "yes", "Y" and "YES." of Yes.

    More than the choice may stand in the token, but for what would make it another word: "Not" begins no No.
    """
    word = token.lstrip(_BEFORE).casefold()
    return tuple(choice for choice in choices if word and _begins(word, choice.casefold()))


def _begins(word: str, choice: str) -> bool:
    rest = word.removeprefix(choice)
    return choice.startswith(word) or (rest != word and not rest[0].isalnum() and rest[0] not in "-'’_")


def _checked(tokens: Collection[tuple[Any, Any]]) -> list[Token]:
    """Return tokens with their log-probabilities. Raises InvalidReplyError where they are none."""
    for token, logprob in tokens:
        if not isinstance(token, str) or type(logprob) not in (int, float) or not logprob <= _ROUNDING:
            raise InvalidReplyError("the reply's log-probabilities are not a number for each token")
    # No smaller number is told apart from 0, and an integer may be too large for a float.
    finite = [(token, float(max(logprob, -1e4))) for token, logprob in tokens]
    total = sum(math.exp(logprob) for _, logprob in finite)
    if not 0 < total <= 1 + _ROUNDING:
        raise InvalidReplyError(f"the reply's log-probabilities are those of {total:.3g} tokens, and one was written")
    return finite


def _key(parts: Any) -> Any:
    """Return the bytes of a token as something that can be looked up."""
    return tuple(parts) if isinstance(parts, list) and all(type(part) is int for part in parts) else None


def _no_logprobs(where: str) -> str:
    return (
        f"{where} gives no log-probabilities with its replies: use model.method=generate (with answer=choice where the "
        "server can hold replies to the choices)."
    )


def of_echo(logprobs: Any, start: int, end: int, where: str) -> float:
    """Return the summed log-probability of the tokens between two characters of the echoed text.

    A token that begins before `start` counts where it reaches past it; what a server writes after `end`, though
    it was asked for nothing, does not.
    """
    tokens, begins = (
        logprobs.get(part) if isinstance(logprobs, dict) else None for part in ("token_logprobs", "text_offset")
    )
    if not tokens or not begins:
        raise NoLogprobsError(f"{where} gives no log-probabilities for a prompt (echo): use model.method=generate.")
    if not (_are(tokens, int, float, type(None)) and _are(begins, int) and len(tokens) == len(begins)):
        raise InvalidReplyError("the reply's log-probabilities are not one number and one offset for each token")
    spans = zip(tokens, begins, [*begins[1:], math.inf], strict=True)
    # Nothing comes before the first token of all, so that it has no probability.
    inside = [p for p, begin, stop in spans if stop > start and begin < end and (p is not None or begin > 0)]
    if not inside or None in inside:
        raise InvalidReplyError("the reply has no log-probability for a token that was asked for")
    try:
        return float(sum(inside))
    except OverflowError:
        return math.nan


def _are(values: object, *kinds: type) -> bool:
    """Test whether something is a list of values of these very types; True and False are no numbers."""
    return isinstance(values, list) and all(type(value) in kinds for value in values)
