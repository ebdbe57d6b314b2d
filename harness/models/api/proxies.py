"""The proxy that the environment names for an address, as curl and httpx2 understand its variables."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.request import getproxies


def proxy_for(url: str) -> tuple[str, dict[str, str]]:
    """Return the address of the proxy for a server and the headers that hold its password; "" for none.

    aiohttp's own reading of the environment knows neither ALL_PROXY nor networks in NO_PROXY, and would send what a
    netrc file has instead of the key. Raises whatever httpx2 raises for a proxy's address that is none.
    """
    if not any(getproxies().get(scheme) for scheme in ("http", "https", "all")):
        return "", {}
    proxy = _chosen(url)
    if proxy is None:
        return "", {}
    # Not as a part of the address: there aiohttp would show the password in its errors.
    user, password = proxy.raw_auth or (b"", b"")
    credentials = {"Proxy-Authorization": f"Basic {b64encode(user + b':' + password).decode()}"} if proxy.auth else {}
    return str(proxy.url), credentials


def _chosen(url: str) -> Any:
    """Return httpx2's proxy for an address; None for none. Its import takes longer than a call, hence only here."""
    import httpx2

    class Choice(httpx2.Client):
        def _init_transport(self, **_: Any) -> Any:  # type: ignore[override]
            return None

        def _init_proxy_transport(self, proxy: httpx2.Proxy, **_: Any) -> Any:  # type: ignore[override]
            return proxy

    return Choice()._transport_for_url(httpx2.URL(url))
