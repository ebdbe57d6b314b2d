"""Replies that are sound HTTP and sound JSON, and not what the API promises.

That any field may be anything is a property of its own (test_hostile_replies.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.wire_faults.kind import OTHER_MODEL, Exchange, Family

family = Family("protocol")
Change = Callable[[dict[str, Any], str], Any]


def _choice(**fields: Any) -> Change:
    def change(reply: dict[str, Any], words: str) -> None:
        reply["choices"][0] |= fields

    return change


def _content(value: Any) -> Change:
    def change(reply: dict[str, Any], words: str) -> None:
        reply["choices"][0] |= (
            {"text": value} if "text" in reply["choices"][0] else {"message": _message(content=value)}
        )

    return change


def _message(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "Yes"} | fields


def _top(**fields: Any) -> Change:
    return lambda reply, words: reply.update(fields)


def _without(name: str) -> Change:
    return lambda reply, words: reply.pop(name)


def _enter(form: str, changes: dict[str, Change], *ends: str) -> None:
    @family.each(form, changes, *ends)
    async def write(x: Exchange, change: Change) -> None:
        reply = x.reply()
        choice = reply["choices"][0]
        change(reply, choice["text"] if x.completions else choice["message"]["content"])
        await x.send_json(reply)


def _parts(reply: dict[str, Any], words: str) -> None:
    _content([{"type": "text", "text": words}])(reply, words)


def _twice(reply: dict[str, Any], words: str) -> None:
    reply["choices"].append(reply["choices"][0] | {"index": 1})


def _many(reply: dict[str, Any], words: str) -> None:
    reply["choices"] *= 10_000


_enter(
    "choices: {}",
    {
        "missing": _without("choices"), "null": _top(choices=None), "empty": _top(choices=[]),
        "a string": _top(choices="Yes"), "a number": _top(choices=7), "true": _top(choices=True),
        "a dict": _top(choices={"message": _message()}), "of strings": _top(choices=["Yes"]),
        "of numbers": _top(choices=[7]), "of null": _top(choices=[None]), "of lists": _top(choices=[["Yes"]]),
        "of an empty dict": _top(choices=[{}]),
    },
    "passes",
)  # fmt: skip
_enter("choices: {}", {"two": _twice, "10000": _many}, "answer")
_enter(
    "message: {}",
    {
        "null": _choice(message=None, text=None), "a string": _choice(message="Yes", text=["Yes"]),
        "a list": _choice(message=[_message()], text=["Yes"]), "a number": _choice(message=7, text=7),
        "delta instead": lambda reply, words: reply.update(choices=[{"delta": _message(), "finish_reason": "stop"}]),
    },
    "passes",
)  # fmt: skip
_enter("content: {}", {"a list of parts": _parts}, "passes", "answer")
_enter(
    "content: {}",
    {
        "null": _content(None), "empty": _content(""), "a number": _content(7), "a list of null": _content([None]),
        "parts without text": _content([{"type": "image"}]), "half an emoji": _content("\ud83d"),
        "the other half": _content("\ude00 Yes"), "a NUL": _content("Yes\x00"), "control codes": _content("\x1b[2JYes"),
        "1 MB": _content("Yes " * 250_000), "right to left": _content("\u202eYes"),
    },
    "passes", "reply",
)  # fmt: skip
_enter(
    "finish_reason: {}",
    {name: _choice(finish_reason=name) for name in ("length", "tool_calls", "eos", "STOP", "end_turn")},
    "answer",
)
_enter("finish_reason: {}", {"missing": lambda reply, words: reply["choices"][0].pop("finish_reason")}, "answer")
_enter("finish_reason: {}", {"content_filter": _choice(finish_reason="content_filter")}, "item", "answer")
_enter(
    "refusal: {}",
    {
        "a string": _choice(message=_message(content=None, refusal="I cannot help with that."), text=None),
        "a number": _choice(message=_message(content=None, refusal=7), text=7),
        "a list": _choice(message=_message(content=None, refusal=["no"]), text=["no"]),
        "a dict": _choice(message=_message(content=None, refusal={"why": "no"}), text={"why": "no"}),
        "control codes": _choice(message=_message(content=None, refusal="\x1b[2Jno\x00\ud800"), text=None),
        "1 MB": _choice(message=_message(content=None, refusal="no " * 300_000), text=None),
    },
    "item", "passes", "reply",
)  # fmt: skip
_enter(
    "tool calls {}",
    {
        "only": _choice(message=_message(content=None, tool_calls=[{"id": "1", "type": "function"}]), text=None),
        "of a string": _choice(message=_message(tool_calls="x"), text="Yes"),
        "of a number": _choice(message=_message(tool_calls=7, function_call=7), text="Yes"),
    },
    "passes", "reply",
)  # fmt: skip
_enter(
    "model: {}",
    {"missing": _without("model"), "another": _top(model=OTHER_MODEL), "1 MB": _top(model="m" * 1_000_000),
     "control codes": _top(model="\x1b[2Jm\x00\u202e"), "a lone surrogate": _top(model="\ud800"),
     "a path": _top(model="../../../etc/passwd"), "HTML": _top(model="<script>alert(1)</script>")},
    "answer",
)  # fmt: skip
_enter("unknown fields: {}", {"everywhere": lambda reply, words: (
    reply.update(x_groq={"id": 1}, __proto__={}), reply["choices"][0].update(stop_reason=None, matched_stop=2))},
    "answer")  # fmt: skip
_enter(
    "200 with {}",
    {
        "an error object": lambda reply, words: (reply.clear(), reply.update(error={"message": "no", "code": 500})),
        "an error string": lambda reply, words: (reply.clear(), reply.update(error="no")),
        "an error and no choices": lambda reply, words: reply.update(choices=None, error={"message": "no"}),
        "an error and an answer": _top(error={"message": "died", "code": 502}),
        "an error in the choice": _choice(error={"message": "died", "code": 502}, finish_reason="error"),
        "an error as a reason": _choice(finish_reason="error"),
        "an error of vLLM's": lambda reply, words: (reply.clear(), reply.update(object="error", message="no")),
        "a detail": lambda reply, words: (reply.clear(), reply.update(detail="the model is being loaded")),
        "nothing and no reason": _choice(message=_message(content=None), text="", finish_reason=None),
        "the request instead": lambda reply, words: (reply.clear(), reply.update(messages=[], model="m")),
        "a list of models": lambda reply, words: (reply.clear(), reply.update(object="list", data=[])),
    },
    "passes",
)  # fmt: skip
_enter(
    "200 with {}",
    {
        "a filter's error": lambda reply, words: (
            reply.clear(), reply.update(error={"message": "flagged by moderation", "code": 403})),
        "a context's error": lambda reply, words: (
            reply.clear(), reply.update(error={"message": "maximum context length is 9 tokens", "code": 400})),
        "a word for sensitive": _choice(message=_message(content=""), text="", finish_reason="sensitive"),
    },
    "item",
)  # fmt: skip
_enter(
    "200 with {}",
    {
        "an error of null": _top(error=None), "an empty error": _top(error={}),
        "an error called success": _top(error={"code": 0, "message": "success"}),
    },
    "answer",
)  # fmt: skip
