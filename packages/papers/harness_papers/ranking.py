"""Reading a reply that ranks: "1. Nicotine addiction (0.9): reasons" into names with their strengths, in their order.

In lists with numbers or dots, tables, JSON, lines "Name: 0.9" and sentences "Smoking (0.9) and stress (0.7)". A name
may have no strength; a reply may say that there is nothing to name. What is neither is unreadable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from harness.prompting.reading.own_words import own_words
from harness.types import Answer, Response

LONGEST = 120
"""Characters of a name: a sentence is none."""
_LONGEST_REPLY = 100_000
_LONGEST_LINE = 1000
"""Characters of a list's line that are looked at for a name and a strength: the patterns try every place of it."""


class Named(NamedTuple):
    """A name of a ranking."""

    name: str
    strength: float | None
    """As the reply says it, percent as a share; None where it says none."""


def ranking(response: Response) -> Answer:
    """Return 1 with the names and strengths as JSON (`named` reads them again), or 0 for a reply that has none to name.

    A list that was cut off keeps what it has; its last name only with a strength.
    """
    text = own_words(response.text)[:_LONGEST_REPLY]
    entries = _distinct(_entries(text))
    if response.finish_reason == "length" and entries and entries[-1].strength is None:
        entries = entries[:-1]
    if entries and not all(_NO_NAME.fullmatch(entry.name) for entry in entries):
        return Answer(label=1, span=json.dumps(entries, ensure_ascii=False), rule="a ranking")
    nothing = _NOTHING.search(text[:600]) or (_NO_NAME.search(text) if entries else None)
    return Answer(label=0, span=nothing[0].strip(), rule="nothing to rank") if nothing else Answer(label=None)


def named(answer: Answer | None) -> tuple[Named, ...]:
    """Return what an answer ranks, the first first; nothing where it ranks nothing."""
    if answer is None or not answer.label:
        return ()
    return tuple(Named(str(name), strength) for name, strength in json.loads(answer.span))


_NUMBER = r"(?P<sign>[-−–]?)(?P<digits>\d+(?:[.,]\d+)?|[.]\d+)"
_UNIT = r"(?P<of>\s*%|\s*percent\b|\s*/\s*\d+(?:[.]\d+)?|\s+out of\s+\d+)?"
_ABOUT = r"(?:~|≈|±|approx(?:imately|\.)?|about|around|roughly|ca\.?)?\s*"
_RANGE = r"(?:\s*(?:-|–|—|to)\s*(?P<high>\d*[.]?\d+)(?P<high_of>\s*%)?)?"
_VALUE = rf"{_ABOUT}{_NUMBER}{_UNIT}{_RANGE}"
_WORD = (
    r"(?:causal |relative |estimated |approximate |overall )*"
    r"(?:strength|score|weight|influence|effect|impact|value|rating|magnitude)"
)
_WORDS = rf"(?:{_WORD}(?: of)?(?: (?:cause|effect|influence))?(?: is| of)?\s*[:=≈~-]?\s*)?"
_ENDS = r"(?![\w.,]*\d|\s*(?:years?|days?|hours?|packs?|times)\b)"
_IN_BRACKETS = re.compile(rf"[(\[（【]\s*{_WORDS}{_VALUE}[^)\]）】\d]{{0,40}}[)\]）】]", re.IGNORECASE)
_AFTER_SIGN = re.compile(rf"(?:\s[-–—]+>?|(?<!\d):|:(?!\d)|[=|→]|\s\.{{2,}})\s*{_WORDS}{_VALUE}{_ENDS}", re.IGNORECASE)
_AFTER_WORD = re.compile(
    rf"(?:\bstrength|\bscore|\bweight|\binfluence|\bvalue|\brating|\bmagnitude|\bcausal effect|\bimpact)\b"
    rf"[^\d\n(\[]{{0,30}}[(\[]?\s*{_VALUE}{_ENDS}",
    re.IGNORECASE,
)
_AT_END = re.compile(rf"\s(?=[~≈]?\s*[-−]?(?:\d*[.]\d|\d+\s*(?:%|/|percent))){_VALUE}\s*[.;,]?\s*$", re.IGNORECASE)
_NUMBERED = re.compile(r"^[ \t>#*_]*(?:rank\s*|#)?(?P<number>\d{1,3})[*_]*[.):\]][*_]*[ \t]+(?=\S)", re.IGNORECASE)
_DOTTED = re.compile(r"^[ \t>]*(?:[-*•‣◦–—]|[a-zA-Z][.)])[ \t]+(?=\S)")
_INLINE = re.compile(rf"(?P<name>[^\W\d_][^.;:()\[\]\n]{{0,80}}?)\s*[(\[]\s*{_WORDS}{_VALUE}\s*[)\]]", re.IGNORECASE)
_INLINE_SIGN = re.compile(
    rf"(?P<name>[^\W\d_][^.;:=()\[\]\n]{{0,80}}?)\s*[:=]\s*{_VALUE}(?=\s*(?:[,;.]|$|and\b))",
    re.IGNORECASE | re.MULTILINE,
)
_RULE = re.compile(r"^[\s|:+-]+$")
_PLAIN = re.compile(r"\\[()\[\]]|\*\*|__|[$`\"“”]|(?<!\w)[*_]|[*_](?!\w)")
_LABEL = re.compile(r"^(?:cause|effect|variable|name|factor|rank)\s*(?:\d+|name)?\s*[:=]\s*", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"^(?:and|or|as well as|followed by|then)\s+", re.IGNORECASE)
_VERB = re.compile(
    r"(?:,\s+(?:strength|score|weight)"
    r"|\s+(?:has|have|had|having|with|at|carries|gets?|receives?|(?:is|are)(?: assigned| given| rated)?))"
    r"(?: an?| the| its| estimated| causal| relative| approximate)*$",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"^.*\b(?:causes?|effects?|variables?|parents?|factors?)\b.*?\b(?:is|are|includes?|being)\s+", re.IGNORECASE
)
_KINDS = r"(?:causes?|effects?|parents?|children|descendants?|ancestors?|consequences?|factors?|variables?|influences?)"
_UNSURE = r"(?!information|data|evidence|way|basis|consensus|universal|single|quantitative|agreed|fixed|exact|one\b)"
_NO_NAME = re.compile(rf"(?:none|nothing|n/?a|no {_KINDS})(?: found| identified)?", re.IGNORECASE)
_NOTHING = re.compile(
    rf"^\W*(?:(?:final )?answer\W+)?(?:none|nothing|n/?a|no {_KINDS})\b[^\n]*"
    r"|[^.\n]*\b(?:has|have|there (?:is|are)|identif\w+|is|are|with) (?:no|not any|zero) "
    rf"(?:{_UNSURE}\w+ ){{0,3}}{_KINDS}\b[^.\n]*"
    rf"|[^.\n]*\b(?:none of|no variables? (?:in|of|among)|not any of) (?:the|these|those|them|which)\b[^.\n]{{0,80}}"
    rf"\b(?:causes?|caused|effects?|affects?|affected|influences?|influenced)\b[^.\n]*"
    r"|[^.\n]*\bdoes(?: not|n't) (?:cause|affect|influence|have any)\b[^.\n]{0,60}\b(?:any|variables?|other)\b[^.\n]*"
    r"|[^.\n]*\bis(?: not|n't) (?:caused|affected|influenced) by any\b[^.\n]*",
    re.IGNORECASE,
)


