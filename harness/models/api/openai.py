"""The two kinds of endpoints, chat completions (also of Azure's deployments) and the older completions of a text."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.models.api.endpoint import Endpoint
from harness.models.api.families import Family, Limit, family_of
from harness.models.api.replies import InvalidReplyError, refusal_of, text_of, thoughts_of, whole
from harness.protocols import Outcomes, as_text
from harness.types import JSON, AnswerForm, ChatRequest, ChoiceRequest, Means, PairRequest, Request

if TYPE_CHECKING:
    import httpx2

FORM = "answer"
"""What the schema of a reply, or the tool in its place, and its field are called."""
_FORMS = {"response_format", "structured_outputs", "guided_choice", "regex", "grammar", "tools", "tool_choice"}
"""Parameters that hold a reply to a form. If model.extra has one of them, ours would contradict it."""
ENTRA_TOKEN, _ENTRA_SCOPE = "AZURE_OPENAI_AD_TOKEN", "https://cognitiveservices.azure.com/.default"
TopLogprobs = Annotated[int, Field(ge=1, le=1000)]


def _respond(endpoint: Endpoint, requests: Iterable[Request]) -> Generator[Outcomes]:
    from harness.models.api.calls import respond  # imports asyncio, which a run from the cache does not need

    return respond(endpoint, requests)


@dataclass(frozen=True, kw_only=True)
class Chat(Endpoint):
    """Messages in, one message out; or the probabilities of its first token."""

    top_logprobs: TopLogprobs = 20
    constrain: Literal["json_schema", "tool"] | None = "json_schema"
    reasoning: bool | None = None
    reasoning_effort: str | None = None
    reasoning_tokens: Annotated[int, Field(ge=0)] = 8192

    respond = _respond

    kind: ClassVar[str] = "openai.chat"

    def __post_init__(self) -> None:
        """Raise ConfigError for settings that the API, a reasoning model or a ranking does not take."""
        super().__post_init__()
        if self.method == "rank" and "rank" in self.cannot:
            raise ConfigError(f"model.method=rank: {self.cannot['rank']}")
        if isinstance(self.seed, int) and "seed" in self.cannot:
            raise ConfigError(f"model.seed={self.seed}: {self.cannot['seed']}")
        if self.family.temperature == "refused" and self.temperature:
            raise ConfigError(
                f"{self.model} is a reasoning model, which takes no temperature: leave it out, or set "
                "model.reasoning=false if it is not one."
            )
        if self.method == "rank" and self.family.reasoning and self.reasoning_effort != "none":
            raise ConfigError(
                f"model.method=rank: {self.model} is a reasoning model, whose first token is not its answer, and "
                "whose server gives no probabilities: use model.method=generate (with answer=choice it writes one of "
                "the choices). Set model.reasoning_effort=none where the model can leave thinking out, or "
                "model.reasoning=false if it is not one."
            )
        if self.method == "rank" and self.temperature not in (None, 0, 1):
            raise ConfigError(
                "model.method=rank reads the model's own probabilities, and draws nothing: some servers give them as "
                f"changed by model.temperature={self.temperature}. Leave it out."
            )

    @property
    def means(self) -> Means | None:
        """How replies are restricted to choices; None if `extra` restricts them already."""
        return None if _FORMS & set(self.extra) else self.constrain

    @property
    def family(self) -> Family:
        """What the model takes: by its name, unless model.reasoning overrules that."""
        named = super().family
        if self.reasoning is None or self.reasoning == named.reasoning:
            return named
        if not self.reasoning:
            return replace(Family(), seed=named.seed)
        alike = family_of(self.provider.thinks_like) if named == Family() and self.provider.thinks_like else named
        return replace(alike, reasoning=True)

    @property
    def room_to_think(self) -> int:
        return self.reasoning_tokens if self._thoughts_count else 0

    @property
    def _thoughts_count(self) -> bool:
        return self.family.reasoning and self.family.thoughts_counted

    @property
    def limit(self) -> Limit:
        return self.provider.limit or self.family.limit

    @property
    def identity(self) -> Mapping[str, JSON]:
        thoughts = {"reasoning_tokens": self.reasoning_tokens} if self._thoughts_count else {}
        ranking = {"rank": "next token", "top_logprobs": self.top_logprobs} if self.method == "rank" else {}
        return {**super().identity, **thoughts, **ranking}

    def sampling(self) -> dict[str, JSON]:
        """Return the sampling parameters, without the temperature if the model refuses it."""
        parameters = super().sampling()
        if self.family.temperature == "refused":
            parameters.pop("temperature", None)
        return parameters | ({"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {})

    def call(self, request: Request) -> tuple[str, dict[str, JSON]]:
        """Return the path and the body of a chat completion."""
        assert not isinstance(request, PairRequest)
        messages = [{"role": m.role, "content": whole(m.content)} for m in request.messages]
        parameters: dict[str, JSON] = {"model": self.model, "messages": messages, **self.sampling()}
        if isinstance(request, ChoiceRequest):
            parameters |= {self.limit: 1, "logprobs": True, "top_logprobs": self.top_logprobs, **self.draw(0)}
            return "/chat/completions", parameters
        parameters |= self.draw(request.sample)
        parameters[self.limit] = request.max_tokens + self.room_to_think
        if request.stop and self.family.stop == "sent":
            parameters["stop"] = list(request.stop)
        if request.form is not None:
            parameters |= _held(request.form)
        return "/chat/completions", parameters

    def content_of(self, choice: Mapping[str, Any], request: Request) -> tuple[str, str, str]:
        message = choice.get("message")
        if not isinstance(message, dict):
            raise InvalidReplyError("the reply's choice has no message")
        text = text_of(message.get("content"), "the content")
        if isinstance(request, ChatRequest) and request.form is not None and request.form.means == "tool":
            text = _arguments_of(message) or text
        return text, thoughts_of(message) or thoughts_of(choice), "" if text else refusal_of(message)


def _held(form: AnswerForm) -> dict[str, JSON]:
    """Return the parameters that hold a reply to a form. Models write the members in order: the reasoning is first."""
    members: dict[str, JSON] = {"reasoning": {"type": "string"}} if form.reasoning else {}
    members[FORM] = {"type": "string", "enum": list(form.choices)}
    schema: JSON = {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
    if form.means == "json_schema":
        return {"response_format": {"type": form.means, form.means: {"name": FORM, "strict": True, "schema": schema}}}
    function: JSON = {"name": FORM, "description": "Give the answer.", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": FORM}},
    }


def _arguments_of(message: Mapping[str, Any]) -> str:
    """Return the arguments of a message's tool call, as JSON; "" without one. Raises InvalidReplyError without them."""
    if not (calls := message.get("tool_calls")):
        return ""
    try:
        arguments = calls[0]["function"]["arguments"]
    except (LookupError, TypeError):
        arguments = None
    if not isinstance(arguments, str):
        raise InvalidReplyError("the reply's call of a tool has no arguments")
    return arguments


