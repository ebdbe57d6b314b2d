"""How sure a reply says it is: read in its form, or not at all."""

from __future__ import annotations

import re
from unicodedata import normalize

from harness.prompting.reading.own_words import own_words
from harness.types import Response, ended

CONFIDENCE = "{confidence}"
_LONGEST_REPLY = 100_000
_PERCENT = re.compile(r"\s*(?P<digits>[0-9]{1,3}(?:[.,][0-9]{1,9})?)\s*(?P<sign>%)?")


def stated_confidence(response: Response, form: str) -> float | None:
    """Return how sure a reply says it is, from 0 to 1, on its last line of the form ("Confidence: {confidence}").

    The line holds nothing else but a number of percent, from 0 to 100, its sign may be missing; any other is None, and
    no line before it counts. So is a number up to 1 without the sign, 0 excepted, which may be a share or a percent,
    and one that ends a reply that was cut off, which may lack digits.
    """
    beginning = form.partition(CONFIDENCE)[0].strip()
    text = re.sub(r"[*_`$\\]", "", normalize("NFKC", own_words(response.text)[-_LONGEST_REPLY:]))
    lines = [line.lstrip(" \t-•>#").rstrip(" \t.") for line in text.strip().splitlines()]
    found = [(place, line) for place, line in enumerate(lines, 1) if line.casefold().startswith(beginning.casefold())]
    if not found or (ended(response.finish_reason) != "complete" and found[-1][0] == len(lines)):
        return None
    match = _PERCENT.fullmatch(found[-1][1][len(beginning) :])
    value = float(match["digits"].replace(",", ".")) if match else -1.0
    if not 0 <= value <= 100 or (match and not match["sign"] and 0 < value <= 1):
        return None
    return value / 100
