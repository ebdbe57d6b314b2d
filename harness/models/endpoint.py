"""A server that speaks the OpenAI protocol: its settings, its calls, and what its replies have in common."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from harness.errors import ConfigError
from harness.models import secrets
from harness.models.concurrent import answer_all
from harness.models.length import tokens_at_least
from harness.models.pace import Pace
from harness.models.protocol import Landing, unanswered
from harness.models.retry import InvalidReplyError, Policy
from harness.models.wire import Wire
from harness.types import JSON, ChatRequest, Failure, PairRequest, Request, Response, Transcript, Usage

Positive = Annotated[float, Field(gt=0)]

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
    context: Annotated[int, Field(gt=0)] | None = None
    max_concurrency: Annotated[int, Field(gt=0)] = 64
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeout: Positive = 600.0
    attempts: Annotated[int, Field(gt=0)] = 10
    max_wait: Positive = 120.0
    max_total_wait: Positive = 900.0
    price: Mapping[Literal["input", "output", "cached_input"], Annotated[float, Field(ge=0)] | None] | None = None

    def __post_init__(self) -> None:
        """Refuses what cannot be an address, settings that hold a key, and half a price."""
        secrets.refuse({f.name: getattr(self, f.name) for f in fields(self)}, self._key, self.api_key_env)
        address = urlsplit(self.base_url)
        if address.username or address.password or (not address.hostname and "@" in self.base_url):
            raise ConfigError(f"model.base_url holds credentials: give them as a key in {self.api_key_env}.")
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(f"model.base_url={self.base_url} is no address: write http://… or https://…")
        if address.query or address.fragment:
            raise ConfigError(
                f"model.base_url of {address.hostname} has a part after {'?' if address.query else '#'}, which the "
                f"calls' paths would break: leave it out. A key goes into {self.api_key_env}."
            )
        if owned := _OWNED & set(self.extra):
            raise ConfigError(
                f"model.extra cannot set {', '.join(sorted(owned))}: the prompt or a setting of its own does."
            )
        given = {name for name, usd in (self.price or {}).items() if usd is not None}
        if given and not {"input", "output"} <= given:
            raise ConfigError("model.price needs both input and output, in USD per million tokens.")

    def check_key(self) -> None:
        """Refuses to ask without a usable key. Raises ConfigError."""
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

    @property
    def draws(self) -> bool:
        """Whether a second answer to the same request can be another one; without a temperature the server's is 1."""
        return self.sampling().get("temperature") != 0

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

    def respond(self, requests: Iterable[Request]) -> Landing:
        """Calls in flight, answers as they land."""
        self.check_key()
        policy = Policy(
            self.base_url, attempts=self.attempts, max_wait=self.max_wait, max_total_wait=self.max_total_wait
        )
        pace = Pace(
            self.max_concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )
        wire = Wire(self.base_url, self._key, self.timeout, pace)

        async def call(request: Request) -> Response | Failure:
            if declined := self.declines(request):
                pace.landed()
                return declined
            tries, landed = 0, False

            async def attempt() -> Response | Failure:
                nonlocal tries, landed
                tries += 1
                # A call that waits for its retry is outside, and holds no slot.
                async with pace.turn(tokens=self._tokens(request), again=tries > 1):
                    outcome = await self._attempt(wire, pace, request)
                    pace.landed()
                    landed = True
                return outcome

            outcome = await policy.call(attempt)
            if not landed:
                pace.landed()
            return outcome

        return answer_all(requests, call, pace=pace, stopping=policy.stopping, close=wire.close)

    def _tokens(self, request: Request) -> float:
        """About how many tokens a request costs; only counted where tokens_per_minute is set."""
        if self.tokens_per_minute is None or isinstance(request, PairRequest):
            return 0.0
        said = sum(len(message.content) for message in request.messages) / 4
        return said + (request.max_tokens if isinstance(request, ChatRequest) else 0)

    def declines(self, request: Request) -> Failure | None:
        """Why a request is not worth sending: it, or the turns that will follow it, cannot fit the context."""
        if self.context is None or not isinstance(request, ChatRequest):
            return None
        texts = list(self.texts(unanswered(request.messages, request.ahead)))
        room = self.context - request.max_tokens
        # Few characters are few tokens: most requests need no counting.
        if sum(map(len, texts)) <= room or (least := sum(map(tokens_at_least, texts))) <= room:
            return None
        return Failure(
            "context_length",
            f"at least {least} tokens and {request.max_tokens} to write, the model takes {self.context} "
            "(model.context)",
        )

    @abstractmethod
    def texts(self, messages: Transcript) -> Iterable[str]:
        """What of a conversation the server splits into tokens, each text on its own."""

    async def _attempt(self, wire: Wire, pace: Pace, request: Request) -> Response | Failure:
        started = time.perf_counter()
        try:
            # A limit of our own: the transport's counts from the last byte, so a slow drip would pass it.
            async with asyncio.timeout(self.timeout):
                reply = await self.send(wire, request)
        except ValueError as error:
            raise InvalidReplyError(f"the reply is not JSON ({error})") from error
        except Exception as error:
            pace.failed(error)
            raise
        pace.succeeded()
        try:
            return self.read(reply, request, round(time.perf_counter() - started, 4))
        except (AttributeError, TypeError, IndexError, KeyError, ValueError) as error:
            raise InvalidReplyError(f"the reply is not of the API's form ({error})") from error

    @abstractmethod
    async def send(self, wire: Wire, request: Request) -> Any:
        """One call; the SDK's reply."""

    @abstractmethod
    def read(self, reply: Any, request: Request, seconds: float) -> Response | Failure:
        """What the reply says."""


def response(reply: Mapping[str, Any], text: str, seconds: float, finish_reason: str | None) -> Response:
    """A reply's text with what every reply tells besides."""
    # Servers that cut by tokens send halves of characters: those become �.
    whole = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Response(whole, None, usage_of(reply), finish_reason or "", reply.get("model") or "", seconds)


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of a reply. Raises InvalidReplyError where there is none."""
    if not reply.get("choices"):
        raise InvalidReplyError("the reply has no choices")
    choice: Mapping[str, Any] = reply["choices"][0]
    return choice


def usage_of(reply: Mapping[str, Any]) -> Usage:
    """The tokens that the server counted."""
    usage = reply.get("usage") or {}
    prompt, completion = (usage.get(f"{part}_tokens_details") or {} for part in ("prompt", "completion"))
    return Usage(
        input=usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        cached_input=prompt.get("cached_tokens"),
        reasoning=completion.get("reasoning_tokens"),
        cache_write=prompt.get("cache_write_tokens"),
    )