@dataclass(frozen=True, kw_only=True)
class Azure(Chat):
    """Chat completions of a deployment of Azure's: by its v1 API, or with `api_version` by the older one."""

    api_version: str | None = None

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {**super().identity, **({"api_version": self.api_version} if self.api_version else {})}

    @property
    def key(self) -> str:
        return super().key or os.environ.get(ENTRA_TOKEN, "").strip()

    def check_key(self) -> None:
        """Raise ConfigError where there is neither a key nor a token, nor azure-identity to get one."""
        if self.key or find_spec("azure") is None or find_spec("azure.identity") is None:
            super().check_key()

    def sdk(self, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client; Entra tokens come of the environment, a managed identity or `az login`."""
        from openai import AsyncAzureOpenAI, AsyncOpenAI

        credential: Any = self.key
        if not credential:
            from azure.identity import aio

            credential = aio.get_bearer_token_provider(aio.DefaultAzureCredential(), _ENTRA_SCOPE)
        options: dict[str, Any] = {"max_retries": 0, "timeout": http.timeout, "http_client": http}
        if self.api_version is None:
            return AsyncOpenAI(api_key=credential, base_url=self.base_url, **options)
        root = self.base_url.rstrip("/").removesuffix("/v1").removesuffix("/openai")
        way = "api_key" if super().key else "azure_ad_token" if self.key else "azure_ad_token_provider"
        options |= {way: credential, "azure_endpoint": root, "api_version": self.api_version}
        return AsyncAzureOpenAI(**options)


@dataclass(frozen=True, kw_only=True)
class Completions(Endpoint):
    """The completions endpoint: text in, text out; or ranking, if the server gives log-probabilities."""

    top_logprobs: TopLogprobs = 5

    respond = _respond

    kind: ClassVar[str] = "openai.completions"

    @property
    def identity(self) -> Mapping[str, JSON]:
        ranking = {"rank": "next token", "top_logprobs": self.top_logprobs, "several_tokens": "echo"}
        return {**super().identity, **(ranking if self.method == "rank" else {})}

    def call(self, request: Request) -> tuple[str, dict[str, JSON]]:
        """Return the path and the body of a completion. Raises ConfigError for a ranking of several words."""
        assert not isinstance(request, PairRequest)
        if isinstance(request, ChoiceRequest) and any(len(choice.split()) != 1 for choice in request.choices):
            raise ConfigError(
                f"{self.name} ranks by the next token, and choices of several words begin alike: set "
                "model.method=generate, or rank them by a model on this machine."
            )
        prompt = whole(as_text(request.messages))
        parameters: dict[str, JSON] = {"model": self.model, "prompt": prompt, **self.sampling()}
        if isinstance(request, ChoiceRequest):
            return "/completions", parameters | {"max_tokens": 1, "logprobs": self.top_logprobs, **self.draw(0)}
        parameters |= {"max_tokens": request.max_tokens, **self.draw(request.sample)}
        if request.stop:
            parameters["stop"] = list(request.stop)
        return "/completions", parameters

    def content_of(self, choice: Mapping[str, Any], request: Request) -> tuple[str, str, str]:
        if not isinstance(choice.get("text"), str):  # parts are the chat endpoint's
            raise InvalidReplyError("the reply's choice has no text")
        return choice["text"], thoughts_of(choice), ""
