"""Reading a reply as a careful person would: Yes, No, one of the item's choices, or nothing that one would bet on.

The stages, each a file of its own: `own_words` takes off what is not the reply, `normalised` takes off its decoration,
`marked` and `choices_marked` put marks for what the question is about, `verdicts` finds what asserts an answer and
leaves what is only supposed, `decide` weighs what is left. The words of all languages are in words.yaml.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from harness.prompting.reading.forms import (
    choices_marked,
    held_alone,
    judged,
    listed_words,
    marked,
    of_json,
    without_judged_letters,
)
from harness.prompting.reading.own_words import next_questions, own_words, said_again
from harness.prompting.reading.verdicts import UNREAD, decide, verdicts
from harness.prompting.reading.words import compiled, label_of, normalised
from harness.types import IN_FORM, JSON, LETTERS, Answer

VERSION = 9
"""Raised with every change of the rules that can read a reply otherwise; a manifest without one is of version 0."""
_RULES = ("parsing.py", "reading/*.py", "reading/*.yaml")
"""The files of these rules, below harness/prompting."""
PLACE = "{answer}"
"""What stands in a prompt file's form for the answer: "Answer: {answer}"."""
_SHORT = 100
_UNNAMED = "..."
"""In the place of a statement that a short reply does not name."""
_END = 40_000
"""Characters at either end of a reply that are read, once its reasoning is taken off: no verdict stands deeper."""

_BUT = r"\W*(?:yes|no)\b(?:[ ,-]+(?!because|since|as\b)[^.\n]{0,200}?)?(?:\. )?\b(?:but|however|yet|nevertheless)\b"
_TURNED_BACK = (
    rf"{_BUT}(?![^.;:\n]*(?:\b(?:not|no|cannot)\b|n't\b))[^.;:\n]{{0,60}}\b(?:can|do|does|must|is|are)\b"
    r"[^.;:\n]{0,30}?\b(?:deduc|infer|conclu|establish|compell|follow)"
    r"|\W*no\b\W+i(?: am|'m)? (?:(?:can't|cannot|unable to|don't|do not) (?:answer|know|help|tell)|not sure|unsure)\b",
    rf"{_BUT}[^.;:\n]{{0,80}}?(?:\b(?:not|no|nothing|cannot|never|neither)\b|n't\b)[^.;\n]{{0,80}}?(?:«stem»|caus)"
    r"|\W*yes\b\W+(?:that|this|it)(?:'s| is) an? (?:\w+ )?(?:misconception|myth|fallacy|mistake|misunderstanding)\b",
)
"""A No, and a Yes, that speaks of something else: "Yes, they correlate, but there is no causal link"."""


def read(
    reply: str,
    *,
    cut_off: bool = False,
    statement: str = "",
    next_words: Sequence[str] = (),
    choices: Sequence[str] = (),
    form: str = "",
) -> Answer:
    """Return the verdict of a reply, with the words that decided it and the rule that read them.

    `cut_off`: the reply ended at its token limit, and only a verdict that was announced before counts. `statement` is
    what a Yes asserts ("A directly causes B"); where it is unknown, no sentence can assert it in its own words.
    `next_words` are the words of the prompt with which a base model would ask itself the next question. Of an item with
    `choices` the label is the place of the one that the reply takes, by its letter or its words. `form` is what the
    prompt asks for ("Answer: {answer}"): the last such line wins, unless another answer is announced after it.
    """
    if not choices and len(reply) <= _SHORT and "\n" not in reply and not _may_name(statement, reply):
        question = _Question(_UNNAMED if statement else "", (), form)
        return _read_short(question, reply, cut_off, ())  # as thousands are, whatever was asked
    return _read(_Question(statement, tuple(choices), form), reply, cut_off, next_words)


def _may_name(statement: str, reply: str) -> bool:
    """Return whether two words of the statement stand in a reply, without which it cannot say it in its words."""
    words = compiled(r"\w+|→").findall
    return len({*words(statement.lower())}.intersection(words(reply.lower()))) > 1


