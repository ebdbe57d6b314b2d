"""HTTP that is broken in every way that a client may meet: one item's failure, or no failure once it passes."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib

import pytest
from support.openai_server import plain_chat as chat
from support.outcomes import each
from support.server import RawServer, http
from support.thinned import few

from harness.errors import RunStopped
from harness.models.api import client
from harness.models.api.openai import Chat
from harness.models.api.retry import Policy
from harness.types import ChatRequest, Failure, Message, Request, Response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = http(chat())
BODY = GOOD.partition(b"\r\n\r\n")[2]
LENGTH = b"Content-Length: %d\r\n" % len(BODY)


def packed(coding: str, content: bytes) -> bytes:
    return http(content, Content_Encoding=coding)


MALFORMED = {
    "nothing": (b"",),
    "reset": None,
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-Le",),
    "another protocol": (b"SSH-2.0-OpenSSH_9.6\r\n",),
    "bad status line": (b"HTTP/1.1 abc OK\r\n\r\n",),
    "status of four digits": (b"HTTP/1.1 2000 OK\r\n" + LENGTH + b"\r\n" + BODY,),
    "status below 100": (b"HTTP/1.1 099 OK\r\n" + LENGTH + b"\r\n" + BODY,),
    "switching protocols": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",),
    "header without a name": (HEAD + b": x\r\n" + LENGTH + b"\r\n" + BODY,),
    "header without a colon": (HEAD + b"what is this\r\n" + LENGTH + b"\r\n" + BODY,),
    "header with a NUL": (HEAD + b"X: a\0b\r\n" + LENGTH + b"\r\n" + BODY,),
    "header that is too long": (HEAD + b"X: " + b"x" * 100_000 + b"\r\n" + LENGTH + b"\r\n" + BODY,),
    "too many headers": (HEAD + b"X: x\r\n" * 50_000 + LENGTH + b"\r\n" + BODY,),
    "length that is no number": (HEAD + b"Content-Length: many\r\n\r\n" + BODY,),
    "negative length": (HEAD + b"Content-Length: -5\r\n\r\n" + BODY,),
    "two lengths": (HEAD + LENGTH + b"Content-Length: 7\r\n\r\n" + BODY,),
    "too short a body": (HEAD + b"Content-Length: 9999\r\n\r\n" + BODY,),
    "too short a length": HEAD + b"Content-Length: 7\r\n\r\n" + BODY,
    "length and chunks": (HEAD + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n" + BODY,),
    "bad chunk size": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + BODY,),
    "negative chunk size": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n" + BODY,),
    "chunks that end early": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"cho",),
    "no gzip": packed("gzip", BODY),
    "gzip that ends early": packed("gzip", gzip.compress(BODY)[:40]),
    "no deflate": packed("deflate", b"\xff" + BODY),
    "no brotli": packed("br", b"\xff\x00" + BODY[1:]),
    "no zstd": packed("zstd", b"\xff\x00" + BODY[1:]),
    "coding upon coding": packed("gzip, gzip, gzip, gzip, gzip, gzip", gzip.compress(BODY)),
    "no UTF-8": http(b"\xff\xfe\xfd\xfc{"),
    "empty": http(b""),
    "deep": http(b"[" * 100_000),
    "deep object": http(b'{"a":' * 100_000),
    "number of many digits": http(b'{"choices": ' + b"9" * 100_000 + b"}"),
    "deep error": http(b'{"error":' * 100_000, status=500),
    "deep code": http(b'{"error": {"code": ' + b"[" * 900 + b"]" * 900 + b"}}", status=500),
    "error of no charset": http(b"<p>x", status=500, Content_Type="text/html; charset=no-such"),
    "error of a charset that is none": http(b"<p>x", status=500, Content_Type="text/html; charset=hex"),
    "error with odd fields": http({"error": {"message": ["x"], "code": {"a": 1}, "type": 5}}, status=503),
    "error that is a number": http(b"5", status=502),
    "error without a body": http(b"", status=504),
    "error cut short": (b"HTTP/1.1 500 Oops\r\nContent-Length: 999\r\n\r\nx",),
    "error in 200": http({"error": {"message": "overloaded", "code": 529}}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _key(key, monkeypatch):
    async def at_once(policy, seconds):
        """Make retries wait for no more than other calls' turns."""
        await asyncio.sleep(min(seconds, 0.002))  # what is polled would spin without

    monkeypatch.setattr(Policy, "_sleep", at_once)


