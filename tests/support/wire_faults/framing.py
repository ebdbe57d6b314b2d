"""Broken HTTP: status lines, headers, lengths, chunks, and what is left over on a connection that is kept."""

from __future__ import annotations

import asyncio
import json

from support.wire_faults.kind import Exchange, Family, head

family = Family("HTTP")
_TYPE = "Content-Type: application/json\r\n"

_ODD_STATUS_LINES = {
    "not a number": "HTTP/1.1 abc OK",
    "four digits": "HTTP/1.1 2000 OK",
    "negative": "HTTP/1.1 -200 OK",
    "no status": "HTTP/1.1",
    "lower case": "http/1.1 200 OK",
    "another protocol": "ICY 200 OK",
    "no version": "200 OK",
    "HTTP/2": "HTTP/2 200 OK",
    "HTTP/9.9": "HTTP/9.9 200 OK",
    "of 70 kB": "HTTP/1.1 200 " + "O" * 70_000,
}
_FINE_STATUS_LINES = {"no reason": "HTTP/1.1 200 ", "no reason and no space": "HTTP/1.1 200"}


@family.each("status line {}", _ODD_STATUS_LINES, "passes", "answer")
@family.each("status line {}", _FINE_STATUS_LINES, "answer")
async def status_line(x: Exchange, line: str) -> None:
    await x.send(status=line)
    x.keep = False


_ODD_HEADERS = {
    "without colon": b"Broken header\r\n",
    "with NUL in its value": b"X-A: a\x00b\r\n",
    "with NUL in its name": b"X\x00A: a\r\n",
    "with a space in its name": b"X A: a\r\n",
    "with a space before the colon": b"X-A : a\r\n",
    "without a name": b": a\r\n",
    "folded (obs-fold)": b"X-A: a\r\n folded\r\n",
    "folded first": b" folded: a\r\n",
    "of Latin-1": b"X-A: caf\xe9\r\n",
    "of invalid UTF-8": b"X-A: \xff\xfe\r\n",
    "with a bare CR": b"X-A: a\rb\r\n",
    "with a bare LF": b"X-A: a\nb\r\n",
    "of 9 kB": b"X-A: " + b"a" * 9_000 + b"\r\n",
    "of 1 MB": b"X-A: " + b"a" * 1_000_000 + b"\r\n",
    "with a name of 9 kB": b"X-" + b"a" * 9_000 + b": a\r\n",
    "thousandfold": b"".join(b"X-%d: a\r\n" % k for k in range(1_000)),
    "40000-fold": b"".join(b"X-%d: a\r\n" % k for k in range(40_000)),
    "Set-Cookie hundredfold": b"Set-Cookie: a=b\r\n" * 100,
}


@family.each("header {}", _ODD_HEADERS, "passes", "answer")
async def odd_header(x: Exchange, line: bytes) -> None:
    body = x.body
    await x.raw(b"HTTP/1.1 200 OK\r\n" + line + f"{_TYPE}Content-Length: {len(body)}\r\n\r\n".encode() + body)


