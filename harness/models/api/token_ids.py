"""The tokens of the choices by the server's own tokenizer, of which vLLM tells the log-probabilities when it is asked.

Only the server knows whether it has a tokenizer. It is asked once, before the first ranking; a server without one, or
one that ignores what it is asked for besides, tells its likeliest tokens as ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.models.api.faults import message_of, status
from harness.models.api.ranking import choices_begun, first_place, word_of
from harness.models.api.replies import LostError

if TYPE_CHECKING:
    from harness.models.api.client import Wire
    from harness.models.api.families import Provider
    from harness.types import JSON

MOST = 128
"""Tokens that vLLM takes in one request (MAX_LOGPROB_TOKEN_IDS in its sampling_params.py)."""
_TRIES, _PATIENCE = 3, 30.0
"""Tries of the tokenizer, and seconds for its answer: it has nothing to compute."""
_BEFORE, _AFTER = ("", " ", "\n", '"', ' "', "(", "**", " **"), ("", ".", ",")
"""What vocabularies have in one token with a word."""
_LETTERS = 3
"""Of a choice so many letters may be a token that begins it."""
_NAME = "token_id:"
"""What vLLM writes before a token's number where it is asked for numbers."""

Post = Callable[[Mapping[str, "JSON"]], Awaitable[Any]]


@dataclass(frozen=True)
class Vocabulary:
    """What a server's tokenizer says of some choices."""

    texts: Mapping[int, str]
    """The tokens that begin a spelling of one of the choices, and of no other: their texts by their numbers."""
    whole: bool
    """Whether each choice is one token, in one of its spellings at least."""


async def ask(wire: Wire, send: Post, body: Mapping[str, JSON], choices: tuple[str, ...], provider: Provider) -> Any:
    """Return the reply to a call for one token: with all tokens of the choices, where the server can tell them.

    A server that refuses to is asked without, now and from then on.
    """
    if (known := await vocabulary(wire, str(body["model"]), choices, provider)) is None:
        return await send(body)
    try:
        reply = await send({**body, "logprob_token_ids": list(known.texts), "return_tokens_as_token_ids": True})
    except Exception as error:
        if "token_id" not in message_of(error):
            raise
        wire.memory[choices] = None
        return await send(body)
    return named(reply, known)


async def vocabulary(wire: Wire, model: str, choices: tuple[str, ...], provider: Provider) -> Vocabulary | None:
    """Return what the server's tokenizer says of the choices; None for a server without one, as companies' are.

    Raises what the call raised where the server was not reached, or is too busy: it is asked again then.
    """
    if provider.match != ("*",) and "local" not in provider.match:
        return None
    async with wire.memory.setdefault("tokenizer", asyncio.Lock()):
        if choices not in wire.memory:
            wire.memory[choices] = await _ask(wire, model, choices)
    known: Vocabulary | None = wire.memory[choices]
    return known


async def _ask(wire: Wire, model: str, choices: tuple[str, ...]) -> Vocabulary | None:
    # One text with every spelling on a line of its own: no vocabulary has a token that goes beyond a line and a word.
    body = {"model": model, "prompt": _spellings(choices), "add_special_tokens": False, "return_token_strs": True}
    for _ in range(_TRIES):
        try:
            async with asyncio.timeout(_PATIENCE):
                return read_tokens(await wire.post("/tokenize", body, at_root=True), choices)
        except Exception as error:
            if isinstance(error, LostError) or status(error) in (429, 503):
                raise
            if (status(error) or 500) < 500:
                return None
    return None


def _spellings(choices: tuple[str, ...]) -> str:
    """Return the spellings of choices that models write, and the letters that these begin with, a line each."""
    words = dict.fromkeys(
        form for choice in choices for form in (choice, choice.lower(), choice.upper(), choice.capitalize())
    )
    begun = dict.fromkeys(word[:length] for word in words for length in range(1, min(len(word), _LETTERS + 1)))
    return "\n".join(
        [f"{before}{word}{after}" for word in words for before in _BEFORE for after in _AFTER]
        + [f"{before}{letters}" for letters in begun for before in ("", " ")]
    )


def read_tokens(reply: Mapping[str, Any], choices: tuple[str, ...]) -> Vocabulary | None:
    """Return what a tokenizer's reply to the spellings of choices says of them.

    None where it is no such reply, or knows a choice by no token of its own.
    """
    ids, texts = reply.get("tokens"), reply.get("token_strs")
    if not (isinstance(ids, list) and isinstance(texts, list) and len(ids) == len(texts)):
        return None
    told = zip(ids, texts, strict=True)
    tokens = {number: text for number, text in told if type(number) is int and isinstance(text, str)}
    begun = {number: names[0] for number, text in tokens.items() if len(names := choices_begun(text, choices)) == 1}
    if set(begun.values()) != set(choices):
        return None
    whole = {number for number, choice in begun.items() if word_of(tokens[number]) == choice.casefold()}
    if len(begun) > MOST:
        begun = {number: choice for number, choice in begun.items() if number in whole}
    if len(begun) > MOST or set(begun.values()) != set(choices):
        return None
    of_one_token = {begun[number] for number in whole} == set(choices)
    return Vocabulary({number: tokens[number] for number in begun}, of_one_token)


def named(reply: Any, known: Vocabulary) -> Any:
    """Return a reply whose first tokens have their texts where it had their numbers."""
    replied = reply.get("choices") if isinstance(reply, dict) else None
    choice = replied[0] if isinstance(replied, list) and replied else None
    if not isinstance(choice, dict):
        return reply
    top, drawn = first_place(choice.get("logprobs"))
    texts: dict[str, Any] = {f"{_NAME}{number}": text for number, text in known.texts.items()}
    if drawn and isinstance(drawn.get("token"), str):
        # Of the token that was written the reply has the text, also where it is none of the choices'.
        message = choice.get("message")
        written = message.get("content") if isinstance(message, dict) else choice.get("text")
        texts = {drawn["token"]: written} | texts
    place = {**_with_text(drawn or {}, texts), "top_logprobs": [_with_text(entry, texts) for entry in top]}
    return {**reply, "choices": [{**choice, "logprobs": {"content": [place]}}]}


def _with_text(entry: Any, texts: Mapping[str, Any]) -> Any:
    token = entry.get("token") if isinstance(entry, dict) else None
    text = texts.get(token) if isinstance(token, str) and token.startswith(_NAME) else None
    return {"token": text, "logprob": entry["logprob"]} if isinstance(text, str) and "logprob" in entry else entry
