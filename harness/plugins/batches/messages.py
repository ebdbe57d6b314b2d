"""Anthropic's Messages form: what a chat completion's body is in it, and what a line of its results is in OpenAI's.

The same request goes out as its compatible endpoint would make of a live call, so that an answer is the same by either
way: what that endpoint ignores is left out, system messages are joined, a temperature above 1 is 1.
sources: https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk (what is ignored),
https://platform.claude.com/docs/en/api/messages/create, …/api/messages/batches/results, …/api/errors (2026-11-22)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.codec import token_count
from harness.errors import RunStopped
from harness.types import JSON

_IGNORED = frozenset((
    "n", "seed", "logprobs", "top_logprobs", "metadata", "response_format", "prediction", "presence_penalty",
    "frequency_penalty", "service_tier", "audio", "logit_bias", "store", "user", "modalities", "reasoning_effort",
    "stream",
))  # fmt: skip
"""What the compatible endpoint takes and does nothing with; the Messages form refuses most of it."""
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "pause_turn": "stop", "max_tokens": "length",
           "tool_use": "tool_calls"}  # fmt: skip
_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
             "not_found_error": 404, "conflict_error": 409, "request_too_large": 413, "rate_limit_error": 429,
             "api_error": 500, "timeout_error": 408, "overloaded_error": 529}  # fmt: skip
_ENDED = {"canceled": "batch_cancelled", "expired": "batch_expired"}


def params_of(body: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the parameters of a message for the body of a chat completion. Raises RunStopped for tools."""
    if "tools" in body or "functions" in body:
        raise RunStopped(
            "a batch of Anthropic's takes tools in another form than a chat completion: set model.constrain=null, or "
            "ask without model.batch."
        )
    params = {name: value for name, value in body.items() if name not in _IGNORED}
    messages, stop = params.pop("messages"), params.pop("stop", None)
    most = params.pop("max_completion_tokens", None) or params.pop("max_tokens", None)
    system = [message["content"] for message in messages if message["role"] in ("system", "developer")]
    params["max_tokens"] = max(1, int(most or 1))
    params["messages"] = [message for message in messages if message["role"] not in ("system", "developer")]
    if system:
        params["system"] = "\n".join(system)
    if stops := [text for text in ([stop] if isinstance(stop, str) else stop or ()) if text.strip()]:
        params["stop_sequences"] = stops
    if "temperature" in params:
        params["temperature"] = min(params["temperature"], 1)
    return params


def as_openai(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of Anthropic's results as one of OpenAI's: a reply, or an error with its status."""
    result = content["result"] if isinstance(content.get("result"), dict) else {}
    kind = result.get("type")
    line = {"custom_id": content.get("custom_id"), "response": None, "error": None}
    if kind == "succeeded" and isinstance(message := result.get("message"), dict):
        return line | {"response": {"status_code": 200, "body": _reply(message)}}
    if isinstance(kind, str) and kind in _ENDED:
        return line | {"error": {"code": _ENDED[kind], "message": f"the server says that it is {kind}"}}
    error = result.get("error")
    error = error["error"] if isinstance(error, dict) and isinstance(error.get("error"), dict) else error
    name = error.get("type") if isinstance(error, dict) else None
    status = _STATUSES.get(name, 500) if isinstance(name, str) else 500
    return line | {"response": {"status_code": status, "body": {"error": error}}}


def _reply(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as the completion of a chat: its blocks are parts of the content, texts and thoughts."""
    reason, content = message.get("stop_reason"), message.get("content")
    said: dict[str, Any] = {"role": "assistant", "content": content}
    finish = _FINISH.get(reason, reason) if isinstance(reason, str) else None
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    if reason == "refusal":  # by a filter of the server's, also in the middle of a reply
        details = message.get("stop_details")
        words = details.get("explanation") if isinstance(details, dict) else None
        said = {"role": "assistant", "content": None, "refusal": words or "the server ended the reply (refusal)"}
        finish = "stop"
    elif reason == "model_context_window_exceeded" and any(texts):
        finish = "length"
    return {
        "id": message.get("id"),
        "object": "chat.completion",
        "model": message.get("model"),
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": _usage(message.get("usage")),
    }


def _usage(usage: Any) -> dict[str, Any] | None:
    """Return counts by OpenAI's names: its prompt's tokens include those read from a cache and written to one."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("output_tokens_details")
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, read, written = (token_count(usage.get(name)) for name in names)
    return {
        "prompt_tokens": None if fresh is None else fresh + (read or 0) + (written or 0),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "completion_tokens_details": {
            "reasoning_tokens": details.get("thinking_tokens") if isinstance(details, dict) else None
        },
    }