def asked(server: RawServer, *questions: str, **settings) -> dict[str, Response | Failure]:
    model = Chat(**{"name": "m", "model": "m", "base_url": server.url, "attempts": 3, **settings})
    requests = (ChatRequest((Message("user", question),), max_tokens=4) for question in questions)
    outcomes: dict[Request, Response | Failure] = dict(each(model.respond(requests)))
    return {request.messages[-1].content: outcome for request, outcome in outcomes.items()}


QUESTIONS = tuple(f"{number}?" for number in range(8))


@pytest.mark.parametrize("kind", few(MALFORMED, 8))
def test_what_is_malformed_once_is_asked_again(raw, kind):
    server = raw(lambda words, times: MALFORMED[kind] if times == 1 and words in QUESTIONS[:3] else GOOD)
    outcomes = asked(server, *QUESTIONS)
    assert {outcome.text for outcome in outcomes.values()} == {"No"}


@pytest.mark.parametrize("kind", few(MALFORMED, 8))
def test_what_is_always_malformed_is_that_items_failure_with_one_short_line(raw, kind):
    server = raw(lambda words, times: MALFORMED[kind] if words in QUESTIONS[:3] else GOOD)
    outcomes = asked(server, *QUESTIONS)
    for question in QUESTIONS[:3]:
        failure = outcomes[question]
        assert isinstance(failure, Failure), failure
        assert failure.kind in ("connection_lost", "invalid_reply", "server_error")
        assert failure.detail.isprintable() and 0 < len(failure.detail) < 500
    assert all(isinstance(outcomes[question], Response) for question in QUESTIONS[3:])


@pytest.mark.parametrize("kind", ["no gzip", "no deflate", "coding upon coding", "no UTF-8", "deep", "empty"])
def test_a_reply_that_came_and_cannot_be_read_is_no_lost_connection(raw, kind):
    server = raw(lambda words, times: MALFORMED[kind] if words in QUESTIONS[:3] else GOOD)
    assert {asked(server, *QUESTIONS)[question].kind for question in QUESTIONS[:3]} == {"invalid_reply"}


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("https://elsewhere.example:8443/v2/chat/completions?key=abc#x", "https://elsewhere.example:8443/v2"),
        ("http://me:secretpassword@elsewhere.example/v1/chat/completions", "http://elsewhere.example/v1"),
        ("/v1/chat/completions/", "http://127.0.0.1:{port}/v1/chat/completions/"),
        ("//elsewhere.example/login?from=KEY", "http://elsewhere.example/login"),
        ("http://elsewhere.example/KEY/chat/completions", "http://elsewhere.example/[the key]"),
        ("http://elsewhere.example/\xe9/chat/completions", "http://elsewhere.example/\ufffd"),
        ("http://[::1", "an address that it does not name"),
        ("http://elsewhere.example:99999/", "an address that it does not name"),
        (None, "an address that it does not name"),
    ],
)
@pytest.mark.parametrize("status", few([301, 302, 303, 304, 307, 308, 399], 1))
def test_a_redirect_is_not_followed_and_says_where_to(raw, key, status, location, place):
    headers = {} if location is None else {"Location": location.replace("KEY", key)}
    server = raw(lambda *_: http(b"", status=status, **headers))
    with pytest.raises(RunStopped) as stopped:
        asked(server, *(f"{number}?" for number in range(100)))
    assert f"redirects to {place.format(port=server.port)} ({status})" in str(stopped.value)
    assert "set model.base_url to it" in str(stopped.value)
    assert "secretpassword" not in str(stopped.value) and key not in str(stopped.value)
    assert len(server.asked) <= 16 and all(head.startswith(b"POST ") for head in server.heads)


def test_no_prompt_follows_a_redirect_to_another_host(raw):
    other = raw(lambda *_: GOOD)
    server = raw(lambda *_: http(b"", status=307, Location=f"{other.url}/chat/completions"))
    with pytest.raises(RunStopped, match=f"redirects to {other.url} "):
        asked(server, "?")
    assert not other.asked and len(server.asked) == 1


def test_one_redirect_among_answers_is_that_items_failure(raw):
    server = raw(lambda words, times: http(b"", status=302, Location="/login") if words == "0?" else GOOD)
    outcomes = asked(server, *QUESTIONS)
    assert outcomes["0?"].kind == "redirect" and f"127.0.0.1:{server.port}/login (302)" in outcomes["0?"].detail
    assert sum(isinstance(outcome, Response) for outcome in outcomes.values()) == 7


def bomb(megabytes: int) -> bytes:
    """Return megabytes of spaces, packed into a thousandth of their size."""
    packer = zlib.compressobj(9, wbits=31)
    first, later = (packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + later * (megabytes - 1)  # after a full flush nothing refers to what came before


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_that_unpacks_to_a_gigabyte_takes_no_memory(raw, status):
    sent = http(bomb(1024), status=status, Content_Encoding="gzip")
    server = raw(lambda words, times: sent if words == "0?" else GOOD)
    asked(server, "9?")  # what is imported and made once
    tracemalloc.start()
    try:
        outcomes = asked(server, *QUESTIONS, attempts=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    kinds = {200: ("invalid_reply", "the reply is larger than 16 MB"), 500: ("server_error", "500")}
    assert outcomes["0?"].kind == kinds[status][0] and outcomes["0?"].detail.startswith(kinds[status][1])
    assert len(sent) < 1.1e6 and peak < 2 * client.MOST_BYTES_CHAT
    assert all(isinstance(outcomes[question], Response) for question in QUESTIONS[1:])


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [32, 7])
def test_large_replies_to_every_slot_take_no_more_memory_than_two(raw, monkeypatch, megabytes):
    """Neither while they are read nor while their calls wait for a retry; those below the limit are no JSON."""
    monkeypatch.setattr(client, "MOST_BYTES_CHAT", 8 << 20)
    sent = http(bomb(megabytes), Content_Encoding="gzip")
    questions = [f"{number}?" for number in range(60)]
    server = raw(lambda words, times: sent if words in questions[30:42] else GOOD)
    asked(server, "warm")
    tracemalloc.start()
    try:
        outcomes = asked(server, *questions, attempts=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(isinstance(outcome, Failure) for outcome in outcomes.values()) == 12
    assert peak < 8 * client.MOST_BYTES_CHAT


def test_large_replies_are_read_on_two_at_a_time(raw, monkeypatch):
    under_way, most, rest = [0], [0], client._rest

    async def counted(*parts):
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        await asyncio.sleep(0.02)  # in which all others could begin
        under_way[0] -= 1
        return await rest(*parts)

    monkeypatch.setattr(client, "_rest", counted)
    server = raw(lambda words, times: http(BODY + b" " * (3 << 20)))
    outcomes = asked(server, *QUESTIONS)
    assert all(isinstance(outcome, Response) for outcome in outcomes.values()) and most == [2]


@pytest.mark.parametrize("way", ["length", "chunks", "until the end"])
def test_a_reply_has_a_greatest_size_however_it_is_sent(raw, monkeypatch, way):
    monkeypatch.setattr(client, "MOST_BYTES_CHAT", 3 << 20)
    long = b" " * ((3 << 20) - len(BODY))
    framed = {
        "length": lambda body: http(body),
        "chunks": lambda body: HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body),
        "until the end": lambda body: (HEAD + b"\r\n" + body,),
    }[way]
    server = raw(lambda words, times: framed(BODY + long + b" " * (words == "too long")))
    outcomes = asked(server, "fits", "too long", attempts=2)
    assert isinstance(outcomes["fits"], Response)
    assert outcomes["too long"] == Failure("invalid_reply", "the reply is larger than 3 MB")
    assert server.asked.count("too long") == 2