_FINE_HEADERS = {
    "no Content-Type": {"Content_Type": ""},
    "Content-Type text/plain": {"Content_Type": "text/plain"},
    "Content-Type broken": {"Content_Type": ";;;==/"},
    "charset unknown": {"Content_Type": "application/json; charset=klingon"},
    "Set-Cookie broken": {"Set_Cookie": "\t=;=;;Path"},
    "Keep-Alive broken": {"Keep_Alive": "timeout=-1, max=abc"},
    "x-ratelimit broken": {"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "soon"},
    "x-ratelimit NaN": {"x_ratelimit_remaining_tokens": "nan", "x_ratelimit_reset_tokens": "nan"},
    "Date broken": {"Date": "yesterday"},
    "Retry-After on a 200": {"Retry_After": "3600"},
    "Location on a 200": {"Location": "http://127.0.0.1:9/"},
    "Upgrade offered": {"Upgrade": "h2c"},
    "Content-Encoding identity": {"Content_Encoding": "identity"},
}


@family.each("{}", _FINE_HEADERS, "answer")
async def fine_header(x: Exchange, headers: dict[str, str]) -> None:
    await x.send(**headers)


_LENGTHS = {
    "not a number": "abc",
    "empty": "",
    "negative": "-5",
    "with a sign": "+500",
    "hexadecimal": "0x1f4",
    "a float": "500.0",
    "of 10^18": "1000000000000000000",
    "of 5000 digits": "9" * 5_000,
    "a list": "12, 14",
    "with an underscore": "5_00",
}


@family.each("Content-Length {}", _LENGTHS, "passes")
async def content_length(x: Exchange, length: str) -> None:
    await x.raw(f"HTTP/1.1 200 OK\r\n{_TYPE}Content-Length: {length}\r\n\r\n".encode() + x.body)


@family("Content-Length double and different", "passes")
async def two_lengths(x: Exchange) -> None:
    body = x.body
    two = f"Content-Length: {len(body)}\r\nContent-Length: {len(body) + 7}\r\n"
    await x.raw(f"HTTP/1.1 200 OK\r\n{_TYPE}{two}\r\n".encode() + body)


@family("Content-Length double and equal", "passes", "answer")
async def equal_lengths(x: Exchange) -> None:
    body = x.body
    two = f"Content-Length: {len(body)}\r\n" * 2
    await x.raw(f"HTTP/1.1 200 OK\r\n{_TYPE}{two}\r\n".encode() + body)


@family("Content-Length too long and closed", "passes")
async def too_long(x: Exchange) -> None:
    await x.raw(head(200, len(x.body) + 50, {}) + x.body)


@family("Content-Length too long and open", "passes", "item", timed=True, in_a_row=1)
async def too_long_and_open(x: Exchange) -> None:
    await x.raw(head(200, len(x.body) + 50, {}) + x.body)
    await x.gone()


@family("Content-Length too short", "passes")
async def too_short(x: Exchange) -> None:
    await x.raw(head(200, len(x.body) - 30, {}) + x.body)
    x.keep = True


@family("Content-Length 0 with a body", "passes")
async def zero_length(x: Exchange) -> None:
    await x.raw(head(200, 0, {}) + x.body)
    x.keep = True


def chunk(content: bytes, extension: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n" % (len(content), extension, content)


_CHUNK_SIZES = {
    "not hexadecimal": b"zz",
    "negative": b"-5",
    "empty": b"",
    "of 2^64": b"ffffffffffffffff",
    "of 2^64 and more": b"1" + b"0" * 16,
    "of 9 kB of zeros": b"0" * 9_000,
    "with 0x": b"0x10",
    "with a sign": b"+10",
    "wrong by far": b"99999",
}


@family.each("chunk size {}", _CHUNK_SIZES, "passes")
async def chunk_size(x: Exchange, size: bytes) -> None:
    await x.chunked(size + b"\r\n" + x.body + b"\r\n")


@family("chunk size wrong in the second chunk", "passes")
async def later_chunk_size(x: Exchange) -> None:
    await x.chunked(chunk(x.body[:40]), b"xyz\r\n" + x.body[40:] + b"\r\n")


_LATE = {"size": b"zz\r\n", "size that is negative": b"-5\r\n", "size of nothing": b"\r\n"}


@family.each("chunk {} broken in a packet of its own", _LATE, "passes", "item", timed=True, in_a_row=1)
async def late_chunk(x: Exchange, line: bytes) -> None:
    """aiohttp closes the connection then, and does not tell who reads the body: it may look like a hang."""
    await x.chunked(chunk(x.body[:40]), end=b"")
    await asyncio.sleep(0.02)
    await x.raw(line)
    await x.gone()


@family("chunk without line end", "passes")
async def chunk_without_end(x: Exchange) -> None:
    await x.chunked(b"%x\r\n%s" % (len(x.body), x.body))


@family("chunk shorter than said", "passes")
async def short_chunk(x: Exchange) -> None:
    await x.chunked(b"%x\r\n%s\r\n" % (len(x.body) + 10, x.body))


@family("chunked without a last chunk", "passes")
async def no_last_chunk(x: Exchange) -> None:
    await x.chunked(chunk(x.body), end=b"")


_FINE_CHUNKS = {
    "chunk extension": (b";name=value", b"0\r\n\r\n"),
    "chunk trailer": (b"", b"0\r\nX-Checksum: abc\r\n\r\n"),
    "chunked": (b"", b"0\r\n\r\n"),
}
_ODD_CHUNKS = {
    "chunk extension of 100 kB": (b";a=" + b"b" * 100_000, b"0\r\n\r\n"),
    "chunk extension broken": (b";;=\x01", b"0\r\n\r\n"),
    "chunk size and a space": (b" ", b"0\r\n\r\n"),
    "chunk trailer without colon": (b"", b"0\r\nbroken\r\n\r\n"),
    "chunk trailer of 100 kB": (b"", b"0\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n"),
    "chunk trailer thousandfold": (b"", b"0\r\n" + b"X-A: a\r\n" * 1_000 + b"\r\n"),
    "chunk trailer cut off": (b"", b"0\r\nX-A"),
    "last chunk cut off": (b"", b"0\r\n"),
}


@family.each("{}", _FINE_CHUNKS, "answer")
@family.each("{}", _ODD_CHUNKS, "passes", "answer")
async def chunk_forms(x: Exchange, form: tuple[bytes, bytes]) -> None:
    extension, end = form
    await x.chunked(chunk(x.body[:50], extension), chunk(x.body[50:], extension), end=end)
    x.keep = end == b"0\r\n\r\n"


@family("chunks of one byte", "answer")
async def single_bytes(x: Exchange) -> None:
    await x.chunked(*(chunk(bytes([byte])) for byte in x.body))
    x.keep = True


@family("chunked and Content-Length together", "passes", "answer")
async def chunked_and_length(x: Exchange) -> None:
    await x.chunked(chunk(x.body), head_lines=f"Content-Length: {len(x.body)}\r\n")


@family("chunked and a wrong Content-Length", "passes", "answer")
async def chunked_and_wrong_length(x: Exchange) -> None:
    await x.chunked(chunk(x.body), head_lines="Content-Length: 3\r\n")


_TRANSFER = {"unknown": "rot13", "chunked twice": "chunked, chunked", "gzip and chunked but plain": "gzip, chunked"}


@family.each("Transfer-Encoding {}", _TRANSFER, "passes", "answer")
async def transfer_encoding(x: Exchange, name: str) -> None:
    await x.raw(f"HTTP/1.1 200 OK\r\n{_TYPE}Transfer-Encoding: {name}\r\n\r\n".encode())
    await x.raw((chunk(x.body) + b"0\r\n\r\n") if "chunked" in name else x.body)


def _another(x: Exchange) -> bytes:
    """A whole reply that nobody asked for, with words that no prompt is answered."""
    reply = x.reply()
    reply["choices"][0] |= {"text": "STRAY"} if x.completions else {"message": {"content": "STRAY"}}
    body = json.dumps(reply).encode()
    return head(200, len(body), {}) + body


_LEFT_OVER = {"a blank line": b"\r\n\r\n"}
# aiohttp's parser gives up the reply along with what follows it in the same packet.
_SPOILING = {"garbage": b"\x00\xffgarbage\r\n", "a broken head": b"HTTP/1.1 20"}


@family.each("left over at once: {}", _LEFT_OVER, "answer")
@family.each("left over at once: {}", _SPOILING, "passes", "answer")
async def left_over(x: Exchange, rest: bytes) -> None:
    await x.raw(head(200, len(x.body), {}) + x.body + rest)
    x.keep = True


@family.each("left over later: {}", _LEFT_OVER, "answer")
@family.each("left over later: {}", _SPOILING, "passes", "answer")
async def left_over_later(x: Exchange, rest: bytes) -> None:
    await x.raw(head(200, len(x.body), {}) + x.body)
    await asyncio.sleep(0.001)
    await x.raw(rest)
    x.keep = not rest.strip()  # else it would spoil the next call's sound reply, too


@family("left over at once: a second reply", "answer")
async def second_reply(x: Exchange) -> None:
    await x.raw(head(200, len(x.body), {}) + x.body + _another(x))
    x.keep = True


@family("no blank line after the head", "passes")
async def no_blank_line(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")


@family("status line only", "passes")
async def status_line_only(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 200 OK\r\n")


@family("empty reply", "passes")
async def empty_reply(x: Exchange) -> None:
    return None


@family("line ends of LF only", "passes", "answer")
async def line_feeds(x: Exchange) -> None:
    await x.raw(head(200, len(x.body), {}).replace(b"\r\n", b"\n") + x.body)


@family("line ends of CR only", "passes")
async def carriage_returns(x: Exchange) -> None:
    await x.raw(head(200, len(x.body), {}).replace(b"\r\n", b"\r") + x.body)


@family("blank lines before the status line", "passes", "answer")
async def leading_lines(x: Exchange) -> None:
    await x.raw(b"\r\n\r\n" + head(200, len(x.body), {}) + x.body)


_NOT_HTTP = {
    "HTTP/0.9 (a body only)": None,
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    "HTTP/2 frames": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80",
    "TLS alert": b"\x15\x03\x03\x00\x02\x02\x28",
    "SSH banner": b"SSH-2.0-OpenSSH_9.6\r\n",
    "SMTP banner": b"220 mail.example ESMTP\r\n",
    "random bytes": bytes(range(256)) * 4,
    "NUL bytes": b"\x00" * 4096,
    "a request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
}


@family.each("{}", _NOT_HTTP, "passes")
async def not_http(x: Exchange, content: bytes | None) -> None:
    await x.raw(x.body if content is None else content)


_OLD = {
    "HTTP/1.0": ("HTTP/1.0 200 OK", True),
    "HTTP/1.0 without a length": ("HTTP/1.0 200 OK", False),
    "HTTP/1.1 without a length": ("HTTP/1.1 200 OK", False),
}


@family.each("{}", _OLD, "answer")
async def old_http(x: Exchange, form: tuple[str, bool]) -> None:
    line, length = form
    await x.send(status=line, length=length, Connection="close")
    x.keep = False


@family("HTTP/1.0 kept alive", "answer")
async def old_and_kept(x: Exchange) -> None:
    await x.send(status="HTTP/1.0 200 OK", Connection="keep-alive")


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


@family("103 Early Hints first", "answer")
async def hints(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
    await x.send()


@family("500 times 102 first", "passes", "answer")
async def flood(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 102 Processing\r\n\r\n" * 500)
    await x.send()


@family("1xx without end", "passes", "item", timed=True, in_a_row=1)
async def endless_flood(x: Exchange) -> None:
    while not x.reader.at_eof():
        await x.raw(b"HTTP/1.1 102 Processing\r\n\r\n")
        x.passes(0.3)
        await asyncio.sleep(x.pause)


@family("headers without end", "passes", "item", timed=True, in_a_row=1)
async def endless_headers(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 200 OK\r\n")
    while not x.reader.at_eof():
        await x.raw(b"X-A: a\r\n")
        x.passes(0.3)
        await asyncio.sleep(x.pause)


@family("101 Switching Protocols", "passes", "item")
async def switching(x: Exchange) -> None:
    await x.raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + x.body)


@family.each("{} with a body", {"204": 204, "205": 205, "304": 304}, "passes", "item", "stops", "answer")
async def bodiless(x: Exchange, status: int) -> None:
    await x.raw(head(status, len(x.body), {}) + x.body)
    x.keep = True


@family.each("{} with a body", {"201": 201, "202": 202, "203": 203, "206": 206}, "passes", "item", "answer")
async def other_success(x: Exchange, status: int) -> None:
    await x.send(status=status)
