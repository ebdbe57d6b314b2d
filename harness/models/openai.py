"""Any OpenAI-compatible server: chat completions, and the older completions endpoint."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from harness.errors import ConfigError, RunStopped
from harness.models.concurrent import answer_all
from harness.models.protocol import Outcome, as_text
from harness.models.retry import InvalidReplyError, Policy
from harness.types import JSON, ChatRequest, ChoiceRequest, Failure, PairRequest, Request, Response, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Positive = Annotated[float, Field(gt=0)]

# Families that think before they answer and refuse temperature, top_p, stop and max_tokens.
_REASONING = re.compile(r"(?:^|/)(?:o\d|gpt-5(?!.*chat))")
# Parameters that a request or another setting owns: `extra` must not say them a second time.
_OWNED = {
    "model",
    "messages",
    "prompt",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "seed",
    "n",
    "stream",
    "logprobs",
}


@dataclass(frozen=True, kw_only=True)
class Endpoint(ABC):
    """What chat and completions have in common; configs/model/openai.yaml says what each setting means."""

    name: str
    model: str
    base_url: str
    endpoint: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0)] | None = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    max_concurrency: Annotated[int, Field(gt=0)] = 32
    timeout: Positive = 600.0
    attempts: Annotated[int, Field(gt=0)] = 10
    max_wait: Positive = 120.0

    def __post_init__(self) -> None:
        """Refuses to start without a usable key and address."""
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(f"model.base_url={self.base_url} is no address: write http://… or https://…")
        if address.username or address.password:
            raise ConfigError(f"model.base_url holds credentials: give them as a key in {self.api_key_env}.")
        if owned := _OWNED & set(self.extra):
            raise ConfigError(
                f"model.extra cannot set {', '.join(sorted(owned))}: the prompt or a setting of its own does."
            )
        if not self._key:
            raise ConfigError(
                f"no API key: set the environment variable {self.api_key_env} (export {self.api_key_env}=…; any "
                f"text will do for a local server that asks for none). It is for {self.base_url}."
            )
        if not self._key.isascii() or not self._key.isprintable():
            raise ConfigError(f"the key in {self.api_key_env} holds characters that no key has: set it again.")

    @property
    def _key(self) -> str:
        return os.environ.get(self.api_key_env, "").strip()

    def sampling(self) -> dict[str, JSON]:
        """The sampling parameters as they are sent; what is None is not."""
        given = {"temperature": self.temperature, "top_p": self.top_p, **self.extra}
        return {name: value for name, value in given.items() if value is not None}

    def draw(self, sample: int) -> dict[str, int]:
        """The seed of a draw: samples of one request must not all get the same one."""
        if self.seed is None:
            return {}
        if sample == 0:
            return {"seed": self.seed}
        return {"seed": int.from_bytes(hashlib.sha256(f"{self.seed}/{sample}".encode()).digest()[:4], "big") >> 1}

    def _identity(self, kind: str) -> dict[str, JSON]:
        where = self.endpoint or self.base_url.rstrip("/")
        return {"kind": kind, "endpoint": where, "model": self.model, "seed": self.seed, "sampling": self.sampling()}

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """Calls in flight, answers as they land."""
        import openai

        http = openai.DefaultAioHttpClient(timeout=self.timeout)
        client = openai.AsyncOpenAI(api_key=self._key, base_url=self.base_url, max_retries=0, http_client=http)
        policy = Policy(self.base_url, attempts=self.attempts, max_wait=self.max_wait)

        async def call(request: Request) -> Response | Failure:
            async def attempt() -> Response | Failure:
                # A limit of our own: the SDK's counts from the last byte, so a slow drip would pass it.
                async with asyncio.timeout(self.timeout):
                    return await self._attempt(client, request)

            return await policy.call(attempt)

        yield from answer_all(
            requests, call, max_concurrency=self.max_concurrency, stopping=policy.stopping, close=client.close
        )

    async def _attempt(self, client: AsyncOpenAI, request: Request) -> Response | Failure:
        started = time.perf_counter()
        try:
            reply = await self.send(client, request)
        except json.JSONDecodeError as error:
            raise InvalidReplyError(f"the reply is not JSON ({error})") from error
        try:
            return self.read(reply, request, round(time.perf_counter() - started, 4))
        except (AttributeError, TypeError, IndexError, KeyError, ValueError) as error:
            raise InvalidReplyError(f"the reply is not of the API's form ({error})") from error

    @abstractmethod
    async def send(self, client: AsyncOpenAI, request: Request) -> Any:
        """One call; the SDK's reply."""

    @abstractmethod
    def read(self, reply: Any, request: Request, seconds: float) -> Response | Failure:
        """What the reply says."""


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
    def identity(self) -> Mapping[str, JSON]:
        """What the answers depend on."""
        return self._identity("openai.chat") | ({"reasoning_tokens": self.reasoning_tokens} if self.reasons else {})

    def sampling(self) -> dict[str, JSON]:
        """For a reasoning model without temperature and top_p, which it refuses."""
        given = super().sampling()
        if self.reasons:
            given = {name: value for name, value in given.items() if name not in ("temperature", "top_p")}
        return given | ({"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {})

    async def send(self, client: AsyncOpenAI, request: Request) -> Any:
        """One chat completion."""
        assert isinstance(request, ChatRequest)
        parameters = {**self.sampling(), **self.draw(request.sample)}
        if self.reasons:
            parameters["max_completion_tokens"] = request.max_tokens + self.reasoning_tokens
        else:
            parameters["max_tokens"] = request.max_tokens
            if request.stop:
                parameters["stop"] = list(request.stop)
        return await client.chat.completions.create(
            model=self.model,
            messages=[{"role": m.role, "content": m.content} for m in request.messages],  # type: ignore[misc]
            extra_body=parameters,
        )

    def read(self, reply: Any, request: Request, seconds: float) -> Response | Failure:
        """The message, or why there is none."""
        choice = _first_choice(reply)
        if choice.finish_reason == "content_filter":
            return Failure("content_filter", "the server withheld the reply")
        if getattr(choice.message, "refusal", None) and not choice.message.content:
            return Failure("refusal", choice.message.refusal)
        return _response(reply, choice.message.content or "", seconds, choice.finish_reason)


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

    async def send(self, client: AsyncOpenAI, request: Request) -> Any:
        """One completion, or one scored continuation for each choice."""
        assert not isinstance(request, PairRequest)
        prompt = as_text(request.messages)
        if isinstance(request, ChoiceRequest):
            # The prompt's own tokens are scored, nothing is drawn: only what a server needs besides is sent along.
            scored: dict[str, Any] = {"max_tokens": 0, "echo": True, "logprobs": 1, "extra_body": dict(self.extra)}
            calls = (
                client.completions.create(model=self.model, prompt=f"{prompt} {choice}", **scored)
                for choice in request.choices
            )
            return await asyncio.gather(*calls)
        return await client.completions.create(
            model=self.model,
            prompt=prompt,
            max_tokens=request.max_tokens,
            stop=list(request.stop) or None,
            extra_body={**self.sampling(), **self.draw(request.sample)},
        )

    def read(self, reply: Any, request: Request, seconds: float) -> Response | Failure:
        """The text, or the log-probability of each choice."""
        if not isinstance(request, ChoiceRequest):
            choice = _first_choice(reply)
            return _response(reply, choice.text, seconds, choice.finish_reason)
        start = len(as_text(request.messages))
        logprobs = {
            choice: _continuation(_first_choice(body).logprobs, start, start + 1 + len(choice), self.base_url)
            for choice, body in zip(request.choices, reply, strict=True)
        }
        if not all(map(math.isfinite, logprobs.values())):
            return Failure("invalid_logprobs", f"the server's log-probabilities are {logprobs}")
        best = max(logprobs, key=lambda choice: logprobs[choice])
        usage = Usage(input=sum(body.usage.prompt_tokens for body in reply if body.usage), output=0)
        return Response(best, logprobs, usage, "stop", reply[0].model or "", seconds)


def _continuation(logprobs: Any, start: int, end: int, where: str) -> float:
    """The summed log-probability of the tokens between two characters of the echoed text.

    A token that begins before `start` counts where it reaches past it; what a server writes after `end`, though
    it was asked for nothing, does not.
    """
    if logprobs is None or not logprobs.token_logprobs or not logprobs.text_offset:
        raise RunStopped(f"{where} gives no log-probabilities for a prompt (echo): use model.method=generate.")
    begins = logprobs.text_offset
    ends = [*begins[1:], math.inf]
    spans = zip(logprobs.token_logprobs, begins, ends, strict=True)
    return float(sum(p for p, begin, stop in spans if stop > start and begin < end and p is not None))


def _response(reply: Any, text: str, seconds: float, finish_reason: str | None) -> Response:
    # Servers that cut by tokens send halves of characters: those become �.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Response(whole, None, _usage(reply), finish_reason or "", reply.model or "", seconds)


def _first_choice(reply: Any) -> Any:
    if not reply.choices:
        raise InvalidReplyError("the reply has no choices")
    return reply.choices[0]


def _usage(reply: Any) -> Usage:
    usage = getattr(reply, "usage", None)
    if usage is None:
        return Usage()
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    return Usage(
        input=usage.prompt_tokens,
        output=usage.completion_tokens,
        cached_input=getattr(prompt, "cached_tokens", None),
        reasoning=getattr(completion, "reasoning_tokens", None),
    )
