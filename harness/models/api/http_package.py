"""The HTTP package of the installed OpenAI SDK: its requests, timeouts and errors are those of its transport."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any


@cache
def http_package() -> Any:
    """Return httpx2, on which the SDK is built from 3.0 on, or httpx, which is older and the same in all that is used.

    Both may be installed, of which only the SDK's own goes with its client.
    """
    return import_module("httpx" if int(version("openai").partition(".")[0]) < 3 else "httpx2")
