"""One HTTP call over the OpenAI SDK's transport, in the provider's dialect, without the SDK's work on each request.

The SDK's methods check and convert every request and reply against types and copy the options of every call, which
takes two thirds of a call's CPU time. Here a request is headers and a body, and a reply its JSON.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from harness.models.api.bodies import Secret, is_page, words_of
from harness.models.api.dialects import OPENAI, Dialect
from harness.models.api.families import on_this_machine, readable_proxies
from harness.models.api.faults import PageError, RefusedError, TooLargeError
from harness.models.api.gate import Gate
from harness.models.api.http_package import http_package
from harness.models.api.refusals import error_in
from harness.models.api.replies import InvalidReplyError, LostError, one_line
from harness.types import JSON

if TYPE_CHECKING:
    import ssl

MOST_BYTES, MOST_BYTES_CHAT = 64 << 20, 16 << 20
"""The largest reply that is read, after unpacking, and the largest chat completion. The largest that make sense are
echoed prompts of a million tokens with the log-probability of each. A megabyte that unpacks to a gigabyte must not fill
the machine's memory."""
LARGE_BYTES, LARGE_AT_ONCE = 1 << 20, 2
"""Bytes that are read of an error's body. Other replies beyond this size are read two at a time: one in every slot of a
run would take gigabytes."""
_PAGES = ("text/html", "application/xhtml+xml", "text/xml", "application/xml", "text/event-stream")
"""Content types of bodies that cannot be the API's."""
CONNECT_TIMEOUT = 30.0
"""Seconds for connecting, if model.timeout is longer: even a busy server accepts connections at once."""


