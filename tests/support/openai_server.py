"""A local server that speaks the OpenAI protocol: real HTTP for the real client."""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.server import WAIT, Call, Headers, LocalServer, http
from support.server import Reply as Written

KEY = "sk-canary-0123456789"
"""What tests have for a key: it may be in no file and no output."""

Reply = dict[str, Any] | tuple[int, Any] | tuple[int, Any, dict[str, str]]


def chat_reply(text: str, **choice: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served-name-2024",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **choice}],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 2,
            "total_tokens": 13,
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    }


def error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Reply:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return status, body, headers or {}


def held_reply(body: dict[str, Any], answer: str, reasoning: str = "First, A causes B.") -> Reply:
    """What a server says that holds its replies to the form of the request, by whatever means it is asked to.

    The model behind it wants to say `answer`, in words where nothing holds it.
    """
    format = body.get("response_format", {})
    schema, called = None, False
    if format.get("type") == "json_schema":
        schema = format["json_schema"]["schema"]
        properties = list(schema["properties"])
        if not format["json_schema"]["strict"] or schema["additionalProperties"] or schema["required"] != properties:
            return error(400, "Invalid schema for response_format 'answer': 'required' is required to be supplied")
    elif "tools" in body:
        (tool,) = body["tools"]
        called = body["tool_choice"]["function"]["name"] == tool["function"]["name"]
        schema = tool["function"]["parameters"]
    if schema is not None:
        members = {
            name: (answer if answer in kind["enum"] else kind["enum"][-1]) if "enum" in kind else reasoning
            for name, kind in schema["properties"].items()
        }
        text = json.dumps(members, ensure_ascii=False)
    else:
        text = f"I should say: {answer}, I think."
    pieces = re.findall(r"\w+|\W", text)  # about as many tokens
    cut_off = len(pieces) > body["max_tokens"]
    text = "".join(pieces[: body["max_tokens"]])
    if called:
        reply = chat_reply("", finish_reason="stop")
        call = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": text}}
        reply["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
        return reply
    return chat_reply(text, finish_reason="length" if cut_off else "stop")


def ranked_reply(probabilities: dict[str, float], written: str = "", **parts: Any) -> dict[str, Any]:
    """A chat completion of one token, with the likeliest tokens and their log-probabilities."""
    entries = [
        {"token": token, "logprob": math.log(p), "bytes": list(token.encode())} for token, p in probabilities.items()
    ]
    first = next((entry for entry in entries if entry["token"] == written), entries[0] if entries else {})
    reply = chat_reply(first.get("token", written), finish_reason="length")
    reply["choices"][0]["logprobs"] = {"content": [{**first, "top_logprobs": entries}], "refusal": None} | parts
    reply["usage"] |= {"completion_tokens": 1}
    return reply


def wait_for(there: Callable[[], object]) -> None:
    """Wait until a condition holds, however long a busy machine takes."""
    end = time.monotonic() + WAIT
    while not there():
        assert time.monotonic() < end, "what was waited for has not come"
        time.sleep(0.005)


@dataclass
class Server(LocalServer):
    """`reply(path, body, number of this call)` decides; `calls` remembers what was asked."""

    reply: Callable[[str, dict[str, Any], int], Reply]
    delay: float = 0.0
    together: int = 1
    """So many calls have to be under way at once, some time, before any is answered."""
    held: float = math.inf
    """Calls beyond this number get no answer, until a test raises it: so what happens meanwhile is not a race."""
    calls: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Headers] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def __post_init__(self) -> None:
        self.begin()

    def wait_for_calls(self, count: int) -> None:
        """Wait until so many calls have come."""
        wait_for(lambda: len(self.calls) >= count)

    async def _until(self, ready: Callable[[], bool]) -> bool:
        end = time.monotonic() + WAIT
        while not (there := ready()) and time.monotonic() < end:
            await asyncio.sleep(0.005)
        return there

    async def answer(self, call: Call) -> Written:
        if call.method != "POST":
            return http("405: Method Not Allowed", 405, Content_Type="text/plain")
        body = call.json()
        self.calls.append(body)
        self.headers.append(call.headers)
        number = len(self.calls)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if not await self._until(lambda: self.most_in_flight >= self.together):
                self.together = 1  # not for each call again
            await asyncio.sleep(self.delay)
            await self._until(lambda: number <= self.held)
            reply = self.reply(call.path, body, number)
        finally:
            self.in_flight -= 1
        status, content, headers = (200, reply, {}) if isinstance(reply, dict) else (*reply, {})[:3]
        form = {"Content-Type": "text/html; charset=utf-8"} if isinstance(content, str) else {}
        return http(content, status, form | headers)