def _entries(text: str) -> list[Named]:
    """Return what the first of the ways to write a ranking finds in a text."""
    lines = _plain(text).splitlines()
    several = any(len(pattern.findall(line)) > 1 for line in lines for pattern in (_INLINE, _INLINE_SIGN))
    last = (_of_sentences, _of_lines) if several else (_of_lines, _of_sentences)
    for way in (_of_json, _of_table, _of_list, *last):
        if entries := [entry for entry in way(text) if entry.name]:
            return entries
    return []


def _distinct(entries: Iterable[Named]) -> list[Named]:
    """Return each name once, where it stands first."""
    return list({entry.name.casefold(): entry for entry in reversed(list(entries))}.values())[::-1]


def _of_json(text: str) -> Iterator[Named]:
    """Yield {"Name": 0.9}, or the objects of a list with a name and a number each."""
    start = min((place for bracket in "{[" if (place := text.find(bracket)) >= 0), default=-1)
    end = max(text.rfind("}"), text.rfind("]")) + 1
    if start < 0 or end <= start:
        return
    try:
        content = json.loads(text[start:end])
    except (ValueError, RecursionError):
        return
    yield from _of_value(content)


def _of_value(content: Any) -> Iterator[Named]:
    if isinstance(content, dict):
        numbers = {str(name): value for name, value in content.items() if _is_number(value)}
        words = [value for value in content.values() if isinstance(value, str)]
        if words and numbers:  # {"name": "Smoking", "strength": 0.9, "rank": 1}
            ranks = {name for name in numbers if name.lower() in ("rank", "position", "order", "#")}
            strengths = [value for name, value in numbers.items() if name not in ranks]
            yield Named(_name(words[0]), float(strengths[0]) if strengths else None)
        elif numbers:
            yield from (Named(_name(name), float(value)) for name, value in numbers.items())
        else:
            for value in content.values():
                yield from _of_value(value)
    elif isinstance(content, list):
        for value in content:
            yield from _of_value(value) if not isinstance(value, str) else _of_list(f"- {value}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_table(text: str) -> Iterator[Named]:
    """Yield the rows of a Markdown table: the first column of words, and the last one of numbers that is no rank."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.count("|") >= 2]
    rows = [[_plain(cell) for cell in line.split("|")] for line in lines if not _RULE.match(line)]
    if rows and not any(_ALONE.fullmatch(cell) for cell in rows[0]):
        del rows[0]  # the heading
    for row in rows:
        words = [cell for cell in row if re.search(r"[^\W\d]", cell)]
        numbers = [(place, match) for place, cell in enumerate(row) if (match := _ALONE.fullmatch(cell))]
        if len(numbers) > 1 or (numbers and numbers[0][0] == 0):
            numbers = [number for number in numbers if number[0] > 0]
        if words:
            yield Named(_name(words[0]), _number(numbers[-1][1]) if numbers else None)


_ALONE = re.compile(rf"\s*{_VALUE}\s*", re.IGNORECASE)


def _of_list(text: str) -> Iterator[Named]:
    """Yield the items of a list with numbers, or else of one with dots of which one at least has a strength.

    A strength may stand in a line of its own below the name.
    """
    lines = text.splitlines()
    for marks in (_NUMBERED, _DOTTED):
        starts = [k for k, line in enumerate(lines) if marks.match(line)]
        ends = [*starts[1:], len(lines)]
        entries = [
            _entry(marks.sub("", lines[start], count=1), _own(lines[start + 1 : end]))
            for start, end in zip(starts, ends, strict=False)
        ]
        if marks is _NUMBERED or any(entry.strength is not None for entry in entries):
            yield from entries
        if entries and (marks is _NUMBERED or any(entry.strength is not None for entry in entries)):
            return


def _own(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines below an item that are still its own: none from a new paragraph on."""
    for k, line in enumerate(lines):
        if k and not lines[k - 1].strip() and line.strip() and not line[0].isspace() and not _DOTTED.match(line):
            return lines[:k]
    return lines


def _of_lines(text: str) -> Iterator[Named]:
    """Yield lines that are a name and a strength: "Smoking: 0.9"."""
    for line in text.splitlines():
        entry = _entry(line, ())
        if entry.strength is not None:
            yield entry


def _of_sentences(text: str) -> Iterator[Named]:
    """Yield the names before strengths in brackets: "Smoking (0.9), stress (0.8) and …"."""
    plain = _plain(text)
    for match in list(_INLINE.finditer(plain)) or _INLINE_SIGN.finditer(plain):
        name = match["name"].rpartition(", ")[2]
        yield Named(_name(_BEFORE_NAME.sub("", name.strip(" ,"))), _number(match))


def _entry(line: str, below: Sequence[str]) -> Named:
    """Return the name and strength of an item of a list: its line, and the lines below it that are still its own."""
    line = _LABEL.sub("", _plain(line[:_LONGEST_LINE]).strip())
    for pattern in (_IN_BRACKETS, _AFTER_SIGN, _AFTER_WORD, _AT_END):
        if match := pattern.search(line):
            return Named(_name(line[: match.start()]), _number(match))
    for other in below:
        for pattern in (_AFTER_WORD, _IN_BRACKETS, _AFTER_SIGN):
            if match := pattern.search(_plain(other[:_LONGEST_LINE])):
                return Named(_name(line), _number(match))
    return Named(_name(line), None)


def _number(match: re.Match[str]) -> float | None:
    """Return the number of a match: a share for percent and for parts ("9/10"), the middle of a range."""
    parts = match.groupdict()
    unit = (parts["of"] or "").strip()
    value = float(parts["digits"].replace(",", ".")) * (-1 if parts["sign"] else 1)
    scale = 1.0
    if unit.startswith(("%", "percent")) or (parts.get("high_of") or "").strip() == "%":
        scale = 100.0
    elif unit:
        scale = float(unit.split("/")[-1].removeprefix("out of")) or 1.0
    if high := parts.get("high"):
        value = (value + float(high)) / 2
    return round(value / scale, 6)


def _plain(text: str) -> str:
    """Return a text without the signs of Markdown."""
    return _PLAIN.sub("", text)


def _name(text: str) -> str:
    """Return a name without what comes after it: reasons, a colon, an arrow; nothing where that is no name."""
    text = re.split(r":\s|:$|\s[-–—]+>?\s|\s[-–—]+$|→|\s=", _plain(text[:_LONGEST_LINE]).strip(), maxsplit=1)[0]
    text = _INTRODUCED.split(text)[-1]
    text = _LABEL.sub("", text).strip(" \t.,;:|*_'()[]" if text.count("(") != text.count(")") else " \t.,;:|*_'")
    text = _VERB.sub("", text)
    return "" if len(text) > LONGEST or not re.search(r"[^\W\d]", text) else text
