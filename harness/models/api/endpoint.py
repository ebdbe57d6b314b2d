"""A server that answers for a model: its settings, and what chat and completions have in common."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from harness.errors import ConfigError
from harness.models.api.families import Family, Limit, Provider, check_address, family_of, provider_of
from harness.models.api.ranking import ranked
from harness.models.api.replies import ended, first_choice, name_of, one_line, response, usage_of
from harness.protocols import Outcomes, Traits
from harness.runtime import secrets
from harness.types import JSON, ChatRequest, ChoiceRequest, Failure, Means, Request, Response

if TYPE_CHECKING:
    import httpx2

CONTEXT_FULL = (
    "the reply ended before its limit: the server's context is full. The server has its size (num_ctx of Ollama, "
    "--ctx-size of llama.cpp, --max-model-len of vLLM)"
)
Positive = Annotated[float, Field(gt=0)]


def _batch(value: object) -> object:
    """Return what stands for model.batch=true and false: no settings, and no batches."""
    return {True: {}, False: None}[value] if isinstance(value, bool) else value


_OWNED = {
    *("model", "messages", "prompt", "max_tokens", "max_completion_tokens", "stop", "seed", "n", "stream"),
    *("logprobs", "top_logprobs"),
}
"""Parameters that a request or another setting owns: `extra` must not repeat them."""


@dataclass(frozen=True, kw_only=True)
class Endpoint(ABC):
    """What chat and completions have in common; configs/model/openai.yaml says what each setting means."""

    name: str
    model: str
    base_url: Annotated[str, BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value)]
    method: Literal["generate", "rank"] = "generate"
    api_key_env: str | None = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0)] | None = 0.0
    seed: Annotated[int, Field(strict=True)] | Literal["auto"] | None = "auto"
    extra: Mapping[str, Any] = field(default_factory=dict)
    max_concurrency: Annotated[int, Field(gt=0)] = 64
    requests_per_minute: Positive | None = None
    timeout: Positive = 600.0
    attempts: Annotated[int, Field(gt=0)] = 10
    max_wait: Positive = 600.0
    price: Mapping[Literal["input", "output", "cached_input"], Annotated[float, Field(ge=0)] | None] | None = None
    batch: Annotated[Mapping[str, Any] | None, BeforeValidator(_batch)] = None

    kind: ClassVar[str]
    """The name of the API's form in a model's identity."""
    cannot: ClassVar[Mapping[str, str]] = {}
    """What the API lacks (`rank`, `seed`), each with a sentence for the user."""

    def __post_init__(self) -> None:
        """Raise ConfigError for what cannot be an address, settings that hold a key, and half a price."""
        variable = self.api_key_env or "OPENAI_API_KEY"
        secrets.refuse({f.name: getattr(self, f.name) for f in fields(self)}, self.key, variable)
        check_address(self.base_url, variable)
        if owned := _OWNED & set(self.extra):
            raise ConfigError(
                f"model.extra cannot set {', '.join(sorted(owned))}: the prompt or a setting of its own does."
            )
        priced = {name for name, usd in (self.price or {}).items() if usd is not None}
        if priced and not {"input", "output"} <= priced:
            raise ConfigError("model.price needs both input and output, in USD per million tokens.")

    def check_key(self) -> None:
        """Raise ConfigError if there is no usable key."""
        if not self.key:
            raise ConfigError(
                f"no API key for {self.base_url}: set the environment variable {self.api_key_env} "
                f"(export {self.api_key_env}=…), or say model.api_key_env=null if this server asks for none."
            )
        if not self.key.isascii() or not self.key.isprintable():
            raise ConfigError(f"the key in {self.api_key_env} holds characters that no key has: set it again.")

    @property
    def key(self) -> str:
        """The key, never shown nor stored; for a server that wants none, the word "none"."""
        return "none" if self.api_key_env is None else os.environ.get(self.api_key_env, "").strip()

    @property
    def traits(self) -> Traits:
        # Where no temperature is sent, servers take 1.
        varies = self.sampling().get("temperature") != 0
        return Traits(role="model", varies=varies, service=self, ranks=self.method == "rank")

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        return (ChoiceRequest, ChatRequest) if self.method == "rank" else (ChatRequest,)

    @property
    def room_to_think(self) -> int:
        """Tokens for a model's thoughts, on top of those for its answer."""
        return 0

    @property
    def limit(self) -> Limit:
        return "max_tokens"

    @property
    def means(self) -> Means | None:
        """How replies are restricted to a prompt's choices; None if they cannot be."""
        return None

    @property
    def batch_window(self) -> str | None:
        """The time within which a batch is answered, such as 24h; None without batches."""
        return None if self.batch is None else str(self.batch.get("window", "24h"))

    @property
    def discount(self) -> float:
        return 1.0 if self.batch is None else float(self.batch.get("discount", 0.5))

    @property
    def tier(self) -> str | None:
        tier = self.extra.get("service_tier")
        return tier if isinstance(tier, str) else None

    def sampling(self) -> dict[str, JSON]:
        """Return the sampling parameters to send, without those that are None."""
        parameters = {"temperature": self.temperature, **self.extra}
        return {name: value for name, value in parameters.items() if value is not None}

    def draw(self, sample: int) -> dict[str, int]:
        """Return the seed parameter for a sample; samples of one request get different seeds."""
        seed = self.seed_sent
        if seed is None or sample == 0:
            return {} if seed is None else {"seed": seed}
        return {"seed": int.from_bytes(hashlib.sha256(f"{seed}/{sample}".encode()).digest()[:4], "big") >> 1}

    @property
    def family(self) -> Family:
        return family_of(self.model)

    @property
    def provider(self) -> Provider:
        return provider_of(self.base_url)

    @property
    def seed_sent(self) -> int | None:
        """The seed as set; for auto, 0 if model and server are known to understand a seed, else None."""
        if self.seed != "auto":
            return self.seed
        understood = self.provider.seed and self.family.seed is not False and "seed" not in self.cannot
        return 0 if understood else None

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the answers depend on."""
        return {
            "kind": self.kind,
            "endpoint": self.base_url.rstrip("/"),
            "model": self.model,
            "seed": self.seed_sent,
            "sampling": self.sampling(),
        }

    @abstractmethod
    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Call many at once; yield the answers that arrived together, as they arrive."""

    def sdk(self, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client. Raises ConfigError where it is not installed."""
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=self.key, base_url=self.base_url, max_retries=0, timeout=http.timeout, http_client=http
        )

    async def sent(self, sdk: Any, request: Request) -> httpx2.Response:
        """Send the one call that answers a request, by the SDK's client; the SDK reads none of the reply."""
        import httpx2

        path, body = self.call(request)  # some gateways stream unless they are told not to
        response: httpx2.Response = await sdk.post(path, body={**body, "stream": False}, cast_to=httpx2.Response)
        return response

    def completion(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return the provider's own reply as a completion."""
        return reply

    def end(self, reply: Mapping[str, Any], request: Request, reason: object) -> object:
        """Return why a reply ended: by its limit, whatever the server says, or before it, as the context was full."""
        usage = usage_of(reply)
        if not isinstance(request, ChatRequest) or usage.output is None:
            return reason
        most, written = request.max_tokens + self.room_to_think, usage.output - (usage.reasoning or 0)
        if ended(reason) == "complete" and written >= most and request.form is None and not self.family.reasoning:
            return "length"
        return CONTEXT_FULL if name_of(reason) == "length" and usage.output < most else reason

    @abstractmethod
    def call(self, request: Request) -> tuple[str, dict[str, JSON]]:
        """Return the one call that answers a request: its path below base_url, and its body."""

    def read(self, reply: Mapping[str, Any], request: Request, seconds: float) -> Response | Failure:
        """Return the answer in a reply, or a Failure for a refusal. Raises InvalidReplyError if it holds none."""
        choice = first_choice(reply)
        reason = choice.get("finish_reason")
        if ended(reason) == "refused":
            return Failure("content_filter", f"the server withheld the reply ({reason})")
        text, thoughts, refusal = self.content_of(choice, request)
        if isinstance(request, ChoiceRequest):
            plain = response(reply, text, seconds, reason, thoughts)
            return ranked(choice, request.choices, plain, self.base_url, self.model)
        if not text and refusal:
            return Failure("refusal", one_line(refusal))
        reason = self.end(reply, request, reason)
        if not text and not thoughts and reason == CONTEXT_FULL:
            return Failure("context_length", CONTEXT_FULL)
        return response(reply, text, seconds, reason, thoughts)

    @abstractmethod
    def content_of(self, choice: Mapping[str, Any], request: Request) -> tuple[str, str, str]:
        """Return text, thoughts and refusal in a reply's choice. Raises InvalidReplyError without a text."""
