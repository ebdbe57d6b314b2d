"""What an address says of who is there; several of them as one setting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from harness.errors import ConfigError
from harness.runtime import secrets

_VERSION = re.compile(r"/(?:v\d+\w*|openai|api)(?:/|$)")
"""Parts of a path that say which API it is."""
_BETWEEN = ", "
"""No address holds a space."""


def joined(base_url: Any) -> Any:
    """Return model.base_url as one text: an address, or several with a comma and a space between them, each once.

    What is neither is returned as it is, to be refused for its type.
    """
    if isinstance(base_url, str) or not isinstance(base_url, Sequence) or not base_url:
        return base_url
    if not all(isinstance(address, str) for address in base_url):
        return base_url
    return _BETWEEN.join(dict.fromkeys(address.strip().rstrip("/") for address in base_url))


def split(base_url: str) -> list[str]:
    return base_url.split(_BETWEEN)


def check_address(base_url: str, key: str, key_variable: str) -> None:
    """Refuse what is no address, or holds credentials; `key_variable` is where the key belongs. Raises ConfigError."""
    address = urlsplit(base_url)
    if address.username or address.password or (not address.hostname and "@" in base_url):
        raise ConfigError(f"model.base_url holds credentials: give them as a key in {key_variable}.")
    secrets.refuse({"base_url": base_url}, key, key_variable)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ConfigError(f"model.base_url={base_url} is no address: write http://… or https://…")
    if address.query or address.fragment:
        raise ConfigError(
            f"model.base_url of {address.hostname} has a part after {'?' if address.query else '#'}, which the "
            f"calls' paths would break: leave it out. A key goes into {key_variable}."
        )


def on_this_machine(base_url: str) -> bool:
    """Test whether a server runs here, so that its answers cost no money; of several it is the first that decides."""
    host = urlsplit(split(base_url)[0]).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def advice(base_url: str) -> str:
    """Return the advice on an address whose path names no API; nothing where it names one."""
    first = split(base_url)[0]
    if _VERSION.search(urlsplit(first).path):
        return ""
    return f"is model.base_url right? It usually ends in /v1 ({first.rstrip('/')}/v1)."


def in_private_network(base_url: str) -> bool:
    """Test whether a server runs here or in a private network: it is no provider's, but one that was started there."""
    host = urlsplit(split(base_url)[0]).hostname or ""
    if on_this_machine(base_url) or host.endswith((".local", ".internal", ".lan", ".home.arpa")):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return host != "" and "." not in host
