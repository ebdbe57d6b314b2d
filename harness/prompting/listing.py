"""Reading a reply that ends with a list, "Answer: A - B; B - C", with "Answer: none", or with Yes or No alone."""

from __future__ import annotations

import json
import re

from harness.prompting.reading.own_words import own_words
from harness.types import Answer, Response

_LONGEST_REPLY = 100_000
_ANSWER = re.compile(r"^[ \t>#-]*(?:the )?(?:final )?answers?(?: is| are)?[ \t]*:[ \t]*(?P<rest>.*)$", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-•+]|\d{1,3}[.)])\s+(?=\S)")
_NONE = re.compile(r"(?:there (?:is|are) )?(?:none|nothing|no \w+|empty|∅|\{\}|\[\]|\(none\))", re.IGNORECASE)


def listing(response: Response) -> Answer:
    """Return 1 with the entries of the last list as JSON (`entries` reads them again), 0 for none; None without a list.

    They stand in the last line that begins with "Answer:", with ; , or "and" between them, or below it line by line. A
    line with Yes or No alone is that answer. Of a reply that was cut off the list counts if something follows it.
    """
    lines = [re.sub(r"[*`$]", "", line).strip() for line in own_words(response.text)[-_LONGEST_REPLY:].splitlines()]
    place = next((k for k in reversed(range(len(lines))) if _ANSWER.match(lines[k])), None)
    if place is None:
        return Answer(label=None)
    match = _ANSWER.match(lines[place])
    rest, below = (match["rest"] if match else "").strip(), [line for line in lines[place + 1 :] if line]
    if response.finish_reason == "length" and (not below or not rest):
        return Answer(label=None)
    if not rest:
        rest = ";".join(_BULLET.sub("", line) for line in below)
    words = rest.strip(" .\"'“”")
    if words.lower() in ("yes", "no"):
        return Answer(label=int(words.lower() == "yes"), span=words, rule="a word in the line of the answer")
    if _NONE.fullmatch(words):
        return Answer(label=0, span=words, rule="an empty list")
    between = ";" if ";" in words else r"(?<=\))," if "(" in words else r",|\band\b"
    parts = [part.strip(" .()[]{}\"'") for part in re.split(between, words)]
    return _listed([part for part in parts if part])


def _listed(parts: list[str]) -> Answer:
    if not parts:
        return Answer(label=None)
    return Answer(label=1, span=json.dumps(parts, ensure_ascii=False), rule="a list")


def entries(answer: Answer | None) -> tuple[str, ...] | None:
    """Return the entries of the list that an answer holds, () for none; None where it holds no list."""
    if answer is None or answer.label is None:
        return None
    if answer.rule == "an empty list":
        return ()
    return tuple(map(str, json.loads(answer.span))) if answer.rule == "a list" else None
