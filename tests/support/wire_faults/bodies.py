"""Broken bodies behind sound HTTP: cut, packed, of other encodings, nested, and what is no JSON of the API's form."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

from support.wire_faults.kind import Exchange, Family, head

family = Family("body")
HTML = b"<html><body><h1>Please sign in</h1>The proxy wants to know you.</body></html>"
DEEP = 100_000

_PLACES: dict[str, Callable[[bytes], int]] = {
    "at 0": lambda body: 0,
    "in a key": lambda body: body.index(b"choices") + 3,
    "in the words": lambda body: body.index(b"assistant" if b"assistant" in body else b"text") + 4,
    "before the last brace": lambda body: len(body) - 1,
}


@family.each("cut {} and closed", _PLACES, "passes")
async def cut(x: Exchange, place: Callable[[bytes], int]) -> None:
    await x.raw(head(200, len(x.body), {}) + x.body[: place(x.body)])


@family.each("cut {} and whole as HTTP", _PLACES, "passes")
async def cut_whole(x: Exchange, place: Callable[[bytes], int]) -> None:
    await x.send(x.body[: place(x.body)])


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


_FINE_PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", _packed),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", _raw_deflate),
}
_ODD_PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip in two members": ("gzip", lambda body: _packed(body[:50]) + _packed(body[50:])),
    "gzip with a wrong checksum": ("gzip", lambda body: _packed(body)[:-8] + b"\x00" * 8),
    "unknown encoding but plain": ("x-foo", lambda body: body),
    "gzip said but plain": ("gzip", lambda body: body),
}
_BAD_PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip cut": ("gzip", lambda body: _packed(body)[:40]),
    "gzip garbage": ("gzip", lambda body: b"\x1f\x8b" + b"\x99" * 60),
    "gzip unsaid": ("identity", _packed),
    "br garbage": ("br", lambda body: b"\x99" * 60),
    "zstd garbage": ("zstd", lambda body: b"\x28\xb5\x2f\xfd" + b"\x99" * 60),
}


@family.each("{}", _FINE_PACKED, "answer")
@family.each("{}", _ODD_PACKED, "passes", "answer")
@family.each("{}", _BAD_PACKED, "passes")
async def packed(x: Exchange, form: tuple[str, Callable[[bytes], bytes]]) -> None:
    name, pack = form
    await x.send(pack(x.body), Content_Encoding=name)


def bomb(size: int) -> bytes:
    """A gzip body that unpacks to so many bytes of JSON white space: a thousandth of it."""
    packer, block = zlib.compressobj(9, wbits=31), b" " * (1 << 20)
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


_BOMBS: dict[int, bytes] = {}


@family.each("gzip bomb of {}", {"1 GB": 1 << 30}, "passes", heavy=True, in_a_row=1)
async def gzip_bomb(x: Exchange, size: int) -> None:
    if size not in _BOMBS:
        _BOMBS[size] = bomb(size)
    await x.send(_BOMBS[size], Content_Encoding="gzip")


@family("a body without end", "passes", heavy=True, in_a_row=1)
async def endless_body(x: Exchange) -> None:
    """White space, a megabyte at a time, up to 2 GB: the client has to hang up."""
    await x.raw(head(200, 1 << 40, {}))
    for _ in range(2048):
        await x.raw(b" " * (1 << 20))
        if x.reader.at_eof():
            return


_CODINGS = {
    "UTF-8 with a BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16 with a BOM": lambda text: text.encode("utf-16"),
}


@family.each("{}", _CODINGS, "passes", "answer")
async def coding(x: Exchange, encoded: Callable[[str], bytes]) -> None:
    await x.send(encoded(x.body.decode()))


_BROKEN_TEXT = {
    "invalid UTF-8": b"\xff\xfe\xfd",
    "Latin-1": "café".encode("latin-1"),
    "a raw line feed": b"\n",
    "a NUL": b"\x00",
    "a broken escape": b"\\u12",
}


@family.each("in the JSON's words: {}", _BROKEN_TEXT, "passes", "reply")
async def broken_text(x: Exchange, content: bytes) -> None:
    await x.send(x.body.replace(b"Yes", content).replace(b"No", content).replace(b"It depends.", content))


_DEEP = {
    "lists": b"[" * DEEP,
    "closed lists": b"[" * DEEP + b"]" * DEEP,
    "objects": b'{"a":' * DEEP,
    "closed objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
}


@family.each("deep {}", _DEEP, "passes")
async def deep(x: Exchange, body: bytes) -> None:
    await x.send(body)


@family.each("deep {} in a field", _DEEP, "passes", "answer")
async def deep_field(x: Exchange, value: bytes) -> None:
    await x.send(x.body[:-1] + b', "x": ' + value + b"}")


@family.each("deep {} in an error", _DEEP, "item", "stops", "passes")
async def deep_error(x: Exchange, body: bytes) -> None:
    await x.send(body, status=400)


_NOT_THE_FORM = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "an empty object": b"{}",
    "NaN": b"NaN",
    "an HTML page": HTML,
    "plain words": b"Yes",
    "a number of 5000 digits": b"9" * 5_000,
}


@family.each("body: {}", _NOT_THE_FORM, "passes")
async def not_the_form(x: Exchange, body: bytes) -> None:
    await x.send(body)


_SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "a trailing comma": lambda body: body[:-1] + b",}",
    "words behind it": lambda body: body + b" done",
    "two objects": lambda body: body + body,
    "in a list": lambda body: b"[" + body + b"]",
    "in a string": lambda body: json.dumps(body.decode()).encode(),
    "as a stream (SSE)": lambda body: b"data: " + body + b"\n\ndata: [DONE]\n\n",
    "in Markdown": lambda body: b"```json\n" + body + b"\n```",
}


@family.each("JSON with {}", _SPOILT, "passes")
async def spoilt(x: Exchange, spoil: Callable[[bytes], bytes]) -> None:
    await x.send(spoil(x.body))


_UNHARMED: dict[str, Callable[[bytes], bytes]] = {
    "a megabyte of white space": lambda body: b" " * 1_000_000 + body,
    "a field twice": lambda body: b'{"model": "x", ' + body[1:],
    "escapes everywhere": lambda body: body.replace(b"choices", b"".join(b"\\u%04x" % c for c in b"choices")),
    "1000 unknown fields": lambda body: body[:-1] + b"".join(b', "x%d": {}' % k for k in range(1_000)) + b"}",
    "a field of 1 MB": lambda body: body[:-1] + b', "x": "' + b"a" * 1_000_000 + b'"}',
}


@family.each("JSON with {}", _UNHARMED, "answer")
async def unharmed(x: Exchange, form: Callable[[bytes], bytes]) -> None:
    await x.send(form(x.body))


_CONSTANTS = {"NaN": b"NaN", "Infinity": b"Infinity", "-Infinity": b"-Infinity", "1e999": b"1e999",
              "4000 digits": b"9" * 4_000, "5000 digits": b"9" * 5_000}  # fmt: skip


@family.each("{} in a field that nobody reads", _CONSTANTS, "passes", "answer")
async def constant(x: Exchange, value: bytes) -> None:
    await x.send(x.body[:-1] + b', "x": ' + value + b"}")


@family.each("{} as a count of tokens", _CONSTANTS, "passes", "answer")
async def constant_count(x: Exchange, value: bytes) -> None:
    name = b'"prompt_tokens": '
    before, _, after = x.body.partition(name)
    await x.send(before + name + value + after[after.index(b",") :])
