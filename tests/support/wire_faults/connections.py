"""Connections that end, hang or drip: at every moment between accept and the last byte."""

from __future__ import annotations

import asyncio

from support.wire_faults.kind import Exchange, Family, head

family = Family("connection")
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


@family("reset at accept", "passes", accept=True)
async def at_accept(x: Exchange) -> None:
    x.reset()


@family("closed at accept", "passes", accept=True)
async def closed_at_accept(x: Exchange) -> None:
    return None


def _moments(x: Exchange) -> dict[str, bytes]:
    body = x.body
    return {
        "before the reply": b"",
        "in the status line": b"HTTP/1.1 2",
        "after the head": head(200, len(body), {}),
        "in the body": head(200, len(body), {}) + body[: len(body) // 2],
        "before the last byte": head(200, len(body), {}) + body[:-1],
        "in a chunk": _CHUNKED + chunk(body)[:60],
        "before the last chunk": _CHUNKED + chunk(body),
    }


MOMENTS = {name: name for name in _moments(Exchange("", None, None))}  # type: ignore[arg-type]


async def _sent(x: Exchange, moment: str) -> None:
    if content := _moments(x)[moment]:
        await x.raw(content)
        await asyncio.sleep(0.002)  # so that the client has read it before what follows


@family.each("reset {}", MOMENTS, "passes")
async def reset(x: Exchange, moment: str) -> None:
    await _sent(x, moment)
    x.reset()


@family.each("closed {}", MOMENTS, "passes")
async def closed(x: Exchange, moment: str) -> None:
    await _sent(x, moment)


@family.each("half-closed {}", MOMENTS, "passes", "item")
async def half_closed(x: Exchange, moment: str) -> None:
    """No more is written, but the connection stays open for the client's words."""
    await _sent(x, moment)
    x.writer.write_eof()
    for _ in range(20):
        if x.reader.at_eof():
            return
        await asyncio.sleep(0.005)


@family.each("hangs {}", MOMENTS, "passes", "item", timed=True, in_a_row=1)
async def hangs(x: Exchange, moment: str) -> None:
    await _sent(x, moment)
    await x.gone()


@family("reset after the reply", "passes", "answer")
async def reset_after(x: Exchange) -> None:
    await x.send()
    x.reset()


@family("reset a moment after the reply", "answer")
async def reset_later(x: Exchange) -> None:
    await x.send()
    await asyncio.sleep(0.02)
    x.reset()


@family("slow drip in the head and whole", "answer", timed=True)
async def slow_head(x: Exchange) -> None:
    await x.drip(head(200, len(x.body), {}), 8, 0.05)
    await x.raw(x.body)
    x.keep = True


@family("slow drip in the body and whole", "answer", timed=True)
async def slow_body(x: Exchange) -> None:
    await x.raw(head(200, len(x.body), {}))
    await x.drip(x.body, 8, 0.05)
    x.keep = True


@family("drip in the body and too slow", "passes", "item", timed=True, in_a_row=1)
async def endless_drip(x: Exchange) -> None:
    await x.raw(head(200, len(x.body), {}))
    await x.drip(x.body, 40, 0.3)


@family("drip in chunks and too slow", "passes", "item", timed=True, in_a_row=1)
async def endless_chunks(x: Exchange) -> None:
    await x.raw(_CHUNKED)
    for byte in x.body:
        if x.reader.at_eof():
            return
        await x.drip(chunk(bytes([byte])), 1, 0.3)
