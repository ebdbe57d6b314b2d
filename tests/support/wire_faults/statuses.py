"""Refusals: every status that a server or a proxy gives, every form of Retry-After, every redirect."""

from __future__ import annotations

import email.utils
import json
import time
from datetime import UTC, datetime

from support.wire_faults.bodies import HTML
from support.wire_faults.kind import Exchange, Family, refusal_body

family = Family("status")


_REDIRECTS = {str(status): status for status in (301, 302, 303, 307, 308)}


@family.each("{} without Location", _REDIRECTS, "stops")
async def redirect_nowhere(x: Exchange, status: int) -> None:
    await x.send(b"", status=status)


@family.each("{} to another host", _REDIRECTS, "stops")
async def redirect(x: Exchange, status: int) -> None:
    await x.send(b"", status=status, Location=f"{x.elsewhere}/v1/chat/completions")


_PLACES = {"its own path": "/elsewhere", "itself": "", "another scheme": "file:///etc/passwd", "no address": "http://[::",
           "two lines": "/a%0d%0aX-A: b", "an address with a key": "http://user:password@127.0.0.1:9/"}  # fmt: skip


@family.each("307 to {}", _PLACES, "stops")
async def odd_redirect(x: Exchange, place: str) -> None:
    await x.send(b"", status=307, Location=place)


_LATER = {str(status): status for status in (408, 409, 500, *range(501, 512), *range(520, 531), 599)}
_ODD = {"600": 600, "700": 700, "999": 999}
_NEVER = {str(status): status for status in (400, 406, 407, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422,
          423, 424, 426, 428, 431, 451, 499)}  # fmt: skip
_STOPS = {str(status): status for status in (401, 402, 403, 404, 405, 410)}


@family.each("{}", _LATER, "passes")
@family.each("{}", {"429": 429}, "passes")
@family.each("{}", {"425": 425}, "passes", "item")
@family.each("{}", _ODD, "passes", "item")
@family.each("{}", _NEVER, "item")
@family.each("{}", _STOPS, "stops")
async def bare(x: Exchange, status: int) -> None:
    await x.send(refusal_body("not now"), status=status)


@family.each("{} with an HTML page", {"400": 400}, "item")
@family.each("{} with an HTML page", {"401": 401, "404": 404}, "stops")
@family.each("{} with an HTML page", {"429": 429, "502": 502, "503": 503}, "passes")
async def page(x: Exchange, status: int) -> None:
    await x.send(HTML, status=status, Content_Type="text/html")


@family.each("{} with no body", {"400": 400}, "item")
@family.each("{} with no body", {"401": 401}, "stops")
@family.each("{} with no body", {"429": 429, "500": 500}, "passes")
async def nothing(x: Exchange, status: int) -> None:
    await x.send(b"", status=status)


_ERRORS = {
    "a string": {"error": "slow down"},
    "null": {"error": None},
    "a list": {"error": ["slow", "down"]},
    "a message that is a list": {"error": {"message": ["slow down"], "code": ["a"], "type": {"b": 1}}},
    "a code that is a number": {"error": {"message": "slow down", "code": 500}},
    "a message of 1 MB": {"error": {"message": "slow down " * 100_000}},
    "a message of control codes": {"error": {"message": "\x1b[2J\x1b]0;owned\x07\r\n\x00\u202e slow"}},
    "a lone surrogate": {"error": {"message": "\ud800 slow"}},
    "no error at all": {"detail": [{"loc": ["body"], "msg": "slow down"}]},
    "a list instead": ["slow down"],
    "Google's list": [{"error": {"code": 400, "message": "slow down", "status": "INVALID_ARGUMENT"}}],
    "a text of its own": {"error": "slow down"},
    "errors": {"errors": [{"message": "slow down"}]},
    "OpenRouter's": {"error": {"message": "Provider returned error", "metadata": {"raw": '{"detail": "slow down"}'}}},
}


@family.each("500 with {}", _ERRORS, "passes")
async def odd_error(x: Exchange, error: object) -> None:
    await x.send_json(error, status=500)


@family.each("400 with {}", _ERRORS, "item")
async def odd_final_error(x: Exchange, error: object) -> None:
    await x.send_json(error, status=400)


@family("500 of gzip garbage", "passes")
async def packed_error(x: Exchange) -> None:
    await x.send(b"\x1f\x8b" + b"\x99" * 60, status=500, Content_Encoding="gzip")


@family("400 of gzip garbage", "passes", "item")
async def packed_final_error(x: Exchange) -> None:
    await x.send(b"\x1f\x8b" + b"\x99" * 60, status=400, Content_Encoding="gzip")


