"""What servers, proxies and networks say instead of an answer: each fault by its name, and what may come of it.

Four families: body, connection, status, protocol. HTTP itself is the client's trade: what else may come is drawn as
bytes (test_servers.py), and any field of a reply may be anything (test_hostile_replies.py).
"""

from __future__ import annotations

import email.utils
import gzip
import hashlib
import json
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

from support.server import http

MODEL, OTHER_MODEL = "faulty-2026-01-01", "faulty-2026-06-30"
ENDS = ("passes", "item", "stops", "answer", "reply")
"""What may come of a call that meets a fault; several where the standards leave it open.

passes: it is tried again, and answered once the fault is over; the item's named failure where the fault stays.
item:   the item's named failure, also where the fault would pass.
stops:  the run stops with one sentence.
answer: the fault does no harm: the item has its answer at the first try.
reply:  an answer at the first try, whose words are not those that a sound server would have sent.
"""


def answer(prompt: str) -> str:
    """Yes, No, or something that cannot be read, by the prompt."""
    draw = hashlib.sha256(prompt.encode()).digest()[0]
    return "Yes" if draw < 90 else "No" if draw < 240 else "It depends."


def sound_reply(prompt: str, *, completions: bool = False, model: str = MODEL) -> dict[str, Any]:
    """A reply as the API documents it, every optional field included."""
    tokens = len(prompt) // 4
    message = {"role": "assistant", "content": answer(prompt), "refusal": None, "annotations": [], "tool_calls": None}
    words = {"text": f" {answer(prompt)}"} if completions else {"message": message}
    return {
        "id": "chatcmpl-1",
        "object": "text_completion" if completions else "chat.completion",
        "created": 1_767_225_600,
        "model": model,
        "choices": [{"index": 0, "logprobs": None, "finish_reason": "stop", **words}],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": 2,
            "total_tokens": tokens + 2,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0, "cache_write_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "accepted_prediction_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


@dataclass(frozen=True)
class Said:
    """What goes out on a connection, and what becomes of it."""

    content: bytes
    then: Literal["kept", "closed", "reset", "half-closed", "hangs"] = "closed"
    pieces: int = 1
    share: float = 0.0
    """In so many pieces, each after such a share of the client's patience (in a test's virtual time)."""
    retry_at: float = 0.0
    """The client is told to come back no earlier (in seconds since 1970)."""


Says = Callable[[dict[str, Any], str], Said]
"""What is said in place of a sound reply; the second is an address of another host."""


@dataclass(frozen=True)
class Kind:
    """One fault."""

    name: str
    family: str
    ends: tuple[str, ...]
    says: Says
    timed: bool = False
    """Needs the client's patience to pass: for one call at a time, in virtual time."""
    accept: bool = False
    """Comes before a request is read, so it cannot know the item."""
    heavy: bool = False
    """Takes memory or seconds."""


KINDS: dict[str, Kind] = {}


def enter(family: str, ends: str, rows: Mapping[str, Says], form: str = "{}", **settings: bool) -> None:
    for name, says in rows.items():
        assert set(ends.split()) <= set(ENDS) and form.format(name) not in KINDS, name
        KINDS[form.format(name)] = Kind(form.format(name), family, tuple(ends.split()), says, **settings)


# Connections: what ends or hangs at every moment between accept and the last byte.


def _moments(body: bytes) -> dict[str, bytes]:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(body), body)
    whole, half = http(body), len(body) // 2
    return {
        "before the reply": b"", "in the status line": whole[:10], "after the head": whole[: len(whole) - len(body)],
        "in the body": whole[: len(whole) - half], "before the last byte": whole[:-1],
        "in a chunk": chunked[: len(chunked) - half], "before the last chunk": chunked,
    }  # fmt: skip


def _broken(then: Any) -> dict[str, Says]:
    def says(moment: str) -> Says:
        return lambda reply, _: Said(_moments(json.dumps(reply).encode())[moment], then)

    return {f"{then} {moment}": says(moment) for moment in _moments(b"")}


def _drip(pieces: int, share: float, then: Any) -> Says:
    return lambda reply, _: Said(http(reply), then, pieces, share)


enter("connection", "passes", {"reset at accept": lambda *_: Said(b"", "reset"),
                               "closed at accept": lambda *_: Said(b"")}, accept=True)  # fmt: skip
