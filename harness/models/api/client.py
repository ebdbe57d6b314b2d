"""One HTTP call by aiohttp, in the provider's dialect: a request is headers and a body, and a reply its JSON.

No SDK: to import OpenAI's takes longer than a hundred calls, and its methods check and convert every request and reply
against types, which takes two thirds of a call's CPU time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from harness import __version__
from harness.models.api.bodies import Secret, is_page, words_of
from harness.models.api.dialects import OPENAI, Dialect
from harness.models.api.families import on_this_machine, readable_proxies
from harness.models.api.faults import PageError, RefusedError, TooLargeError
from harness.models.api.gate import Gate
from harness.models.api.proxies import proxy_for
from harness.models.api.refusals import error_in
from harness.models.api.replies import InvalidReplyError, LostError, one_line
from harness.types import JSON

if TYPE_CHECKING:
    import ssl

    import aiohttp

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
CONNECTIONS, IDLE = 1000, 5.0
"""The most connections to an address, and the seconds for which one that has nothing to do is kept."""


class Wire:
    """The connections of one run to an address, and the gate that learns from their headers."""

    def __init__(self, base_url: str, key: str, timeout: float, gate: Gate, dialect: Dialect = OPENAI) -> None:
        """Prepare a client, which connects with the first request.

        `timeout`: seconds for connecting, and between two bytes.
        """
        import aiohttp

        self._aiohttp = aiohttp
        json_type, agent = "application/json", f"causal-harness/{__version__}"
        headers = {"Accept": json_type, "Content-Type": json_type, "User-Agent": agent, **dialect.headers(key)}
        self._dialect = dialect
        self._base = base_url.rstrip("/")
        self._base_path = urlsplit(self._base).path
        with readable_proxies():
            # A proxy cannot reach servers on this machine, and would see prompts that should not leave it.
            proxy, password = ("", {}) if on_this_machine(base_url) else proxy_for(base_url)
        limits = aiohttp.ClientTimeout(connect=timeout, sock_connect=min(timeout, CONNECT_TIMEOUT), sock_read=timeout)
        # A redirect would send the prompts to another host or lose them; its page would pass as an answer.
        self._options: dict[str, Any] = {"headers": headers, "allow_redirects": False, "timeout": limits}
        if proxy:
            self._options["proxy"] = proxy
            if base_url.startswith("https:"):  # what asks the proxy for a tunnel is another request
                self._options["proxy_headers"] = password
            else:
                headers |= password
        self._encrypted = base_url.startswith("https:") or proxy.startswith("https:")
        self._session: aiohttp.ClientSession | None = None
        self._gate = gate
        self._secret = Secret(key)
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def post(self, path: str, body: Mapping[str, JSON]) -> dict[str, Any]:
        """Return the reply to a call, as a completion.

        Raises RefusedError for a status other than success and for an error inside of a success, LostError and
        TimeoutError if no reply came, PageError if something other than the API answers, and InvalidReplyError if the
        reply is no JSON object.
        """
        own_path, own_body = self._dialect.call(path, body)
        content = json.dumps(own_body, separators=(",", ":"), allow_nan=False).encode()
        most = MOST_BYTES_CHAT if path.startswith("/chat") else MOST_BYTES
        response, content = await self._exchange(self._base + own_path, content, most)
        self._gate.read_rate_limit_headers(response.headers)
        if not 200 <= response.status < 300:
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

    async def _exchange(self, url: str, content: bytes, most: int) -> tuple[aiohttp.ClientResponse, bytes]:
        """Return the response to a request, and its body, unpacked.

        This is the border: whatever the HTTP client raises in here is due to what was on the wire, whatever its class
        (malformed HTTP alone has a dozen, not all of them the client's own), and may pass. What our own code raises
        outside of this method is a bug, and ends the run.
        """
        try:
            response = await self._opened().post(url, data=content, **self._options)
            try:
                return response, await self._body(response, most)
            except BaseException:
                response.close()  # and the connection with it: a part of the body is still to come
                raise
        except InvalidReplyError:
            raise
        except Exception as error:
            # Without the cause, whose words may hold the key: a traceback would show it.
            raise self._lost(error) from None

    def _opened(self) -> aiohttp.ClientSession:
        """Return the connections, made with the first call: they belong to the event loop that runs then."""
        if self._session is None:
            certificates = _certificates() if self._encrypted else True
            connector = self._aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=IDLE, ssl=certificates)
            self._session = self._aiohttp.ClientSession(connector=connector)
        return self._session

    async def _body(self, response: aiohttp.ClientResponse, most: int) -> bytes:
        """Return the body, cut off for an error. Raises TooLargeError if another one is larger than `most` bytes."""
        pieces, size = [], 0
        while piece := await response.content.readany():  # some hundred kilobytes at most, even of a packed body
            pieces.append(piece)
            size += len(piece)
            if size > LARGE_BYTES:
                if response.status >= 300:
                    response.close()
                    break
                async with self._large:
                    return await _rest(response.content, pieces, size, most)
        return b"".join(pieces)

    def _lost(self, error: Exception) -> Exception:
        """Return InvalidReplyError, TimeoutError or LostError for an error of the HTTP client."""
        client = self._aiohttp
        if isinstance(error.__cause__, client.http_exceptions.ContentEncodingError):
            return InvalidReplyError(f"the reply cannot be unpacked ({self._error_text(error)})")
        # A connection that was not made in time may pass as one that was refused.
        if isinstance(error, TimeoutError) and not isinstance(error, client.ConnectionTimeoutError):
            return TimeoutError(self._error_text(error))
        unconnected = (client.ClientConnectorError, client.ConnectionTimeoutError, client.ClientHttpProxyError)
        return LostError(self._error_text(error), connected=not isinstance(error, unconnected))

    def _refusal(self, response: aiohttp.ClientResponse, content: bytes) -> Exception:
        """Return the error for a status other than success."""
        if response.status < 200:
            return InvalidReplyError(f"the reply has the status {response.status}")
        body = self._secret.body(content) if response.status >= 400 else self._place(response)
        return RefusedError(response.status, body, response.headers)

    def _page(self, response: aiohttp.ClientResponse, content: bytes) -> str:
        """Describe a body that was not meant to be JSON; "" for broken JSON."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        text = self._secret.text(content[:LARGE_BYTES])
        broken_json = text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")
        if kind not in _PAGES and not is_page(text) and (kind != "text/plain" or broken_json or not text.strip()):
            return ""
        name = "an HTML page" if "html" in kind or is_page(text) else f"{kind}, which is no JSON"
        return f"{name} ({one_line(words_of(text)) if text.strip() else 'empty'})"

    def _place(self, response: aiohttp.ClientResponse) -> str:
        """Return where a redirect leads, as model.base_url would name it, without what may be a key or a password."""
        origin = urlsplit(str(response.url))
        try:
            # Bytes that are no UTF-8 stand in headers as half characters, which no file takes.
            location = response.headers["location"].encode(errors="surrogateescape").decode(errors="replace")
            target = urlsplit(urljoin(origin.geturl(), location))
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


async def _rest(stream: aiohttp.StreamReader, pieces: list[bytes], size: int, most: int) -> bytes:
    """Read the rest of a large reply after its first `pieces`. Raises TooLargeError beyond `most` bytes."""
    while piece := await stream.readany():
        pieces.append(piece)
        size += len(piece)
        if size > most:
            pieces.clear()
            raise TooLargeError(f"the reply is larger than {most >> 20} MB")
    return b"".join(pieces)


@cache
def _certificates() -> ssl.SSLContext:
    """Read once, since it takes longer than many a call, and each turn of an opening has connections of its own.

    httpx2's choice of certificates: SSL_CERT_FILE, SSL_CERT_DIR, else what the system trusts.
    """
    import httpx2

    return httpx2.create_ssl_context()
