"""Broken HTTP: status lines, headers, lengths, chunks, and what is left over on a connection that is kept.

How HTTP is parsed is the client's trade: these are examples of each way in which it ends. What else may come is drawn
as bytes (test_servers.py).
"""

from __future__ import annotations

import asyncio
import json

from support.wire_faults.kind import Exchange, Family, head

family = Family("HTTP")
_TYPE = "Content-Type: application/json\r\n"

_STATUS_LINES = {"not a number": "HTTP/1.1 abc OK", "another protocol": "ICY 200 OK", "no status": "HTTP/1.1",
                 "HTTP/2": "HTTP/2 200 OK", "of 70 kB": "HTTP/1.1 200 " + "O" * 70_000}  # fmt: skip


@family.each("status line {}", _STATUS_LINES, "passes", "answer")
async def status_line(x: Exchange, line: str) -> None:
    await x.send(status=line)
    x.keep = False


_ODD_HEADERS = {
    "without colon": b"Broken header\r\n",
    "with NUL in its value": b"X-A: a\x00b\r\n",
    "with a space before the colon": b"X-A : a\r\n",
    "folded (obs-fold)": b"X-A: a\r\n folded\r\n",
    "of invalid UTF-8": b"X-A: \xff\xfe\r\n",
    "of 1 MB": b"X-A: " + b"a" * 1_000_000 + b"\r\n",
    "40000-fold": b"".join(b"X-%d: a\r\n" % k for k in range(40_000)),
}


@family.each("header {}", _ODD_HEADERS, "passes", "answer")
async def odd_header(x: Exchange, line: bytes) -> None:
    body = x.body
    await x.raw(b"HTTP/1.1 200 OK\r\n" + line + f"{_TYPE}Content-Length: {len(body)}\r\n\r\n".encode() + body)


