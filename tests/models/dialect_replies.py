"""Servers that speak Anthropic's Messages and Gemini's generateContent, as strict as their documentation.

sources: https://platform.claude.com/docs/en/api/messages/create, https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

from typing import Any

from support.openai_server import Reply

MESSAGE = {"model", "messages", "max_tokens", "system", "stop_sequences", "temperature", "top_p", "top_k", "thinking",
           "output_config", "metadata", "service_tier", "stream", "tools", "tool_choice"}  # fmt: skip
CONTENT = {"contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig"}
CONFIG = {"temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "seed", "responseLogprobs", "logprobs",
          "responseMimeType", "responseJsonSchema", "thinkingConfig", "presencePenalty", "frequencyPenalty",
          "candidateCount"}  # fmt: skip


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Reply:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return status, body, {name.replace("_", "-"): value for name, value in headers.items()}


def message(*blocks: dict[str, Any] | str, stop_reason: str = "end_turn", **parts: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 7,
             "output_tokens_details": {"thinking_tokens": 3}}  # fmt: skip
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-served-1", "content": content,
            "stop_reason": stop_reason, "stop_sequence": None, "usage": usage, **parts}  # fmt: skip


def refuses_message(path: str, body: dict[str, Any]) -> Reply | None:
    """Return the error with which Anthropic's server refuses a call; None for a valid call."""
    if path != "/v1/messages":
        return anthropic_error(404, "not_found_error", "Not found")
    if odd := sorted(set(body) - MESSAGE):
        return anthropic_error(400, "invalid_request_error", f"{odd[0]}: Extra inputs are not permitted")
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        return anthropic_error(400, "invalid_request_error", "max_tokens: Field required")
    if any(turn["role"] not in ("user", "assistant") for turn in body["messages"]):
        return anthropic_error(400, "invalid_request_error", 'messages: Unexpected role "system"')
    if any(not text.strip() for text in body.get("stop_sequences", ())):
        return anthropic_error(400, "invalid_request_error", "stop_sequences: each must contain non-whitespace")
    return None


def gemini_error(status: int, name: str, words: str, *details: dict[str, Any]) -> Reply:
    return status, {"error": {"code": status, "message": words, "status": name, "details": list(details)}}, {}


def content(*parts: dict[str, Any] | str, finish: str | None = "STOP", **candidate: Any) -> dict[str, Any]:
    rows = [{"text": part} if isinstance(part, str) else part for part in parts]
    usage = {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2, "thoughtsTokenCount": 5,
             "totalTokenCount": 16}  # fmt: skip
    one = {"content": {"parts": rows, "role": "model"}, "finishReason": finish, "index": 0, **candidate}
    return {"candidates": [one], "usageMetadata": usage, "modelVersion": "gemini-served-1", "responseId": "r"}


def refuses_content(path: str, body: dict[str, Any]) -> Reply | None:
    """Return the error with which Google's server refuses a call; None for a valid call."""
    if not path.endswith(":generateContent") or not path.startswith("/v1/models/"):
        return gemini_error(404, "NOT_FOUND", "Requested entity was not found.")
    odd = sorted(set(body) - CONTENT) + sorted(set(body["generationConfig"]) - CONFIG)
    if odd:
        words = f'Invalid JSON payload received. Unknown name "{odd[0]}": Cannot find field.'
        return gemini_error(400, "INVALID_ARGUMENT", words)
    if any(turn["role"] not in ("user", "model") for turn in body["contents"]):
        return gemini_error(400, "INVALID_ARGUMENT", "Please use a valid role: user, model.")
    return None
