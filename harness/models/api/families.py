"""What is known of a model by its name and of a server by its address: what they take.

The table is harness/data/model_families.yaml, which explains its fields.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from harness.errors import ConfigError

Limit = Literal["max_tokens", "max_completion_tokens"]
_VERSION = re.compile(r"/(?:v\d+\w*|openai|api)(?:/|$)")
"""Parts of a path that name an API."""
_CALL = re.compile(r"/(?:chat/)?completions$|/messages$|/responses$|/models$")
_PRIVATE = (".local", ".internal", ".lan", ".home.arpa")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Models that take the same parameters; the defaults are those of a model that does not reason."""

    match: Sequence[str] = ("*",)
    reasoning: bool = False
    limit: Limit = "max_tokens"
    temperature: Literal["sent", "refused"] = "sent"
    stop: Literal["sent", "refused"] = "sent"
    thoughts_counted: bool = True
    seed: Literal[False] | None = None
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Servers that take the same parameters; the defaults are those of an unknown server."""

    match: Sequence[str] = ("*",)
    seed: bool = False
    limit: Limit | None = None
    thinks_like: str | None = None
    source: str = ""


def shipped_rows(name: str) -> Any:
    """Return the content of a YAML file in harness/data/."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it was built
    return yaml.load((resources.files("harness") / "data" / name).read_text(encoding="utf-8"), loader)


@cache
def families() -> tuple[Family, ...]:
    """Return the rows of models. The first that matches counts."""
    return tuple(Family(**row) for row in shipped_rows("model_families.yaml")["families"])


@cache
def providers() -> tuple[Provider, ...]:
    """Return the rows of servers. The first that matches counts."""
    return tuple(Provider(**row) for row in shipped_rows("model_families.yaml")["providers"])


@cache
def family_of(model: str) -> Family:
    """Return the first row that matches a model's name, as the table has it: openai/ft:o3 is o3; else the defaults."""
    name = model.lower().rstrip("/").rpartition("/")[2].removeprefix("ft:")
    return next((row for row in families() if matches(row.match, name)), Family())


@cache
def provider_of(base_url: str) -> Provider:
    """Return the first row that matches the host of an address, else the defaults."""
    address = urlsplit(base_url.lower())
    hosts = (address.hostname or "", address.netloc.rpartition("@")[2])
    for row in providers():
        if any(matches(row.match, host) for host in hosts) or ("local" in row.match and in_private_network(base_url)):
            return row
    return Provider()


def matches(globs: Sequence[str], name: str) -> bool:
    """Return whether a name is of one of some patterns."""
    return any(fnmatchcase(name, glob) for glob in globs)


def check_address(base_url: str, key_variable: str) -> None:
    """Raise ConfigError for what is no address or holds credentials: a key belongs in the variable `key_variable`."""
    address = urlsplit(base_url)
    if "@" in base_url:
        raise ConfigError(f"model.base_url holds credentials: give them as a key in {key_variable}.")
    port = int((re.findall(r":(\d+)$", address.netloc) or [80])[0])
    if address.scheme not in ("http", "https") or not address.hostname or len(base_url.split()) > 1 or port >= 1 << 16:
        raise ConfigError(f"model.base_url={base_url} is no address: write http://… or https://…")
    if address.query or address.fragment:
        raise ConfigError(
            f"model.base_url of {address.hostname} has a part after {'?' if address.query else '#'}, which the "
            f"calls' paths would break: leave it out. A key goes into {key_variable}."
        )


def _host(base_url: str) -> tuple[str, IPv4Address | IPv6Address | None]:
    """Return the host of an address, and as a number where it is one."""
    host = urlsplit(base_url).hostname or ""
    with suppress(ValueError):
        return host, ip_address(host)
    return host, None


def on_this_machine(base_url: str) -> bool:
    """Test whether a server runs on this machine, so that its answers cost nothing."""
    host, number = _host(base_url)
    named = host == "localhost" or host.endswith(".localhost")
    return named or (number is not None and (number.is_loopback or number.is_unspecified))


def advice(base_url: str) -> str:
    """Return a hint on an address whose path names no API, or names its calls too; "" for one that names the API."""
    path = urlsplit(base_url).path.rstrip("/")
    if call := _CALL.search(path):
        return f"is model.base_url right? Calls add their own paths to it: leave {call[0]} out."
    if _VERSION.search(path):
        return ""
    return f"is model.base_url right? It usually ends in /v1 ({base_url.rstrip('/')}/v1)."


def in_private_network(base_url: str) -> bool:
    """Test whether a server runs here or in a private network, so that it is no provider's."""
    host, number = _host(base_url)
    if number is not None:
        return number.is_private
    return on_this_machine(base_url) or (host != "" and "." not in host) or host.endswith(_PRIVATE)