_FINE_HEADERS = {
    "no Content-Type": {"Content_Type": ""},
    "Content-Type text/plain": {"Content_Type": "text/plain"},
    "charset unknown": {"Content_Type": "application/json; charset=klingon"},
    "x-ratelimit broken": {"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "soon"},
    "x-ratelimit NaN": {"x_ratelimit_remaining_tokens": "nan", "x_ratelimit_reset_tokens": "nan"},
    "Date broken": {"Date": "yesterday"},
    "Retry-After on a 200": {"Retry_After": "3600"},
    "Location on a 200": {"Location": "http://127.0.0.1:9/"},
}


@family.each("{}", _FINE_HEADERS, "answer")
async def fine_header(x: Exchange, headers: dict[str, str]) -> None:
    await x.send(**headers)


_LENGTHS = {"not a number": "abc", "negative": "-5", "of 10^18": "1000000000000000000", "a list": "12, 14"}


@family.each("Content-Length {}", _LENGTHS, "passes")
async def content_length(x: Exchange, length: str) -> None:
    await x.raw(f"HTTP/1.1 200 OK\r\n{_TYPE}Content-Length: {length}\r\n\r\n".encode() + x.body)


@family("Content-Length double and different", "passes")
async def two_lengths(x: Exchange) -> None:
    body = x.body
    two = f"Content-Length: {len(body)}\r\nContent-Length: {len(body) + 7}\r\n"
    await x.raw(f"HTTP/1.1 200 OK\r\n{_TYPE}{two}\r\n".encode() + body)


@family("Content-Length too long and open", "passes", "item", timed=True, in_a_row=1)
async def too_long_and_open(x: Exchange) -> None:
    await x.raw(head(200, len(x.body) + 50, {}) + x.body)
    await x.gone()


@family.each("Content-Length {} than the body and kept", {"longer": 50, "shorter": -30}, "passes")
async def other_length(x: Exchange, more: int) -> None:
    await x.raw(head(200, len(x.body) + more, {}) + x.body)
    x.keep = more < 0


def chunk(content: bytes, extension: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n" % (len(content), extension, content)


_CHUNK_SIZES = {"not hexadecimal": b"zz", "negative": b"-5", "empty": b"", "of 2^64": b"ffffffffffffffff"}


@family.each("chunk size {}", _CHUNK_SIZES, "passes")
async def chunk_size(x: Exchange, size: bytes) -> None:
    await x.chunked(size + b"\r\n" + x.body + b"\r\n")


@family("chunk size broken in a packet of its own", "passes", "item", timed=True, in_a_row=1)
async def late_chunk(x: Exchange) -> None:
    """aiohttp closes the connection then, and does not tell who reads the body: it may look like a hang."""
    await x.chunked(chunk(x.body[:40]), end=b"")
    await asyncio.sleep(0.02)
    await x.raw(b"zz\r\n")
    await x.gone()


@family("chunked without a last chunk", "passes")
async def no_last_chunk(x: Exchange) -> None:
    await x.chunked(chunk(x.body), end=b"")


_CHUNKS = {
    "chunk extension": (b";name=value", b"0\r\n\r\n"),
    "chunk trailer": (b"", b"0\r\nX-Checksum: abc\r\n\r\n"),
    "chunk trailer of 100 kB": (b"", b"0\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n"),
    "last chunk cut off": (b"", b"0\r\n"),
}


@family.each("{}", _CHUNKS, "passes", "answer")
async def chunk_forms(x: Exchange, form: tuple[bytes, bytes]) -> None:
    extension, end = form
    await x.chunked(chunk(x.body[:50], extension), chunk(x.body[50:], extension), end=end)
    x.keep = end == b"0\r\n\r\n"


@family("chunked and a wrong Content-Length", "passes", "answer")
async def chunked_and_wrong_length(x: Exchange) -> None:
    await x.chunked(chunk(x.body), head_lines="Content-Length: 3\r\n")


def _another(x: Exchange) -> bytes:
    """A whole reply that nobody asked for, with words that no prompt is answered."""
    reply = x.reply()
    reply["choices"][0] |= {"text": "STRAY"} if x.completions else {"message": {"content": "STRAY"}}
    body = json.dumps(reply).encode()
    return head(200, len(body), {}) + body


@family("left over: a second reply", "answer")
async def second_reply(x: Exchange) -> None:
    await x.raw(head(200, len(x.body), {}) + x.body + _another(x))
    x.keep = True


# aiohttp's parser gives up the reply along with what follows it in the same packet.
@family.each("left over: {}", {"garbage": b"\x00\xffgarbage\r\n", "a broken head": b"HTTP/1.1 20"}, "passes", "answer")
async def left_over(x: Exchange, rest: bytes) -> None:
    await x.raw(head(200, len(x.body), {}) + x.body + rest)
    x.keep = True


_NO_REPLY = {"no blank line after the head": b"HTTP/1.1 200 OK\r\nContent-Type: a\r\n", "empty reply": b"",
             "TLS alert": b"\x15\x03\x03\x00\x02\x02\x28", "SSH banner": b"SSH-2.0-OpenSSH_9.6\r\n",
             "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00", "NUL bytes": b"\x00" * 4096}  # fmt: skip


@family.each("{}", _NO_REPLY, "passes")
async def no_reply(x: Exchange, content: bytes) -> None:
    await x.raw(content)


_OLD = {"HTTP/1.0 and a length": ("HTTP/1.0 200 OK", True), "HTTP/1.1 without a length": ("HTTP/1.1 200 OK", False)}


@family.each("{}", _OLD, "answer")
async def old_http(x: Exchange, form: tuple[str, bool]) -> None:
    line, length = form
    await x.send(status=line, length=length, Connection="close")
    x.keep = False


@family("closed though kept alive", "answer")
async def closed_silently(x: Exchange) -> None:
    await x.send(Connection="keep-alive")
    x.keep = False


@family("kept though closed", "answer")
async def kept_silently(x: Exchange) -> None:
    await x.send(Connection="close")


@family("100 Continue first", "answer")
async def hundred(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 100 Continue\r\n\r\n")
    await x.send()


_ENDLESS = {"1xx": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"), "headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n")}


@family.each("{} without end", _ENDLESS, "passes", "item", timed=True, in_a_row=1)
async def endless(x: Exchange, form: tuple[bytes, bytes]) -> None:
    await x.raw(form[0])
    while not x.reader.at_eof():
        await x.raw(form[1])
        x.passes(0.3)
        await asyncio.sleep(x.pause)


@family("101 Switching Protocols", "passes", "item")
async def switching(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + x.body)


@family.each("{} with a body", {"204": 204, "304": 304}, "passes", "item", "stops", "answer")
async def bodiless(x: Exchange, status: int) -> None:
    await x.raw(head(status, len(x.body), {}) + x.body)
    x.keep = True


@family.each("{} with a body", {"201": 201, "206": 206}, "passes", "item", "answer")
async def other_success(x: Exchange, status: int) -> None:
    await x.send(status=status)