enter("connection", "passes", _broken("reset") | _broken("closed"))
enter("connection", "passes item", _broken("half-closed"))
enter("connection", "passes item", _broken("hangs"), timed=True)
enter("connection", "passes answer", {"reset after the reply": lambda reply, _: Said(http(reply), "reset")})
enter("connection", "answer", {"closed though kept alive": lambda reply, _: Said(http(reply))})
enter("connection", "answer", {"slow drip and whole": _drip(12, 0.05, "kept")}, timed=True)
enter("connection", "passes item", {"drip that is too slow": _drip(60, 0.3, "closed")}, timed=True)


# Bodies behind sound HTTP: cut, packed, of other encodings, nested, and what is no JSON of the API's form.

HTML = b"<html><body><h1>Please sign in</h1>The proxy wants to know you.</body></html>"
DEEP = 100_000


def _body(change: Callable[[bytes], bytes], **headers: str) -> Says:
    return lambda reply, _: Said(http(change(json.dumps(reply).encode()), **headers), "kept")


def _bodies(rows: Mapping[str, Callable[[bytes], bytes]]) -> dict[str, Says]:
    return {name: _body(change) for name, change in rows.items()}


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


@cache
def bomb(size: int) -> bytes:
    """A gzip body that unpacks to so many bytes of JSON white space: a thousandth of it."""
    packer, block = zlib.compressobj(9, wbits=31), b" " * (1 << 20)
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


_PLACES = {"nothing": lambda body: 0, "a key": lambda body: body.index(b"choices") + 3,
           "the words": lambda body: body.index(b"created"), "the last brace": lambda body: len(body) - 1}  # fmt: skip
enter(
    "body",
    "passes",
    {f"cut before {name}": _body(lambda body, at=at: body[: at(body)]) for name, at in _PLACES.items()},
)
enter("body", "answer", {
    "gzip": _body(gzip.compress, Content_Encoding="gzip"),
    "deflate": _body(zlib.compress, Content_Encoding="deflate"),
    "raw deflate": _body(_raw_deflate, Content_Encoding="deflate"),
})  # fmt: skip
enter("body", "passes answer", {
    "gzip in two members": _body(lambda b: gzip.compress(b[:50]) + gzip.compress(b[50:]), Content_Encoding="gzip"),
    "gzip with a wrong checksum": _body(lambda b: gzip.compress(b)[:-8] + b"\x00" * 8, Content_Encoding="gzip"),
    "unknown encoding but plain": _body(lambda b: b, Content_Encoding="x-foo"),
    "gzip said but plain": _body(lambda b: b, Content_Encoding="gzip"),
})  # fmt: skip
enter("body", "passes", {
    "gzip cut": _body(lambda b: gzip.compress(b)[:40], Content_Encoding="gzip"),
    "gzip garbage": _body(lambda b: b"\x1f\x8b" + b"\x99" * 60, Content_Encoding="gzip"),
    "gzip unsaid": _body(gzip.compress, Content_Encoding="identity"),
    "br garbage": _body(lambda b: b"\x99" * 60, Content_Encoding="br"),
    "zstd garbage": _body(lambda b: b"\x28\xb5\x2f\xfd" + b"\x99" * 60, Content_Encoding="zstd"),
})  # fmt: skip
enter("body", "passes", {
    "gzip bomb of 1 GB": _body(lambda b: bomb(1 << 30), Content_Encoding="gzip"),
    "a body of 64 MB": _body(lambda b: b" " * (64 << 20)),
}, heavy=True)  # fmt: skip
enter("body", "passes answer", _bodies({
    "UTF-8 with a BOM": lambda b: b"\xef\xbb\xbf" + b,
    "UTF-16 with a BOM": lambda b: b.decode().encode("utf-16"),
}))  # fmt: skip
_SPOILT = {"invalid UTF-8": b"\xff\xfe\xfd", "Latin-1": b"caf\xe9", "a raw line feed": b"\n", "a NUL": b"\x00",
           "a broken escape": b"\\u12"}  # fmt: skip
for _name, _bytes in _SPOILT.items():
    enter("body", "passes reply", _bodies({f"in the JSON's words: {_name}": lambda b, to=_bytes: b.replace(
        b"Yes", to).replace(b"No", to).replace(b"It depends.", to)}))  # fmt: skip
