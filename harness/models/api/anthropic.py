"""Claude by Anthropic's Messages and SDK (pip install -e '.[anthropic]'): a chat completion is translated.

sources: https://platform.claude.com/docs/en/api/messages/create, …/build-with-claude/handling-stop-reasons,
…/build-with-claude/structured-outputs, …/build-with-claude/effort, …/api/errors (2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from harness.codec import token_count
from harness.errors import ConfigError
from harness.models.api.openai import Chat
from harness.types import JSON, Request, ended

if TYPE_CHECKING:
    import httpx2

_FINISH = {"complete": "stop", "cut off": "max_tokens", "tool call": "tool_calls"}


@dataclass(frozen=True, kw_only=True)
class Messages(Chat):
    """Messages in, one message out."""

    constrain: Literal["json_schema"] | None = "json_schema"

    kind: ClassVar[str] = "anthropic.messages"
    cannot: ClassVar[Mapping[str, str]] = {
        "rank": "Anthropic gives no log-probabilities: use model.method=generate (with answer=choice it writes one of "
        "the choices).",
        "seed": "Anthropic takes no seed: leave model.seed out.",
    }

    def sdk(self, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client. Raises ConfigError without the SDK."""
        try:
            from anthropic import AsyncAnthropic
        except ImportError:
            raise ConfigError("Anthropic's own API needs its SDK: pip install -e '.[anthropic]'.") from None
        base_url = self.base_url.rstrip("/").removesuffix("/v1")
        return AsyncAnthropic(
            api_key=self.key, base_url=base_url, max_retries=0, timeout=http.timeout, http_client=http
        )

    def completion(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a message as a completion."""
        return completion(reply)

    def call(self, request: Request) -> tuple[str, dict[str, JSON]]:
        """Return the path and the parameters of a message."""
        return "/v1/messages", _message(super().call(request)[1])


def _message(body: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the parameters of a message: system messages are separate, and a limit is always sent."""
    params = dict(body)
    messages, form, effort = (params.pop(name, None) for name in ("messages", "response_format", "reasoning_effort"))
    params["max_tokens"] = params.pop("max_completion_tokens", None) or params.pop("max_tokens")
    params["messages"] = [message for message in messages if message["role"] != "system"]
    if system := [message["content"] for message in messages if message["role"] == "system"]:
        params["system"] = "\n".join(system)
    if stops := [text for text in params.pop("stop", ()) if text.strip()]:
        params["stop_sequences"] = stops
    if "temperature" in params:
        params["temperature"] = min(params["temperature"], 1)
    output: dict[str, Any] = {"effort": effort} if effort and effort != "none" else {}
    if effort == "none":
        params["thinking"] = {"type": "disabled"}
    if form:
        output["format"] = {"type": "json_schema", "schema": form["json_schema"]["schema"]}
    if output:
        params["output_config"] = {**params.get("output_config", {}), **output}
    return params


def completion(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as a completion, whose content has the message's blocks as parts: texts and thoughts."""
    if message.get("type") == "error" or "error" in message:
        return dict(message)
    reason, content = message.get("stop_reason"), message.get("content")
    completed: dict[str, Any] = {"role": "assistant", "content": content}
    finish = _FINISH.get(ended(reason), reason) if isinstance(reason, str) else None
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    if reason == "refusal":  # by a filter of the server's, which may break off in the middle of a reply
        details = message.get("stop_details")
        words = details.get("explanation") if isinstance(details, dict) else None
        completed = {"role": "assistant", "content": None, "refusal": words or "the server ended the reply (refusal)"}
        finish = "stop"
    elif reason == "model_context_window_exceeded" and not any(texts):
        finish = reason  # the prompt alone was too long
    return {
        "model": message.get("model"),
        "choices": [{"message": completed, "finish_reason": finish}] if "content" in message else [],
        "usage": _usage(message.get("usage")),
    }


def _usage(usage: Any) -> dict[str, Any] | None:
    """Return the counts by OpenAI's names, whose prompt tokens include those read from a cache and written to one."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("output_tokens_details")
    thoughts = details.get("thinking_tokens") if isinstance(details, dict) else None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, read, written = (token_count(usage.get(name)) for name in names)
    return {
        "prompt_tokens": None if fresh is None else fresh + (read or 0) + (written or 0),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }
