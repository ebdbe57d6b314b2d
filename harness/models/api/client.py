"""The official SDKs' way to a server: one HTTP client for all of them, bounded, and its errors by our names.

This is imported when something has to be asked: openai takes 0.4 s, which a run from the cache does not pay.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
import httpx2
from openai import DefaultAioHttpClient

from harness.errors import ConfigError
from harness.models.api.endpoint import Endpoint
from harness.models.api.families import on_this_machine
from harness.models.api.faults import RefusedError, error_in, words_of
from harness.models.api.replies import (
    CallError,
    InvalidReplyError,
    LateError,
    LostError,
    TooLargeError,
    UnsupportedError,
    one_line,
    usage_of,
)
from harness.runtime.secrets import SECRET, mask_keys
from harness.types import Failure, Request, Response, Usage

MOST_BYTES, MOST_BYTES_ERROR = 16 << 20, 1 << 20
"""The largest reply that is read, after unpacking; of an error's gigabyte the first words are enough."""
CONNECT_TIMEOUT = 30.0
"""Seconds for connecting, if model.timeout is longer: even a busy server accepts connections at once."""
_UNCONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
_PACKED = (b"content-encoding", b"content-length", b"transfer-encoding")


class HttpClient(DefaultAioHttpClient):
    """The HTTP client that the SDKs are given: it reads whole replies, up to a bound, and follows no redirect."""

    def __init__(self, base_url: str, timeout: float) -> None:
        """Prepare for an address; a proxy cannot reach servers on this machine, and is not to see their prompts."""
        here = on_this_machine(base_url)
        trusted = certificates() if not here or base_url.startswith("https") else False
        try:
            if not here and any(os.environ[name].lower().startswith("socks") for name in _proxies()):
                raise ValueError("a SOCKS proxy is none for HTTP")
            super().__init__(
                timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT), pool=None),
                follow_redirects=False,
                trust_env=not here,
                verify=trusted,
            )
        except Exception as error:  # ValueError, the client's own InvalidURL
            raise ConfigError(
                f"no client can be made for the proxy in {', '.join(_proxies())} ({mask_keys(str(error))}): it is "
                "http://HOST:PORT, with user:password@ before HOST where it asks for them."
            ) from None

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Return a whole response. Raises LostError, LateError or InvalidReplyError where there is none.

        What is asked for as a stream is a file, which the caller reads piece by piece. The transport reports a lost
        connection as a time-out: what it was stands in its cause.
        """
        try:
            response = await super().send(request, **{**options, "stream": True})
            if options.get("stream") and response.is_success:
                return response
            try:
                content = await _bounded(response)
            finally:
                await response.aclose()
        except TooLargeError:
            raise
        except Exception as error:
            raise lost(error) from None
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _PACKED]
        return httpx2.Response(response.status_code, headers=headers, content=content, request=request)


def _proxies() -> list[str]:
    """Return the variables of the environment that name a proxy."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return [name for name, value in os.environ.items() if name.upper() in names and value]


async def _bounded(response: httpx2.Response) -> bytes:
    failed = response.status_code >= 300
    most = MOST_BYTES_ERROR if failed else MOST_BYTES
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > most and failed:
            break
        if len(content) > most:
            raise TooLargeError(f"the reply is larger than {most >> 20} MB")
    return bytes(content)


def lost(error: Exception) -> CallError:
    """Return an error of the transport's by our names."""
    root = error.__cause__ or error
    words = one_line(mask_keys(f"{type(root).__name__}: {root}"))
    if isinstance(error, httpx2.DecodingError):
        return InvalidReplyError(f"the reply cannot be unpacked ({words})")
    if isinstance(root, TimeoutError) and not isinstance(root, aiohttp.ConnectionTimeoutError):
        return LateError("no answer within model.timeout")
    if why := re.search(r"verify failed: (.*?) \(_ssl", str(root)):
        words = f"{why[1]}; SSL_CERT_FILE or REQUESTS_CA_BUNDLE names a company's own certificates"
    if isinstance(root, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError):
        words += f"; the proxy is that of {', '.join(_proxies())}"
    return LostError(words, connected=not isinstance(root, _UNCONNECTED))


@cache
def certificates() -> ssl.SSLContext:
    """Return what SSL_CERT_FILE, SSL_CERT_DIR or the system trusts, and REQUESTS_CA_BUNDLE. It is slow, so once."""
    name = "SSL_CERT_FILE" if os.environ.get("SSL_CERT_FILE") else "SSL_CERT_DIR"
    try:
        context = httpx2.create_ssl_context()
        if bundle := os.environ.get("REQUESTS_CA_BUNDLE"):
            name = "REQUESTS_CA_BUNDLE"
            context.load_verify_locations(**{"capath" if Path(bundle).is_dir() else "cafile": bundle})
    except OSError as error:
        raise ConfigError(f"the certificates in {name}={os.environ.get(name)} cannot be read ({error}).") from None
    return context


class Wire:
    """The way to one server for one run, by its SDK's client."""

    def __init__(self, endpoint: Endpoint, learn: Callable[[Mapping[str, str]], None]) -> None:
        """Make the client; `learn` is told the headers of each reply. Raises ConfigError without the SDK."""
        http = HttpClient(endpoint.base_url, endpoint.timeout)
        self._endpoint, self._sdk, self._learn, self.close = endpoint, endpoint.sdk(http), learn, http.aclose
        self._key = endpoint.key if len(endpoint.key) >= SECRET else ""

    async def ask(self, request: Request) -> tuple[Response | Failure, Usage]:
        """Return the outcome of a request, and what the server has counted for it.

        Raises RefusedError for a status other than success and for an error inside of a success, LostError and
        LateError if no reply came, and InvalidReplyError if the reply holds no answer.
        """
        started = time.perf_counter()
        try:
            # The transport's own limit counts from the last byte: a slow drip of bytes would never exceed it.
            async with asyncio.timeout(self._endpoint.timeout):
                answered = await self._sent(request)
        except TimeoutError:
            raise LateError("no answer within model.timeout") from None
        seconds = round(time.perf_counter() - started, 4)
        self._learn(answered.headers)
        reply: dict[str, Any] = {}
        try:
            reply = self._content(answered)
            reply = self._endpoint.completion(reply)
            if (error_inside := error_in(reply, answered.headers)) is not None:
                raise error_inside
            return self._endpoint.read(reply, request, seconds), usage_of(reply)
        except RefusedError as error:
            error.asked = mask_keys(str(answered.request.url))
            raise
        except Exception as error:
            # What is taken from a reply is checked. If one breaks `read` all the same, only that reply is lost. A bug
            # of ours would break every reply, and the run stops with the name of the error.
            named = f"{type(error).__name__}: {error}"
            invalid = error if isinstance(error, InvalidReplyError) else InvalidReplyError(named)
            invalid.usage = usage_of(reply)
            raise invalid from None

    async def _sent(self, request: Request) -> httpx2.Response:
        """Return what the server sends, whatever its status."""
        try:
            return await self._endpoint.sent(self._sdk, request)
        except Exception as error:  # the SDK's, around what HttpClient has raised or around a response
            if isinstance(answered := getattr(error, "response", None), httpx2.Response):
                return answered
            raise error.__cause__ if isinstance(error.__cause__, CallError) else error from None

    def _content(self, answered: httpx2.Response) -> dict[str, Any]:
        """Return the JSON object in a response. Raises RefusedError or InvalidReplyError."""
        text = answered.content.decode("utf-8", "replace")
        text = text.replace(self._key, "[the key]") if self._key else text
        if not 200 <= answered.status_code < 300:
            raise _refusal(answered, text)
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError) as error:
            kind = answered.headers.get("content-type", "").partition(";")[0].strip().lower()
            if stream := _stream(kind, text, error):
                raise UnsupportedError(
                    f"{self._endpoint.base_url} sends a stream of {stream}, though none was asked for: is that the "
                    "address of an API like OpenAI's, and does no gateway stream by a setting of its own?"
                ) from None
            page = _page(kind, text)
            raise InvalidReplyError(page or f"the reply is not JSON ({error})") from None
        if not isinstance(reply, dict):
            raise InvalidReplyError("the reply is not a JSON object")
        return reply


def _refusal(response: httpx2.Response, text: str) -> Exception:
    """Return the error for a status other than success; a redirect's words are where it leads."""
    status = response.status_code
    words = _place(response) if 300 <= status < 400 else text
    if status < 300 or (status < 400 and not words):
        return InvalidReplyError(f"the reply has the status {status}")
    return RefusedError(status, words, response.headers)


def _stream(kind: str, text: str, error: Exception) -> str:
    """Return what a body is a stream of, by its content type, its words and why it is no JSON; "" for another body."""
    if kind == "text/event-stream" or re.match(r"\ufeff?\s*(?:data|event):", text):
        return "events"
    second = error.pos if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data" else 0
    return "JSON lines" if second and text[second] == "{" and "\n" in text[:second].rpartition("}")[2] else ""


def _page(kind: str, text: str) -> str:
    """Describe a body that was not meant to be JSON, and was written by something else; "" for broken JSON."""
    start = text.lstrip("\ufeff \t\r\n")
    if start[:1] == "<" or kind.endswith(("html", "xml")) or (kind == "text/plain" and start[:1] not in "{["):
        words = one_line(words_of(text)) or "empty"
        return f"a page ({words}): is model.base_url right, and does no login page or proxy stand before the server?"
    return ""


def _place(response: httpx2.Response) -> str:
    """Return where a redirect leads, without what may be a key or a password; "" if it does not say."""
    try:
        target = urlsplit(urljoin(str(response.request.url), response.headers["location"]))
        place = f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}"
    except (KeyError, ValueError):
        return ""
    return mask_keys(place).removesuffix("/chat/completions").removesuffix("/completions").removesuffix("/messages")