@dataclass(frozen=True)
class _Question:
    """What was asked, as far as an answer depends on it."""

    statement: str
    choices: tuple[str, ...]
    form: str

    def marked(self, words: str) -> str:
        """Return a normalised text with marks for what the question is about."""
        if self.choices:
            return choices_marked(words, self.choices)
        return words if self.statement == _UNNAMED else marked(words, self.statement)

    def answer(self, words: str, *, cut_off: bool = False) -> Answer:
        """Return what a normalised text answers."""
        if not self.choices and (listed := listed_words(words)):
            taken = replace(self, choices=listed).answer(words, cut_off=cut_off)
            return replace(taken, label=None if taken.label is None else int(listed[taken.label] in ("yes", "true")))
        text, right = judged(self.marked(words)) if self.choices else (self.marked(without_judged_letters(words)), None)
        answer = decide(*verdicts(text, choices=bool(self.choices)), cut_off=cut_off)
        if not self.choices:
            back = answer.rule == "opening" and compiled(_TURNED_BACK[answer.label == 1]).match(text)
            return UNREAD if back else answer
        if answer.label is None and not cut_off:
            held = held_alone(words, self.choices) if right is None else right
            return UNREAD if held is None else Answer(held, span=self.choices[held], rule="said")
        listing = cut_off and answer.rule == "opening" and compiled(r"\n|:\W*\w").search(words)  # the first of several
        if listing or answer.label is None or answer.label >= len(self.choices):
            return UNREAD
        return replace(answer, span=_in_letters(answer.span))

    def in_form(self, words: str) -> Answer:
        """Return the answer of a normalised text's last line of the form; unread without one, or with another just
        before it or announced after it.
        """
        text = self.marked(words)
        *_, before, last = [None, None, *_line(self.form, bool(self.choices)).finditer(text)]
        label = label_of(last) if last else None
        beside = before and last and not re.search(r"\w", text[before.end() : last.start()])
        if last is None or (beside and before and label_of(before) != label):
            return UNREAD
        later = self.answer(text[last.end() :])
        if later.label not in (None, label) and later.rule in ("announced", "corrected"):
            return UNREAD
        return Answer(label, span=_in_letters(last["line"]), rule=IN_FORM)

    def alone(self, words: str) -> Answer:
        """Return the answer of a normalised text that is no more than one, or ends with one in the form."""
        bare, answer = replace(self, form=PLACE).in_form(words), self.in_form(words)
        return bare if bare.label is not None else answer if words.rstrip(" .,!)").endswith(answer.span) else UNREAD


@lru_cache(maxsize=256)
def _line(form: str, choices: bool) -> re.Pattern[str]:
    """Return the pattern of a line with the form and an answer, and no more; a form without words is the whole text.

    Tags, fields and labels are alike once they are normalised.
    """
    before, after = (re.escape(part.strip()) for part in normalised(form.replace(PLACE, " 0 ")).split("0"))
    answer = r"C(?P<option>\d+)" if choices else "(?:(?P<yes>yes)|(?P<no>no))"
    if not before and not after:
        return re.compile(rf"\A\W*(?P<line>{answer})\W*\Z")
    after = rf"[^\w\n]*{after}" if after else ""
    return re.compile(rf"^[^\w\n]*(?P<line>(?:final )?{before}[^\w\n]*{answer}{after})[^\w\n]*$", re.MULTILINE)


def _in_letters(span: str) -> str:
    return re.sub(r"C(\d+)", lambda mark: LETTERS[int(mark[1])], span)


def _read(question: _Question, reply: str, cut_off: bool, next_words: Sequence[str]) -> Answer:
    """Return what a reply answers before the next question that a base model asks itself.

    Where one may have begun, the text before it is the reply if it is an answer by itself. An answer in the form is cut
    off by the prompt's own words after one, and by what follows the reply's first answer alone, or in the form.
    """
    text = of_json(own_words(reply))
    places = next_questions(text, next_words)
    if question.form:
        if places and (answer := question.alone(_plain(text[: places[0][0]]))).label is not None:
            return answer
        for end in (*said_again(text, next_words), len(text)):
            if (answer := question.in_form(_plain(text[:end]))).label is not None:
                return answer
    for end, start in places:
        answer = question.answer(_plain(text[start:end]))
        if answer.rule in ("opening", "announced"):
            return question.answer(_plain(text[:end])) if start else answer
    return question.answer(_plain(text), cut_off=cut_off)


_read_short = lru_cache(maxsize=1024)(_read)


def _plain(text: str) -> str:
    return normalised(f"{text[:_END]}\n{text[-_END:]}" if len(text) > 2 * _END else text)


@cache
def _digest() -> str:
    home, rules = Path(__file__).resolve().parents[1], hashlib.sha256()
    for file in sorted(file for pattern in _RULES for file in home.glob(pattern)):
        content = file.read_bytes().replace(b"\r\n", b"\n")
        rules.update(b"\0".join((file.relative_to(home).as_posix().encode(), content, b"")))
    return rules.hexdigest()


def reading_version() -> dict[str, JSON]:
    """Return the version of the rules and a SHA-256 of their files, whatever line ends these have."""
    return {"version": VERSION, "rules": _digest()}


def by_other_rules(reading: Mapping[str, Any] | None) -> bool:
    """Return whether the replies of a run were read by other rules than today's, by this part of its manifest."""
    return reading != reading_version()


def other_rules_note(count: int, runs: str, folders: Iterable[str]) -> str:
    """Return the sentence that `count` runs were read by other rules, and the command that reads them again."""
    verb, those = ("was", "it") if count == 1 else ("were", "them")
    command = f"harness reread {shlex.join(folders)}"
    return f"{count:,} {runs} {verb} read by other rules than today's: {command} reads {those} again."