class Wire:
    """The connections of one run to an address, and the gate that learns from their headers."""

    def __init__(self, base_url: str, key: str, timeout: float, gate: Gate, dialect: Dialect = OPENAI) -> None:
        """Prepare a client, which connects with the first request.

        `timeout`: seconds for connecting, and between two bytes.
        """
        import aiohttp  # the transport's own
        import openai

        self._httpx, self._aiohttp = http_package(), aiohttp
        with readable_proxies():
            self._http = openai.DefaultAioHttpClient(
                timeout=timeout,
                verify=_certificates(),
                # A redirect would send the prompts to another host or lose them; its page would pass as an answer.
                follow_redirects=False,
                # A proxy cannot reach servers on this machine, and would see prompts that should not leave it.
                trust_env=not on_this_machine(base_url),
            )
        json_type, agent = "application/json", f"AsyncOpenAI/Python {openai.__version__}"
        headers = {"Accept": json_type, "Content-Type": json_type, "User-Agent": agent, **dialect.headers(key)}
        self._headers = self._httpx.Headers(headers)
        self._dialect = dialect
        base = base_url.rstrip("/")
        self._base_path = urlsplit(base).path
        self._url = cache(lambda path: self._httpx.URL(base + path))
        self._root = cache(lambda path: self._httpx.URL(base.removesuffix("/v1") + path))
        self.memory: dict[Any, Any] = {}
        """What others learn about the server, kept as long as its connections."""
        limits = self._httpx.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT))
        self._extensions = {"timeout": limits.as_dict()}
        self._gate = gate
        self._secret = Secret(key)
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self.close = self._http.aclose

    async def post(self, path: str, body: Mapping[str, JSON], *, at_root: bool = False) -> dict[str, Any]:
        """Return the reply to a call, as a completion. `at_root`: the path is beside the API's /v1, not below it.

        Raises RefusedError for a status other than success and for an error inside of a success, LostError and
        TimeoutError if no reply came, PageError if something other than the API answers, and InvalidReplyError if the
        reply is no JSON object.
        """
        own_path, own_body = (path, body) if at_root else self._dialect.call(path, body)
        content = json.dumps(own_body, separators=(",", ":"), allow_nan=False).encode()
        url = (self._root if at_root else self._url)(own_path)
        request = self._httpx.Request("POST", url, headers=self._headers, content=content, extensions=self._extensions)
        response, content = await self._exchange(request, MOST_BYTES_CHAT if path.startswith("/chat") else MOST_BYTES)
        self._gate.read_rate_limit_headers(response.headers)
        if not response.is_success:
            raise self._refusal(response, content)
        try:
            reply = self._secret.loads(content)
        except RecursionError:
            raise InvalidReplyError("the reply is nested too deeply") from None
        except ValueError as error:
            if page := self._page(response, content):
                raise PageError(page) from None
            raise InvalidReplyError(f"the reply is not JSON ({error})") from None
        if not isinstance(reply, dict):
            raise InvalidReplyError("the reply is not a JSON object")
        try:
            reply = self._dialect.reply(reply)
        except Exception as error:  # whatever a server has written breaks only its own reply
            raise InvalidReplyError(f"{type(error).__name__}: {error}") from None
        if (error_inside := error_in(reply, response.headers)) is not None:
            raise error_inside
        return reply

    async def _exchange(self, request: Any, most: int) -> tuple[Any, bytes]:
        """Return the response to a request, and its body, unpacked.

        This is the border: whatever the HTTP client raises in here is due to what was on the wire, whatever its class
        (malformed HTTP alone has a dozen, not all of them the client's own), and may pass. What our own code raises
        outside of this method is a bug, and ends the run.
        """
        try:
            response = await self._http.send(request, stream=True)
            try:
                return response, await self._body(response, most)
            except BaseException:
                await response.aclose()  # and the connection with it: a part of the body is still to come
                raise
        except InvalidReplyError:
            raise
        except self._httpx.DecodingError as error:
            raise InvalidReplyError(f"the reply cannot be unpacked ({self._error_text(error)})") from None
        except Exception as error:
            # Without the cause, whose words may hold the key: a traceback would show it.
            raise self._lost(error) from None

    async def _body(self, response: Any, most: int) -> bytes:
        """Return the body, cut off for an error. Raises TooLargeError if another one is larger than `most` bytes."""
        pieces, size = [], 0
        async with aclosing(response.aiter_bytes()) as parts:
            async for piece in parts:  # a megabyte at most, even of a packed body
                pieces.append(piece)
                size += len(piece)
                if size > LARGE_BYTES:
                    if not response.is_success:
                        await response.aclose()
                        break
                    async with self._large:
                        return await _rest(parts, pieces, size, most)
        return b"".join(pieces)

    def _lost(self, error: Exception) -> Exception:
        """Return TimeoutError or LostError for an error of the HTTP client."""
        # The transport calls every lost connection a connect timeout.
        late = isinstance(error, self._httpx.TimeoutException) and not isinstance(error, self._httpx.ConnectTimeout)
        if late or isinstance(error, TimeoutError):
            return TimeoutError(self._error_text(error))
        unconnected = (
            self._aiohttp.ClientConnectorError,
            self._aiohttp.ConnectionTimeoutError,
            self._aiohttp.ClientHttpProxyError,
        )
        return LostError(self._error_text(error), connected=not isinstance(error.__cause__ or error, unconnected))

    def _refusal(self, response: Any, content: bytes) -> Exception:
        """Return the error for a status other than success."""
        if response.status_code < 200:
            return InvalidReplyError(f"the reply has the status {response.status_code}")
        body = self._secret.body(content) if response.status_code >= 400 else self._place(response)
        return RefusedError(response.status_code, body, response.headers)

    def _page(self, response: Any, content: bytes) -> str:
        """Describe a body that was not meant to be JSON; "" for broken JSON."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        text = self._secret.text(content[:LARGE_BYTES])
        broken_json = text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")
        if kind not in _PAGES and not is_page(text) and (kind != "text/plain" or broken_json or not text.strip()):
            return ""
        name = "an HTML page" if "html" in kind or is_page(text) else f"{kind}, which is no JSON"
        return f"{name} ({one_line(words_of(text)) if text.strip() else 'empty'})"

    def _place(self, response: Any) -> str:
        """Return where a redirect leads, as model.base_url would name it, without what may be a key or a password."""
        origin = response.request.url
        try:
            target = urlsplit(urljoin(str(origin), response.headers["location"]))
            host, port = target.hostname, target.port
        except (KeyError, ValueError):
            host = None
        if not host:
            return "an address that it does not name"
        host = f"[{host}]" if ":" in host else host
        path = target.path.removesuffix(origin.path.removeprefix(self._base_path))
        return self._secret.hide(f"{target.scheme}://{host}{f':{port}' if port else ''}{path}")

    def _error_text(self, error: Exception) -> str:
        return one_line(self._secret.hide(f"{type(error.__cause__ or error).__name__}: {error}"))


async def _rest(parts: AsyncIterator[bytes], pieces: list[bytes], size: int, most: int) -> bytes:
    """Read the rest of a large reply after its first `pieces`. Raises TooLargeError beyond `most` bytes."""
    async for piece in parts:
        pieces.append(piece)
        size += len(piece)
        if size > most:
            pieces.clear()
            raise TooLargeError(f"the reply is larger than {most >> 20} MB")
    return b"".join(pieces)


@cache
def _certificates() -> ssl.SSLContext:
    """Read once, since it takes longer than many a call, and each turn of an opening has connections of its own."""
    context: ssl.SSLContext = http_package().create_ssl_context()
    return context
