"""Reading a reply as a careful person would: Yes, No, or nothing that one would bet on.

The stages, each a file of its own: `own_words` takes off what is not the reply, `normalised` takes off its decoration,
`verdicts` finds what asserts Yes or No and leaves what is only supposed, `decide` weighs what is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from harness.prompting.reading.decide import decide
from harness.prompting.reading.normalise import normalised
from harness.prompting.reading.options import options_resolved
from harness.prompting.reading.own_words import own_words
from harness.prompting.reading.statement_forms import marked
from harness.prompting.reading.statements import verdicts
from harness.types import Answer


def read(reply: str, *, cut_off: bool = False, statement: str = "", next_words: Sequence[str] = ()) -> Answer:
    """Return the verdict of a reply, with the words that decided it and the rule that read them.

    `cut_off`: the reply ended at its token limit, and only a verdict that was announced before counts. `statement` is
    what a Yes asserts ("A directly causes B"); where it is unknown, no sentence can assert it in its own words.
    `next_words` are the words of the prompt with which a base model would ask itself the next question.
    """
    if len(reply) <= _SHORT and "\n" not in reply and not _may_name(statement, reply):
        return _read_short(reply, cut_off, bool(statement))  # as thousands of replies are, whatever was asked
    return _read(reply, cut_off, statement, next_words, known=bool(statement))


_END = 40_000
"""Characters at either end of a reply that are read, once its reasoning is taken off: no verdict stands deeper."""

_DEDUCES_A_CAUSE = re.compile(
    r"\b(?:(?<!whether we )(?<!whether it )can (?:therefore |thus |then |indeed )?(?:be )?(?:conclude|deduce"
    r"|deduct|infer)(?:r?ed|d)?|necessarily follows[^.;\n]{0,40}) that "
    r"(?:there (?:is|exists)|\w+ (?:directly )?(?:causes|is an?))\b(?! (?:not|no)\b)"
)
_SHORT = 100
_WORD = re.compile(r"\w+|→")


def _may_name(statement: str, reply: str) -> bool:
    """Return whether the statement's last word, with which its forms end, stands in a reply."""
    last = statement.rstrip(". ").rpartition(" ")[2]
    return bool(last) and last.lower() in _WORD.findall(reply.lower())


@lru_cache(maxsize=1024)
def _read_short(reply: str, cut_off: bool, known: bool) -> Answer:
    return _read(reply, cut_off, "", (), known=known)


def _read(reply: str, cut_off: bool, statement: str, next_words: Sequence[str], *, known: bool) -> Answer:
    text = own_words(reply, next_words)
    if len(text) > 2 * _END:
        text = f"{text[:_END]}\n{text[-_END:]}"
    text = marked(options_resolved(normalised(text)), statement)
    answer = decide(verdicts(text), cut_off=cut_off)
    # Where the statement is unknown, it may be what this No goes on to deduce.
    doubtful = not known and answer.label == 0 and answer.rule != "announced"
    return Answer(label=None) if doubtful and _DEDUCES_A_CAUSE.search(text) else answer
