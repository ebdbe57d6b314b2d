"""Any OpenAI-compatible server: chat completions, and the older completions endpoint."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    timeout: Positive = 120.0
    attempts: Annotated[int, Field(gt=0)] = 10
    max_wait: Positive = 120.0

    def __post_init__(self) -> None:
        """Refuses to start without a key."""
        if not os.environ.get(self.api_key_env):
            raise ConfigError(
                f"no API key: set the environment variable {self.api_key_env} (export {self.api_key_env}=…; any "
                f"text will do for a local server that asks for none). It is for {self.base_url}."
            )

    def sent(self) -> dict[str, JSON]:
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
        return {"kind": kind, "endpoint": where, "model": self.model, "seed": self.seed, "sampling": self.sent()}

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """Calls in flight, answers as they land."""
        import openai

        http = openai.DefaultAioHttpClient(timeout=self.timeout)
        client = openai.AsyncOpenAI(
            api_key=os.environ[self.api_key_env], base_url=self.base_url, max_retries=0, http_client=http
        )
        policy = Policy(self.base_url, attempts=self.attempts, max_wait=self.max_wait)

        async def call(request: Request) -> Response | Failure:
            async def attempt() -> Response | Failure:
                started = time.perf_counter()
                try:
                    # Whole-call limit: the SDK's own timeout is per read, so a slow drip would pass it.
                    async with asyncio.timeout(self.timeout * 2):
                        return await self.ask(client, request, started)
                except (AttributeError, TypeError, IndexError, KeyError, ValueError) as error:
                    raise InvalidReplyError(f"the reply is not of the API's form ({error})") from error

            return await policy.call(attempt)

        yield from answer_all(
            requests, call, max_concurrency=self.max_concurrency, stopping=policy.stopping, close=client.close
        )

    @abstractmethod
    async def ask(self, client: AsyncOpenAI, request: Request, started: float) -> Response | Failure:
        """One attempt."""


@dataclass(frozen=True, kw_only=True)
class Chat(Endpoint):
    """Chat completions: messages in, one message out."""

    reasoning: bool | None = None
    reasoning_effort: str | None = None
    reasoning_tokens: Annotated[int, Field(ge=0)] = 8192

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
        return self._identity("openai.chat")

    def sent(self) -> dict[str, JSON]:
        """For a reasoning model neither temperature nor top_p, which it refuses."""
        given = super().sent()
        if not self.reasons:
            return given
        kept = {name: value for name, value in given.items() if name not in ("temperature", "top_p")}
        effort = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        return kept | effort | {"reasoning_tokens": self.reasoning_tokens}

    async def ask(self, client: AsyncOpenAI, request: Request, started: float) -> Response | Failure:
        """One chat completion."""
        assert isinstance(request, ChatRequest)
        parameters = {**self.sent(), **self.draw(request.sample)}
        allowance = int(parameters.pop("reasoning_tokens", 0) or 0)
        if self.reasons:
            parameters["max_completion_tokens"] = request.max_tokens + allowance
        else:
            parameters["max_tokens"] = request.max_tokens
            if request.stop:
                parameters["stop"] = list(request.stop)
        body: Any = await client.chat.completions.create(
            model=self.model,
            messages=[{"role": m.role, "content": m.content} for m in request.messages],  # type: ignore[misc]
            extra_body=parameters,
        )
        choice = _first_choice(body)
        if choice.finish_reason == "content_filter":
            return Failure("content_filter", "the server withheld the reply")
        if getattr(choice.message, "refusal", None) and not choice.message.content:
            return Failure("refusal", choice.message.refusal)
        return Response(
            text=_whole(choice.message.content or ""),
            usage=_usage(body),
            finish_reason=choice.finish_reason or "",
            served_model=body.model or "",
            seconds=round(time.perf_counter() - started, 4),
        )


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

    async def ask(self, client: AsyncOpenAI, request: Request, started: float) -> Response | Failure:
        """One completion, or one scored continuation for each choice."""
        assert not isinstance(request, PairRequest)
        prompt = as_text(request.messages)
        if isinstance(request, ChoiceRequest):
            return await self._rank(client, request, prompt, started)
        body: Any = await client.completions.create(
            model=self.model,
            prompt=prompt,
            max_tokens=request.max_tokens,
            stop=list(request.stop) or None,
            extra_body={**self.sent(), **self.draw(request.sample)},
        )
        choice = _first_choice(body)
        return Response(
            text=_whole(choice.text),
            usage=_usage(body),
            finish_reason=choice.finish_reason or "",
            served_model=body.model or "",
            seconds=round(time.perf_counter() - started, 4),
        )

    async def _rank(self, client: AsyncOpenAI, request: ChoiceRequest, prompt: str, started: float) -> Response:
        """The log-probability of each choice after the prompt, from the echoed prompt's tokens."""
        bodies: list[Any] = await asyncio.gather(
            *(
                client.completions.create(
                    model=self.model, prompt=f"{prompt} {choice}", max_tokens=0, echo=True, logprobs=1
                )
                for choice in request.choices
            )
        )
        logprobs = {
            choice: _continuation(_first_choice(body).logprobs, len(prompt), self.base_url)
            for choice, body in zip(request.choices, bodies, strict=True)
        }
        return Response(
            text=max(logprobs, key=lambda choice: logprobs[choice]),
            logprobs=logprobs,
            usage=Usage(input=sum(body.usage.prompt_tokens for body in bodies if body.usage), output=0),
            finish_reason="stop",
            served_model=bodies[0].model or "",
            seconds=round(time.perf_counter() - started, 4),
        )


def _continuation(logprobs: Any, length: int, where: str) -> float:
    """The summed log-probability of the tokens that end after the prompt's last character."""
    if logprobs is None or not logprobs.token_logprobs or not logprobs.text_offset:
        raise RunStopped(f"{where} gives no log-probabilities for a prompt (echo): use model.method=generate.")
    ends = [*logprobs.text_offset[1:], float("inf")]
    return float(sum(p for p, end in zip(logprobs.token_logprobs, ends, strict=True) if end > length and p is not None))


def _whole(text: str) -> str:
    """The text with halves of characters (which servers send that cut by tokens) replaced by �."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _first_choice(body: Any) -> Any:
    if not body.choices:
        raise InvalidReplyError("the reply has no choices")
    return body.choices[0]


def _usage(body: Any) -> Usage:
    usage = getattr(body, "usage", None)
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
