"""What the x-ratelimit headers of a reply say."""

from __future__ import annotations

import re
from collections.abc import Mapping

LONGEST_PAUSE = 60.0
"""Seconds for which a header is believed at most."""
_HEADERS = [(f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens")]
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def pause(headers: Mapping[str, str]) -> float:
    """Return the seconds until something is left to ask for; 0 where something is, or the headers do not say."""
    longest = 0.0
    for remaining, reset in _HEADERS:
        amount, span = headers.get(remaining), headers.get(reset)
        if amount is not None and span is not None and amount.strip() == "0":
            longest = max(longest, min(seconds(span), LONGEST_PAUSE))
    return longest


def seconds(span: str) -> float:
    """Return the seconds of a span as the headers write it, such as 1s, 6m0s, 250ms; 0 where it is none."""
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(span))
