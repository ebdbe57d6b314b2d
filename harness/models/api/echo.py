"""How likely a completion server holds each choice to be as a whole: it echoes prompt and choice, a call for each."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from harness.models.api.replies import InvalidReplyError, NoLogprobsError, first_choice, name_of, usage_in_all
from harness.types import JSON, Failure, Response

Post = Callable[[Mapping[str, JSON]], Awaitable[Any]]


async def ask(post: Post, parameters: Mapping[str, JSON], prompt: str, choices: tuple[str, ...]) -> list[Any]:
    """Return the replies to the prompt with each choice behind it, of which the prompt's own tokens are scored.

    One token is written besides, since there are servers that take 0 for no limit.
    """
    scored = {"max_tokens": 1, "echo": True, "logprobs": 1, **parameters}
    calls = (post({**scored, "prompt": f"{prompt} {choice}"}) for choice in choices)
    # All of them are awaited, also where one fails: none goes on unseen, beside the retry of all.
    replies = await asyncio.gather(*calls, return_exceptions=True)
    for reply in replies:
        if isinstance(reply, BaseException):
            raise reply
    return replies


def read(replies: Any, prompt: str, choices: tuple[str, ...], seconds: float, where: str) -> Response | Failure:
    """Return the log-probability of each choice; a failure where one of them is no number."""
    start = len(prompt)
    logprobs = {
        choice: logprob_of(first_choice(reply).get("logprobs"), start, start + 1 + len(choice), where)
        for choice, reply in zip(choices, replies, strict=True)
    }
    if not all(map(math.isfinite, logprobs.values())):
        return Failure("invalid_logprobs", f"the server's log-probabilities are {logprobs}")
    best = max(logprobs, key=lambda choice: logprobs[choice])
    name = name_of(replies[0].get("model"))
    return Response(
        best, logprobs, usage=usage_in_all(replies), finish_reason="stop", served_model=name, seconds=seconds
    )


def _no_echo(where: str) -> str:
    return (
        f"{where} gives no log-probabilities for a prompt (echo): use model.method=generate, or model.rank=next_token "
        "where it gives them for the token that is written."
    )


def logprob_of(logprobs: Any, start: int, end: int, where: str) -> float:
    """Return the summed log-probability of the tokens between two characters of the echoed text.

    A token that begins before `start` counts where it reaches past it; what a server writes after `end`, though
    it was asked for nothing, does not.
    """
    tokens, begins = (
        logprobs.get(part) if isinstance(logprobs, dict) else None for part in ("token_logprobs", "text_offset")
    )
    # A single token is the one that was written: the prompt was not echoed. Its number says nothing of a choice.
    if not tokens or not begins or (_are(tokens, int, float) and len(tokens) == 1):
        raise NoLogprobsError(_no_echo(where))
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