@family("500 cut in its body", "passes")
async def cut_error(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 500 Oops\r\nContent-Length: 500\r\n\r\n" + refusal_body("slow")[:30])


@family("used-up quota", "stops")
async def quota(x: Exchange) -> None:
    await x.send(refusal_body("you have spent it all", "insufficient_quota"), status=429)


@family("context length", "item")
async def context_length(x: Exchange) -> None:
    message = "This model's maximum context length is 8192 tokens"
    await x.send(refusal_body(message, "context_length_exceeded"), status=400)


@family("content policy", "item")
async def content_policy(x: Exchange) -> None:
    await x.send(refusal_body("not that", "content_policy_violation"), status=400)


# Retry-After: (what the header says, seconds that it means or None where it means nothing).
_SHORT = {"0": ("0", 0.0), "0.2": ("0.2", 0.2), "1": ("1", 1.0), "01": ("01", 1.0)}
_MEANINGLESS = {
    "1_0": "1_0", "words": "soon", "nothing": "", "hex": "0x0a", "negative": "-5", "NaN": "nan",
    "a sign": "+3_0", "Arabic digits": "٣٠", "a bad month": "Thu, 32 Foo 2026 99:99:99 GMT",
    "a date with a zone of nonsense": "Thu, 01 Jan 2026 00:00:00 +9999", "a NUL-free blank": "  ",
    "a date of year 0": "Thu, 01 Jan 0000 00:00:00 GMT", "JSON": '{"seconds": 30}',
}  # fmt: skip
_LONG = {
    "10^9": "1000000000", "10^400": "1" + "0" * 400, "year 9999": "Fri, 31 Dec 9999 23:59:59 GMT",
}  # fmt: skip
_LONG_OR_MEANINGLESS = {"inf": "inf", "Infinity": "Infinity", "1e9": "1e9"}


async def refuse(x: Exchange, given: str | None, seconds: float | None, **headers: str) -> None:
    if given is not None:
        # Written as UTF-8: what a proxy of today sends, whatever the standard says.
        headers["Retry_After"] = given.encode().decode("latin-1")
    if seconds:  # noted before it is sent: a busy machine would note it late, and call the client early
        x.retry_at(time.time() + seconds)
    await x.send(refusal_body("slow down", "rate_limit_exceeded"), status=429, **headers)


@family.each("429 Retry-After {}", _SHORT, "passes", in_a_row=1)
async def short_wait(x: Exchange, form: tuple[str, float]) -> None:
    await refuse(x, *form)


@family.each("429 Retry-After of {}", _MEANINGLESS, "passes")
async def meaningless_wait(x: Exchange, given: str) -> None:
    await refuse(x, given, None)


@family.each("429 Retry-After of {}", _LONG, "item")
@family.each("429 Retry-After of {}", _LONG_OR_MEANINGLESS, "item", "passes")
async def long_wait(x: Exchange, given: str) -> None:
    await refuse(x, given, None)


@family("503 Retry-After 0.2", "passes")
async def wait_of_a_503(x: Exchange) -> None:
    x.retry_at(time.time() + 0.2)
    await x.send(refusal_body("overloaded"), status=503, Retry_After="0.2")


@family("429 retry-after-ms 60", "passes")
async def milliseconds(x: Exchange) -> None:
    await refuse(x, None, 0.06, retry_after_ms="60")


@family("429 Retry-After twice", "passes", "item", in_a_row=1)
async def two_waits(x: Exchange) -> None:
    body = refusal_body("slow down")
    lines = f"Retry-After: 0.1\r\nRetry-After: 0.2\r\nContent-Length: {len(body)}\r\n"
    await x.raw(f"HTTP/1.1 429 No\r\n{lines}\r\n".encode() + body)
    x.keep = True


def _http_date(seconds: float) -> str:
    return email.utils.formatdate(seconds, usegmt=True)


def _rfc850(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%A, %d-%b-%y %H:%M:%S GMT")


def _asctime(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%a %b %e %H:%M:%S %Y")


_DATES = {"a date": _http_date, "a date as in RFC 850": _rfc850, "a date as of asctime": _asctime}


@family.each("429 Retry-After of {} in a second", _DATES, "passes", in_a_row=1)
async def date(x: Exchange, form: object) -> None:
    assert callable(form)
    at = int(time.time()) + 1
    await refuse(x, form(at), None, Date=_http_date(time.time()))
    x.retry_at(at)


_CLOCKS = {"60 s ahead": 60, "1 h behind": -3600}


@family.each("429 Retry-After of a date with Date by a clock {}", _CLOCKS, "passes", in_a_row=1)
async def date_by_another_clock(x: Exchange, ahead: int) -> None:
    now = int(time.time())
    await refuse(x, _http_date(now + ahead + 1), None, Date=_http_date(now + ahead))
    x.retry_at(now + 1)


@family.each("429 Retry-After of a date without Date by a clock {}", _CLOCKS, "passes", "item", in_a_row=1)
async def date_without_clock(x: Exchange, ahead: int) -> None:
    await refuse(x, _http_date(time.time() + ahead + 1), None)


@family("429 Retry-After of a past date", "passes")
async def past_date(x: Exchange) -> None:
    await refuse(x, _http_date(time.time() - 3600), None, Date=_http_date(time.time()))


@family("429 x-ratelimit-reset 20ms", "passes")
async def rate_headers(x: Exchange) -> None:
    given = {"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "20ms"}
    await x.send(json.dumps({"error": {"message": "slow"}}).encode(), status=429, **given)
