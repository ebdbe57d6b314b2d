"""Gemini's generateContent.

sources: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thinking,
https://ai.google.dev/gemini-api/docs/structured-output (2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from harness.codec import token_count
from harness.models.api.dialects import Dialect
from harness.types import JSON

_CONFIG = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens", "seed": "seed",
           "max_completion_tokens": "maxOutputTokens", "stop": "stopSequences", "top_logprobs": "logprobs",
           "logprobs": "responseLogprobs", "presence_penalty": "presencePenalty",
           "frequency_penalty": "frequencyPenalty"}  # fmt: skip
"""Parameters of a completion, and their names in generationConfig."""
_FINISH = {"STOP": "stop", "MAX_TOKENS": "length",
           **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "content_filter"),
           **dict.fromkeys(("OTHER", "MALFORMED_RESPONSE"), "error")}  # fmt: skip


def _call(path: str, body: Mapping[str, Any]) -> tuple[str, dict[str, JSON]]:
    """Return path and body: the model is in the path, sampling in a configuration of its own."""
    config = {_CONFIG[name]: value for name, value in body.items() if name in _CONFIG}
    if form := body.get("response_format"):
        config |= {
            "responseMimeType": "application/json",
            "responseJsonSchema": form.get("json_schema", {}).get("schema"),
        }
    if effort := body.get("reasoning_effort"):
        config["thinkingConfig"] = {"thinkingBudget": 0} if effort == "none" else {"thinkingLevel": effort}
    translated = {*_CONFIG, "model", "messages", "response_format", "reasoning_effort", "generationConfig"}
    own: dict[str, Any] = {name: value for name, value in body.items() if name not in translated}
    own["contents"] = [
        {"role": "model" if message["role"] == "assistant" else "user", "parts": [{"text": message["content"]}]}
        for message in body["messages"]
        if message["role"] not in ("system", "developer")
    ]
    if system := [{"text": m["content"]} for m in body["messages"] if m["role"] in ("system", "developer")]:
        own["systemInstruction"] = {"parts": system}
    own["generationConfig"] = config | dict(body.get("generationConfig", {}))
    return f"/models/{quote(str(body['model']).removeprefix('models/'), safe='')}:generateContent", own


def _reply(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply as a completion. A blocked prompt, which has no candidate, ends with content_filter."""
    if "error" in reply:
        return dict(reply)
    candidates, feedback = reply.get("candidates"), reply.get("promptFeedback")
    candidate = candidates[0] if isinstance(candidates, list) and candidates else None
    choices: list[dict[str, Any]] = []
    if isinstance(candidate, dict):
        reason = candidate.get("finishReason")
        finish = _FINISH.get(reason, reason.lower()) if isinstance(reason, str) else None
        choices = [{"message": _message(candidate.get("content")), "finish_reason": finish}]
        if isinstance(logprobs := candidate.get("logprobsResult"), dict):
            choices[0]["logprobs"] = {"content": _first_place(logprobs)}
    elif isinstance(feedback, dict) and feedback.get("blockReason"):
        choices = [{"message": {"content": None}, "finish_reason": "content_filter"}]
    return {
        "object": "chat.completion",
        "model": reply.get("modelVersion"),
        "choices": choices,
        "usage": _usage(reply.get("usageMetadata")),
    }


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


DIALECT = Dialect(
    kind="gemini.generate_content",
    headers=lambda key: {"x-goog-api-key": key},
    call=_call,
    reply=_reply,
    means=("json_schema",),
)
