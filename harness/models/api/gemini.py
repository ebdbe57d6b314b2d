"""Gemini by generateContent and Google's SDK (pip install -e '.[gemini]'): a chat completion is translated.

sources: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thinking,
https://ai.google.dev/gemini-api/docs/structured-output (2026-11-22)
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

_CONFIG = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens", "seed": "seed",
           "max_completion_tokens": "maxOutputTokens", "stop": "stopSequences", "top_logprobs": "logprobs",
           "logprobs": "responseLogprobs", "presence_penalty": "presencePenalty",
           "frequency_penalty": "frequencyPenalty"}  # fmt: skip
"""Parameters of a completion, and their names in generationConfig."""
_FAILED = ("OTHER", "MALFORMED_RESPONSE")
_FINISH = {"complete": "stop", "cut off": "max_tokens", "refused": "content_filter", "tool call": "tool_calls"}


@dataclass(frozen=True, kw_only=True)
class GenerateContent(Chat):
    """Messages in, one message out; or the probabilities of its first token."""

    constrain: Literal["json_schema"] | None = "json_schema"

    kind: ClassVar[str] = "gemini.generate_content"

    def sdk(self, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client. Raises ConfigError without the SDK."""
        try:
            from google import genai
        except ImportError:
            raise ConfigError("Gemini's own API needs Google's SDK: pip install -e '.[gemini]'.") from None
        base_url, _, version = self.base_url.rstrip("/").rpartition("/")
        options: Any = {"base_url": base_url, "api_version": version, "httpx_async_client": http, "retry_options": None}
        return genai.Client(api_key=self.key, vertexai=False, http_options=options)

    async def sent(self, sdk: Any, request: Request) -> httpx2.Response:
        """Send a call; the SDK hands out what came, and reads none of it."""
        import httpx2

        name, body = self.call(request)
        rest = {part: value for part, value in body.items() if part != "contents"}
        options: Any = {"extra_body": rest, "timeout": int(1000 * self.timeout)}
        config = {"should_return_http_response": True, "automatic_continuation": False, "http_options": options}
        reply = await sdk.aio.models.generate_content(model=name, contents=body["contents"], config=config)
        headers, content = reply.sdk_http_response.headers, reply.sdk_http_response.body or ""
        asked = httpx2.Request("POST", f"{self.base_url.rstrip('/')}/models/{name}:generateContent")
        return httpx2.Response(200, headers=headers, content=content.encode(), request=asked)

    def completion(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return a reply as a completion."""
        return completion(reply)

    def call(self, request: Request) -> tuple[str, dict[str, JSON]]:
        """Return the model's name, which is the path, and the body of a call."""
        return self.model.removeprefix("models/"), _content(super().call(request)[1])


def _content(body: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the body of a call: sampling stands in a configuration of its own."""
    config = {_CONFIG[name]: value for name, value in body.items() if name in _CONFIG}
    if form := body.get("response_format"):
        config |= {"responseMimeType": "application/json", "responseJsonSchema": form["json_schema"]["schema"]}
    if effort := body.get("reasoning_effort"):
        config["thinkingConfig"] = {"thinkingBudget": 0} if effort == "none" else {"thinkingLevel": effort}
    translated = {*_CONFIG, "model", "messages", "response_format", "reasoning_effort", "generationConfig"}
    own: dict[str, Any] = {name: value for name, value in body.items() if name not in translated}
    own["contents"] = [
        {"role": "model" if message["role"] == "assistant" else "user", "parts": [{"text": message["content"]}]}
        for message in body["messages"]
        if message["role"] != "system"
    ]
    if system := [{"text": message["content"]} for message in body["messages"] if message["role"] == "system"]:
        own["systemInstruction"] = {"parts": system}
    own["generationConfig"] = config | dict(body.get("generationConfig", {}))
    return own


def completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply as a completion. A blocked prompt, which has no candidate, ends with content_filter."""
    if "error" in reply:
        return dict(reply)
    candidates, feedback = reply.get("candidates"), reply.get("promptFeedback")
    candidate = candidates[0] if isinstance(candidates, list) and candidates else None
    choices: list[dict[str, Any]] = []
    if isinstance(candidate, dict):
        reason = candidate.get("finishReason")
        finish = "error" if reason in _FAILED else _FINISH[ended(reason)] if isinstance(reason, str) else None
        choices = [{"message": _message(candidate.get("content")), "finish_reason": finish}]
        if isinstance(logprobs := candidate.get("logprobsResult"), dict):
            choices[0]["logprobs"] = {"content": _first_place(logprobs)}
    elif isinstance(feedback, dict) and feedback.get("blockReason"):
        choices = [{"message": {"content": None}, "finish_reason": "content_filter"}]
    return {"model": reply.get("modelVersion"), "choices": choices, "usage": _usage(reply.get("usageMetadata"))}


def _message(content: Any) -> dict[str, Any]:
    """Return a message, with parts that are thoughts (sent if includeThoughts asks for them) beside its content."""
    parts = content.get("parts") if isinstance(content, dict) else None
    rows = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [{"type": "text", "text": row["text"]} for row in rows if "text" in row and not row.get("thought")]
    thoughts = [row.get("text") for row in rows if row.get("thought")]
    return {"role": "assistant", "content": texts or None, "reasoning": thoughts or None}


def _first_place(logprobs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the likeliest tokens of the first place, and the chosen one, by OpenAI's names."""
    top, chosen = (
        rows[0] if isinstance(rows := logprobs.get(name), list) and rows and isinstance(rows[0], dict) else {}
        for name in ("topCandidates", "chosenCandidates")
    )
    candidates = top.get("candidates")
    entries = [_entry(row) for row in candidates if isinstance(row, dict)] if isinstance(candidates, list) else []
    return [{**_entry(chosen), "top_logprobs": entries}]


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"token": row.get("token"), "logprob": row.get("logProbability")}


def _usage(usage: Any) -> dict[str, Any] | None:
    """Return the counts by OpenAI's names, whose completion tokens include the thoughts."""
    if not isinstance(usage, dict):
        return None
    thoughts, written = token_count(usage.get("thoughtsTokenCount")), token_count(usage.get("candidatesTokenCount"))
    return {
        "prompt_tokens": usage.get("promptTokenCount"),
        "completion_tokens": None if written is thoughts is None else (written or 0) + (thoughts or 0),
        "prompt_tokens_details": {"cached_tokens": usage.get("cachedContentTokenCount")},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }
