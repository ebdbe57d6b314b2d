"""Reading a reply that is a number, or comes to one: "-0.16", "about 26 %", "Answer: 3/4"; how sure one says it is."""

from __future__ import annotations

import re
from unicodedata import normalize

from harness.prompting.reading.own_words import own_words
from harness.types import Answer, Response

_LONGEST_REPLY = 100_000
_DIGITS = r"(?:\d+(?:[.,]\d+)?|[.]\d+)"
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<sign>[-−–+]?)[ ]?(?P<digits>{_DIGITS})(?:[eE](?P<power>[-+]?\d{{1,3}}))?"
    rf"(?:\s*/\s*(?P<below>{_DIGITS}))?(?P<percent>\s*\\?%|\s*per\s?cent\b|\s*percentage points?\b)?(?![\w%])"
)
_ANSWER = re.compile(r"\b(?:final answer|answer|final result|result|final value)\b(?P<rest>[^\n]*)", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{(?P<rest>[^{}]*)\}")
CONFIDENCE = "{confidence}"
_PERCENT = re.compile(r"\s*(?P<digits>[0-9]{1,3}(?:[.,][0-9]{1,9})?)\s*(?P<sign>%)?")
_COMES_TO = re.compile(r"(?:=|≈|\bis(?: about| approximately)?\b|\bequals\b)(?P<rest>[^=≈\n]*)$", re.IGNORECASE)


def number(response: Response) -> Answer:
    """Return 1 with the number as its span (`number_of` reads it again); None where it is not plain which one is meant.

    It is the one in a box, after "answer" or "result" where these come last, the only one of the reply, or what the
    last line comes to. Percents are shares, fractions are worked out. Of a reply that was cut off a box alone counts.
    """
    text = own_words(response.text)[:_LONGEST_REPLY].replace("*", "").replace("$", "").replace("`", "")
    boxed = [match["rest"] for match in _BOXED.finditer(text)]
    if boxed and (value := _only(boxed[-1])) is not None:
        return _read(value, "a number in a box")
    if response.finish_reason == "length":
        return Answer(label=None)
    for rest in reversed([match["rest"] for match in _ANSWER.finditer(text)]):
        if (value := _only(_after_equals(rest))) is not None:
            return _read(value, "a number after the word answer")
    if (value := _only(text)) is not None:
        return _read(value, "the only number")
    lines = text.strip().splitlines()
    if lines and (value := _only(_after_equals(lines[-1]))) is not None:
        return _read(value, "what the last line comes to")
    return Answer(label=None)


def number_of(answer: Answer | None) -> float | None:
    """Return the number that an answer holds, None where it holds none."""
    return float(answer.span) if answer is not None and answer.label == 1 and answer.span else None


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
    if not found or (response.finish_reason == "length" and found[-1][0] == len(lines)):
        return None
    match = _PERCENT.fullmatch(found[-1][1][len(beginning) :])
    value = _float(match["digits"]) if match else -1.0
    if not 0 <= value <= 100 or (match and not match["sign"] and 0 < value <= 1):
        return None
    return value / 100


def _read(value: float, rule: str) -> Answer:
    return Answer(label=1, span=repr(value), rule=rule)


def _after_equals(text: str) -> str:
    """Return what a text comes to: the part after the last sign of equality."""
    match = _COMES_TO.search(text.rstrip(" ."))
    return match["rest"] if match else text


def _only(text: str) -> float | None:
    """Return the number of a text that has one, as often as it likes; None where there are several, or none."""
    values = {_value(match) for match in _NUMBER.finditer(text)} - {None}
    return values.pop() if len(values) == 1 else None


def _value(match: re.Match[str]) -> float | None:
    value = _float(match["digits"] + (f"e{match['power']}" if match["power"] else ""))
    if match["below"]:
        below = _float(match["below"])
        if not below:
            return None
        value /= below
    if match["percent"]:
        value /= 100
    return -value if match["sign"] in ("-", "−", "–") and value else value


def _float(digits: str) -> float:
    return float(digits.replace(",", "."))
