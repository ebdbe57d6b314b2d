"""The two endpoints of any OpenAI-compatible server: chat completions, and the older completions."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.models.api.endpoint import Endpoint
from harness.models.api.replies import (
    InvalidReplyError,
    NoLogprobsError,
    first_choice,
    name_of,
    one_line,
    response,
    text_of,
    usage_in_all,
)
from harness.protocols import Outcomes, as_text
from harness.types import JSON, ChatRequest, ChoiceRequest, Failure, PairRequest, Request, Response, Transcript

if TYPE_CHECKING:
    from harness.models.api.client import Wire

# Families that think before they answer and refuse temperature, top_p, stop and max_tokens.
_REASONING = re.compile(r"(?:^|/)(?:o\d|gpt-5(?!.*chat))")


@dataclass(frozen=True, kw_only=True)
class Chat(Endpoint):
    """Chat completions: messages in, one message out."""

    reasoning: bool | None = None
    reasoning_effort: str | None = None
    reasoning_tokens: Annotated[int, Field(ge=0)] = 8192

    def __post_init__(self) -> None:
        """Refuses sampling settings that a reasoning model would not take."""
        super().__post_init__()
        if self.reasons and (self.temperature or self.top_p is not None):
            raise ConfigError(
                f"{self.model} is a reasoning model, which takes neither temperature nor top_p: leave them out, or set "
                "model.reasoning=false if it is none."
            )

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        """Writing only: chat servers do not rank given continuations."""
        return (ChatRequest,)

    @property
    def reasons(self) -> bool:
        """Whether the model is of a family that thinks first."""
        return bool(_REASONING.search(self.model)) if self.reasoning is None else self.reasoning

    @property
    def room_to_think(self) -> int:
        """What a reasoning model may write beside the answer."""
        return self.reasoning_tokens if self.reasons else 0

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the answers depend on."""
        return self._identity("openai.chat") | ({"reasoning_tokens": self.reasoning_tokens} if self.reasons else {})

    def sampling(self) -> dict[str, JSON]:
        """For a reasoning model without temperature and top_p, which it refuses."""
        given = super().sampling()
        if self.reasons:
            given = {name: value for name, value in given.items() if name not in ("temperature", "top_p")}
        return given | ({"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {})

    def texts(self, messages: Transcript) -> Iterable[str]:
        """Each message."""
        return (message.content for message in messages)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Call many at once; yield the answers that landed together, as they land."""
        from harness.models.api.call import respond  # and with it asyncio, which a run from the cache needs not import

        return respond(self, requests)

    async def send(self, wire: Wire, request: Request) -> Any:
        """One chat completion."""
        assert isinstance(request, ChatRequest)
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        parameters = {"model": self.model, "messages": messages, **self.sampling(), **self.draw(request.sample)}
        if self.reasons:
            parameters["max_completion_tokens"] = request.max_tokens + self.reasoning_tokens
        else:
            parameters["max_tokens"] = request.max_tokens
            if request.stop:
                parameters["stop"] = list(request.stop)
        return await wire.post("/chat/completions", parameters)

    def read(self, reply: Any, request: Request, seconds: float) -> Response | Failure:
        """The message, or why there is none."""
        choice = first_choice(reply)
        message, finish_reason = choice.get("message"), choice.get("finish_reason")
        if finish_reason == "content_filter":
            return Failure("content_filter", "the server withheld the reply")
        if not isinstance(message, dict):
            raise InvalidReplyError("the reply's choice has no message")
        text, refusal = text_of(message.get("content"), "the content"), message.get("refusal")
        if refusal and not text:
            return Failure("refusal", one_line(text_of(refusal, "the refusal")))
        return response(reply, text, seconds, finish_reason)


@dataclass(frozen=True, kw_only=True)
class Completions(Endpoint):
    """The completions endpoint: text in, text out; or ranking, where the server gives log-probabilities."""

    method: Literal["generate", "rank"] = "generate"

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        """Ranking first where the settings ask for it; writing always."""
        return (ChoiceRequest, ChatRequest) if self.method == "rank" else (ChatRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the answers depend on."""
        return self._identity("openai.completions")

    def texts(self, messages: Transcript) -> Iterable[str]:
        """The one text that is sent."""
        return (as_text(messages),)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Call many at once; yield the answers that landed together, as they land."""
        from harness.models.api.call import respond  # and with it asyncio, which a run from the cache needs not import

        return respond(self, requests)

    async def send(self, wire: Wire, request: Request) -> Any:
        """One completion, or one scored continuation for each choice."""
        import asyncio

        assert not isinstance(request, PairRequest)
        prompt = as_text(request.messages)
        if isinstance(request, ChoiceRequest):
            # The prompt's own tokens are scored, nothing is drawn: only what a server needs besides is sent along.
            scored = {"model": self.model, "max_tokens": 0, "echo": True, "logprobs": 1, **self.extra}
            calls = (
                wire.post("/completions", {**scored, "prompt": f"{prompt} {choice}"}) for choice in request.choices
            )
            # All of them are awaited, also where one fails: none goes on unseen, beside the retry of all.
            replies = await asyncio.gather(*calls, return_exceptions=True)
            for reply in replies:
                if isinstance(reply, BaseException):
                    raise reply
            return replies
        parameters = {"model": self.model, "prompt": prompt, "max_tokens": request.max_tokens}
        if request.stop:
            parameters["stop"] = list(request.stop)
        return await wire.post("/completions", {**parameters, **self.sampling(), **self.draw(request.sample)})

    def read(self, reply: Any, request: Request, seconds: float) -> Response | Failure:
        """The text, or the log-probability of each choice."""
        if not isinstance(request, ChoiceRequest):
            choice = first_choice(reply)
            if choice.get("finish_reason") == "content_filter":
                return Failure("content_filter", "the server withheld the reply")
            if not isinstance(choice.get("text"), str):  # parts are the chat endpoint's
                raise InvalidReplyError("the reply's choice has no text")
            return response(reply, choice["text"], seconds, choice.get("finish_reason"))
        start = len(as_text(request.messages))
        logprobs = {
            choice: _continuation(first_choice(body).get("logprobs"), start, start + 1 + len(choice), self.base_url)
            for choice, body in zip(request.choices, reply, strict=True)
        }
        if not all(map(math.isfinite, logprobs.values())):
            return Failure("invalid_logprobs", f"the server's log-probabilities are {logprobs}")
        best = max(logprobs, key=lambda choice: logprobs[choice])
        return Response(best, logprobs, usage_in_all(reply), "stop", name_of(reply[0].get("model")), seconds)


def _continuation(logprobs: Any, start: int, end: int, where: str) -> float:
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
    """Return whether something is a list of values of these very types; True and False are no numbers."""
    return isinstance(values, list) and all(type(value) in kinds for value in values)
