"""One HTTP call with the OpenAI SDK's client: its transport, headers and errors, without its work on each request.

The SDK's methods check and convert every request and reply against types and copy the options of every call, which is
two thirds of the processor's time that a call costs. A request here is the client's headers and a body, made once each;
a reply is its JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.models.pace import Pace
from harness.models.secrets import hidden
from harness.types import JSON

if TYPE_CHECKING:
    import ssl


class Wire:
    """The connections of one run, and the pace that their replies are told to."""

    def __init__(self, base_url: str, key: str, timeout: float, pace: Pace) -> None:
        """Opens nothing yet. `timeout` in seconds, for connecting and between two bytes."""
        import httpx2  # the SDK's own
        import openai

        self._openai, self._httpx = openai, httpx2
        self._http = openai.DefaultAioHttpClient(timeout=timeout, verify=_certificates())
        client = openai.AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0, http_client=self._http)
        said = {**client.auth_headers, **client.default_headers}
        self._headers = httpx2.Headers({name: value for name, value in said.items() if isinstance(value, str)})
        base = str(client.base_url).rstrip("/")
        self._url = cache(lambda path: httpx2.URL(base + path))
        self._extensions = {"timeout": httpx2.Timeout(timeout).as_dict()}
        self._pace = pace
        self._key = key
        self.close = client.close

    async def post(self, path: str, body: Mapping[str, JSON]) -> dict[str, Any]:
        """The reply's JSON. Raises the SDK's errors, and ValueError where the reply is no JSON object."""
        content = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        request = self._httpx.Request(
            "POST", self._url(path), headers=self._headers, content=content, extensions=self._extensions
        )
        try:
            response = await self._http.send(request)
        except self._httpx.TimeoutException as error:
            raise self._openai.APITimeoutError(request=request) from error
        except self._httpx.RequestError as error:
            raise self._openai.APIConnectionError(request=request) from error
        self._pace.told(response.headers)
        if not response.is_success:
            raise self._refusal(response)
        reply = json.loads(hidden(response.content, self._key))
        if not isinstance(reply, dict):
            raise ValueError("no object")
        return reply

    def _refusal(self, response: Any) -> Exception:
        """The SDK's error for a reply that is none: with the status, and with what the body says."""
        content = hidden(response.content, self._key)
        try:
            body = json.loads(content)
        except ValueError:
            body = content.decode(response.encoding or "utf-8", "replace").strip()
        told = body.get("error", body) if isinstance(body, dict) else body
        return self._openai.APIStatusError(f"Error code: {response.status_code}", response=response, body=told)


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes longer than many a call, and each turn of an opening makes its own connections."""
    import httpx2

    return httpx2.create_ssl_context()
