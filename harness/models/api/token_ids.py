"""The tokens of the choices by the server's own tokenizer, whose log-probabilities vLLM returns on request.

Only the server knows whether it has a tokenizer. It is asked once, before the first ranking. A server without one, or
one that ignores the request, returns its likeliest tokens as usual.
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
"""Tries of the tokenizer, and seconds for its answer: it hardly computes anything."""
_BEFORE, _AFTER = ("", " ", "\n", '"', ' "', "(", "**", " **"), ("", ".", ",")
"""What vocabularies join with a word to one token."""
_LETTERS = 3
"""The longest beginning of a choice, in letters, that is tried as a token."""
_NAME = "token_id:"
"""What vLLM writes before a token's number, if asked for numbers."""

Post = Callable[[Mapping[str, "JSON"]], Awaitable[Any]]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of some choices in a server's vocabulary."""

    texts: Mapping[int, str]
    """The texts, by number, of the tokens that begin a spelling of exactly one of the choices."""
    whole: bool
    """Whether each choice is a single token in at least one of its spellings."""


async def ask(wire: Wire, send: Post, body: Mapping[str, JSON], choices: tuple[str, ...], provider: Provider) -> Any:
    """Return the reply to a call for one token, with the log-probabilities of all tokens of the choices if possible.

    A server that refuses them is asked without, this time and from then on.
    """
    if (tokens := await vocabulary(wire, str(body["model"]), choices, provider)) is None:
        return await send(body)
    try:
        reply = await send({**body, "logprob_token_ids": list(tokens.texts), "return_tokens_as_token_ids": True})
    except Exception as error:
        if "token_id" not in message_of(error):
            raise
        wire.memory[choices] = None
        return await send(body)
    return with_texts(reply, tokens)


async def vocabulary(wire: Wire, model: str, choices: tuple[str, ...], provider: Provider) -> Vocabulary | None:
    """Return the tokens of the choices by the server's tokenizer; None if it has none, as companies' servers do.

    Raises the call's error if the server was not reached or is too busy, so that it is asked again.
    """
    if provider.match != ("*",) and "local" not in provider.match:
        return None
    async with wire.memory.setdefault("tokenizer", asyncio.Lock()):
        if choices not in wire.memory:
            wire.memory[choices] = await _ask(wire, model, choices)
    tokens: Vocabulary | None = wire.memory[choices]
    return tokens


async def _ask(wire: Wire, model: str, choices: tuple[str, ...]) -> Vocabulary | None:
    # One text with each spelling on a line of its own: tokens do not cross a line break followed by a word.
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
    """Return the spellings of choices that models write, and the beginnings of these, one per line."""
    words = dict.fromkeys(
        form for choice in choices for form in (choice, choice.lower(), choice.upper(), choice.capitalize())
    )
    beginnings = dict.fromkeys(word[:length] for word in words for length in range(1, min(len(word), _LETTERS + 1)))
    return "\n".join(
        [f"{before}{word}{after}" for word in words for before in _BEFORE for after in _AFTER]
        + [f"{before}{letters}" for letters in beginnings for before in ("", " ")]
    )


def read_tokens(reply: Mapping[str, Any], choices: tuple[str, ...]) -> Vocabulary | None:
    """Return the tokens of choices from a tokenizer's reply to their spellings.

    None if it is not such a reply, or if a choice has no token of its own.
    """
    ids, texts = reply.get("tokens"), reply.get("token_strs")
    if not (isinstance(ids, list) and isinstance(texts, list) and len(ids) == len(texts)):
        return None
    pairs = zip(ids, texts, strict=True)
    tokens = {number: text for number, text in pairs if type(number) is int and isinstance(text, str)}
    choice_of = {number: names[0] for number, text in tokens.items() if len(names := choices_begun(text, choices)) == 1}
    if set(choice_of.values()) != set(choices):
        return None
    whole = {number for number, choice in choice_of.items() if word_of(tokens[number]) == choice.casefold()}
    if len(choice_of) > MOST:
        choice_of = {number: choice for number, choice in choice_of.items() if number in whole}
    if len(choice_of) > MOST or set(choice_of.values()) != set(choices):
        return None
    of_one_token = {choice_of[number] for number in whole} == set(choices)
    return Vocabulary({number: tokens[number] for number in choice_of}, of_one_token)


def with_texts(reply: Any, tokens: Vocabulary) -> Any:
    """Return a reply whose first tokens have their texts in place of their numbers."""
    rows = reply.get("choices") if isinstance(reply, dict) else None
    choice = rows[0] if isinstance(rows, list) and rows else None
    if not isinstance(choice, dict):
        return reply
    top, sampled = first_place(choice.get("logprobs"))
    texts: dict[str, Any] = {f"{_NAME}{number}": text for number, text in tokens.texts.items()}
    if sampled and isinstance(sampled.get("token"), str):
        # The reply has the text of the sampled token, even if it begins no choice.
        message = choice.get("message")
        written = message.get("content") if isinstance(message, dict) else choice.get("text")
        texts = {sampled["token"]: written} | texts
    place = {**_with_text(sampled or {}, texts), "top_logprobs": [_with_text(entry, texts) for entry in top]}
    return {**reply, "choices": [{**choice, "logprobs": {"content": [place]}}]}


def _with_text(entry: Any, texts: Mapping[str, Any]) -> Any:
    token = entry.get("token") if isinstance(entry, dict) else None
    text = texts.get(token) if isinstance(token, str) and token.startswith(_NAME) else None
    return {"token": text, "logprob": entry["logprob"]} if isinstance(text, str) and "logprob" in entry else entry