_NESTED = {"lists": b"[" * DEEP, "closed lists": b"[" * DEEP + b"]" * DEEP, "objects": b'{"a":' * DEEP,
           "closed objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP}  # fmt: skip
for _name, _bytes in _NESTED.items():
    enter("body", "passes", _bodies({f"deep {_name}": lambda b, to=_bytes: to}))
    enter(
        "body",
        "passes answer",
        _bodies({f"deep {_name} in a field": lambda b, to=_bytes: b[:-1] + b', "x": ' + to + b"}"}),
    )
    enter("body", "item stops passes", {f"deep {_name} in an error": lambda *_, to=_bytes: Said(http(to, 400), "kept")})
enter("body", "passes", _bodies({
    "an empty body": lambda b: b"", "null": lambda b: b"null", "a list": lambda b: b"[]",
    "an empty object": lambda b: b"{}", "NaN": lambda b: b"NaN", "an HTML page": lambda b: HTML,
    "plain words": lambda b: b"Yes", "a number of 5000 digits": lambda b: b"9" * 5_000,
    "a trailing comma": lambda b: b[:-1] + b",}", "words behind it": lambda b: b + b" done",
    "two objects": lambda b: b + b, "in a list": lambda b: b"[" + b + b"]",
    "in a string": lambda b: json.dumps(b.decode()).encode(),
    "in Markdown": lambda b: b"```json\n" + b + b"\n```",
}))  # fmt: skip
enter("body", "item stops", _bodies({
    "as a stream (SSE)": lambda b: b"data: " + b + b"\n\ndata: [DONE]\n\n", "as JSON lines": lambda b: b + b"\n" + b,
}))  # fmt: skip
enter("body", "answer", _bodies({
    "a megabyte of white space": lambda b: b" " * 1_000_000 + b,
    "a field twice": lambda b: b'{"model": "x", ' + b[1:],
    "escapes everywhere": lambda b: b.replace(b"choices", b"".join(b"\\u%04x" % c for c in b"choices")),
    "1000 unknown fields": lambda b: b[:-1] + b"".join(b', "x%d": {}' % k for k in range(1_000)) + b"}",
    "a field of 1 MB": lambda b: b[:-1] + b', "x": "' + b"a" * 1_000_000 + b'"}',
}))  # fmt: skip
_NUMBERS = {"NaN": b"NaN", "Infinity": b"Infinity", "-Infinity": b"-Infinity", "1e999": b"1e999", "-1e308": b"-1e308",
            "4000 digits": b"9" * 4_000, "5000 digits": b"9" * 5_000}  # fmt: skip
for _name, _bytes in _NUMBERS.items():
    enter("body", "passes answer", _bodies({
        f"{_name} in a field that nobody reads": lambda b, to=_bytes: b[:-1] + b', "x": ' + to + b"}",
        f"{_name} as a count of tokens": lambda b, to=_bytes: b.replace(
            b'"completion_tokens": 2', b'"completion_tokens": ' + to),
    }))  # fmt: skip


# Statuses: what a server or a proxy gives, every form of Retry-After, every redirect.


def refusal(message: str, code: str | None = None) -> dict[str, Any]:
    """An error as the API documents it."""
    return {"error": {"message": message, "type": "error", "param": None, "code": code}}


def _status(status: int, body: object = None, **headers: str) -> Says:
    body = refusal("not now") if body is None else body
    return lambda *_: Said(http(body, status, **headers), "kept")


def _statuses(*statuses: int, body: object = None, **headers: str) -> dict[str, Says]:
    return {str(status): _status(status, body, **headers) for status in statuses}


enter("status", "stops", _statuses(301, 302, 303, 307, 308, body=b""), "{} without Location")
enter("status", "stops", {str(status): lambda _, elsewhere, status=status: Said(
    http(b"", status, Location=f"{elsewhere}/v1/chat/completions"), "kept") for status in (301, 302, 303, 307, 308)},
    "{} to another host")  # fmt: skip
enter("status", "stops", {place: _status(307, b"", Location=place) for place in (
    "/elsewhere", "file:///etc/passwd", "http://[::", "/a%0d%0aX-A: b", "http://user:password@127.0.0.1:9/")},
    "307 to {}")  # fmt: skip
enter("status", "passes", _statuses(408, 409, 429, 500, *range(501, 512), *range(520, 531), 599))
enter("status", "passes item", _statuses(425, 600, 700, 999))
enter("status", "item", _statuses(400, 406, *range(411, 419), 421, 422, 423, 424, 426, 428, 431, 451, 499))
enter("status", "stops", _statuses(401, 402, 403, 404, 405, 407, 410))
for _ends, _some in {"item": (400,), "stops": (401,), "passes": (429, 500, 503)}.items():
    enter("status", _ends, _statuses(*_some, body=HTML, Content_Type="text/html"), "{} with an HTML page")
    enter("status", _ends, _statuses(*_some, body=b""), "{} with no body")
_ERRORS: dict[str, object] = {
    "a string": {"error": "slow down"}, "null": {"error": None}, "a list": {"error": ["slow", "down"]},
    "a message that is a list": {"error": {"message": ["slow down"], "code": ["a"], "type": {"b": 1}}},
    "a code that is a number": {"error": {"message": "slow down", "code": 500}},
    "a message of 1 MB": {"error": {"message": "slow down " * 100_000}},
    "a message of control codes": {"error": {"message": "\x1b[2J\x1b]0;owned\x07\r\n\x00\u202e slow"}},
    "a lone surrogate": {"error": {"message": "\ud800 slow"}},
    "no error at all": {"detail": [{"loc": ["body"], "msg": "slow down"}]},
    "a list instead": ["slow down"],
    "Google's list": [{"error": {"code": 400, "message": "slow down", "status": "INVALID_ARGUMENT"}}],
    "errors": {"errors": [{"message": "slow down"}]},
    "OpenRouter's": {"error": {"message": "Provider returned error", "metadata": {"raw": '{"detail": "slow down"}'}}},
}  # fmt: skip
enter("status", "passes", {name: _status(500, error) for name, error in _ERRORS.items()}, "500 with {}")
enter("status", "item", {name: _status(400, error) for name, error in _ERRORS.items()}, "400 with {}")
enter("status", "passes", {
    "500 of gzip garbage": _status(500, b"\x1f\x8b" + b"\x99" * 60, Content_Encoding="gzip"),
    "500 cut in its body": lambda *_: Said(http(refusal("slow down"), 500)[:-30]),
})  # fmt: skip
enter(
    "status", "passes item", {"400 of gzip garbage": _status(400, b"\x1f\x8b" + b"\x99" * 60, Content_Encoding="gzip")}
)
enter("status", "stops", {"used-up quota": _status(429, refusal("you have spent it all", "insufficient_quota"))})
enter("status", "item", {
    "context length": _status(400, refusal("the maximum context length is 9 tokens", "context_length_exceeded")),
    "content policy": _status(400, refusal("not that", "content_policy_violation")),
})  # fmt: skip


def _wait(given: str, seconds: float = 0.0, status: int = 429, name: str = "Retry_After", **headers: str) -> Says:
    """Ask to wait; what is meaningless asks for nothing."""

    def says(*_: object) -> Said:
        # Written as UTF-8: what a proxy of today sends, whatever the standard says.
        headers[name] = given.encode().decode("latin-1")
        return Said(http(refusal("slow down", "rate_limit_exceeded"), status, **headers), "kept",
                    retry_at=time.time() + seconds if seconds else 0.0)  # fmt: skip

    return says


def _dated(written: Callable[[float], str], ahead: int = 0) -> Says:
    """Ask to come back in a second, by a clock that is so far ahead."""

    def says(*_: object) -> Said:
        now = int(time.time())
        headers = {"Retry_After": written(now + ahead + 1), "Date": email.utils.formatdate(now + ahead, usegmt=True)}
        return Said(http(refusal("slow down"), 429, **headers), "kept", retry_at=now + 1)

    return says


def _of(form: str) -> Callable[[float], str]:
    return lambda seconds: datetime.fromtimestamp(seconds, UTC).strftime(form)


enter("status", "passes", {
    "0": _wait("0"), "0.2": _wait("0.2", 0.2), "01": _wait("01", 1.0), "0.2s": _wait("0.2s", 0.2),
    "0.2, 0.2": _wait("0.2, 0.2", 0.2), "in milliseconds": _wait("60", 0.06, name="retry_after_ms"),
    "of a 503": _wait("0.2", 0.2, 503), "a date": _dated(_of("%a, %d %b %Y %H:%M:%S GMT")),
    "a date as in RFC 850": _dated(_of("%A, %d-%b-%y %H:%M:%S GMT")), "an ISO date": _dated(_of("%Y-%m-%dT%H:%M:%SZ")),
    "a date by a clock ahead": _dated(_of("%a, %d %b %Y %H:%M:%S GMT"), 60),
    "a date by a clock behind": _dated(_of("%a %b %d %H:%M:%S %Y"), -3600),
}, "429 Retry-After {}")  # fmt: skip
enter("status", "passes", {given.strip() or "nothing": _wait(given) for given in (
    "1_0", "soon", "", "0x0a", "-5", "nan", "+3_0", "٣٠", "Thu, 32 Foo 2026 99:99:99 GMT", '{"seconds": 30}',
    "Thu, 01 Jan 2026 00:00:00 +9999", "Thu, 01 Jan 0000 00:00:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT")},
    "429 Retry-After: {}")  # fmt: skip
enter("status", "item", {"10^9": _wait("1000000000"), "10^400": _wait("1" + "0" * 400),
                         "year 9999": _wait("Fri, 31 Dec 9999 23:59:59 GMT")}, "429 Retry-After of {}")  # fmt: skip
enter("status", "item passes", {given: _wait(given) for given in ("inf", "1e9")}, "429 Retry-After of {}")
enter("status", "passes", {"429 x-ratelimit-reset 20ms": _status(
    429, refusal("slow"), x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="20ms")})  # fmt: skip


# Replies that are sound HTTP and sound JSON, and not what the API promises.


def _top(**fields: Any) -> Says:
    return lambda reply, _: Said(http(reply | fields), "kept")


def _choice(text: Any = "", **fields: Any) -> Says:
    """Change the choice; `text` is what completions have in the place of a message."""

    def says(reply: dict[str, Any], _: str) -> Said:
        (choice,) = reply["choices"]
        changed = fields if "message" in choice else {**fields, "text": text}
        return Said(http(reply | {"choices": [choice | changed]}), "kept")

    return says


def _only(**fields: Any) -> Says:
    return lambda *_: Said(http(fields), "kept")


def _with(name: str, value: Any) -> Says:
    """Change a field of the choice, and leave its words as they are."""
    return lambda reply, _: Said(http(reply | {"choices": [reply["choices"][0] | {name: value}]}), "kept")


enter("protocol", "item", {"finish_reason: content_filter": _with("finish_reason", "content_filter")})
enter("protocol", "answer", {
    "an error of null": _top(error=None), "an empty error": _top(error={}), "unknown fields": _top(x_groq={"id": 1}),
    "another model": _top(model=OTHER_MODEL), "10000 choices": lambda reply, _: Said(http(
        reply | {"choices": reply["choices"] * 10_000}), "kept"),
    "an error called success": _top(error={"code": 0, "message": "success"}),
}, "200 with {}")  # fmt: skip
enter("protocol", "passes", {
    "an error object": _only(error={"message": "no", "code": 500}), "an error string": _only(error="no"),
    "an error and no choices": _top(choices=None, error={"message": "no"}),
    "an error and an answer": _top(error={"message": "died", "code": 502}),
    "an error in the choice": _choice(error={"message": "died", "code": 502}, finish_reason="error"),
    "an error as a reason": _choice(finish_reason="error"), "an error of vLLM's": _only(object="error", message="no"),
    "a detail": _only(detail="the model is being loaded"), "the request instead": _only(messages=[], model="m"),
    "nothing and no reason": _choice(message={"role": "assistant", "content": None}, finish_reason=None),
    "a list of models": _only(object="list", data=[]),
}, "200 with {}")  # fmt: skip
enter("protocol", "item", {
    "a filter's error": _only(error={"message": "flagged by moderation", "code": 403}),
    "a context's error": _only(error={"message": "maximum context length is 9 tokens", "code": 400}),
    "a word for sensitive": _choice(message={"content": ""}, finish_reason="sensitive"),
}, "200 with {}")  # fmt: skip
