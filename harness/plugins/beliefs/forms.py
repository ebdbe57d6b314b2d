"""Hypotheses of Corr2Cause said in another form that means the same, whatever graph is the true one.

- turned: the passive voice of the same words; of a claim about two variables alike, the variables exchanged.
- contrapositive: a hypothesis follows from a premise iff without it the premise would not hold. In no graph with these
  statistical relations does it fail, iff in every graph in which it fails they are others.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import Final

from harness.causal.relations import Relation
from harness.tasks.corr2cause.text import TEMPLATES, follows, read_question

PLAIN: Final = "plain"
TURNED: Final = "turned"
CONTRAPOSITIVE: Final = "contrapositive"
PASSIVE = {
    Relation.PARENT: "{j} is directly caused by {i}.",
    Relation.ANCESTOR: "{j} is caused by something else which is caused by {i}.",
    Relation.CHILD: "{i} is directly caused by {j}.",
    Relation.DESCENDANT: "For {i}, {j} is a cause, but not a direct one.",
}
_IF = "If it were not the case that "
_THEN = ", at least one of the statistical relations among these variables would be different."


def worded(form: str, relation: Relation, i: str, j: str) -> str:
    """Return the hypothesis about the variables called i and j in a form, ours but for the plain one (Table 2)."""
    if form == TURNED:
        template = PASSIVE.get(relation)
        return template.format(i=i, j=j) if template else TEMPLATES[relation].format(i=j, j=i)
    plain = TEMPLATES[relation].format(i=i, j=j)
    if form == PLAIN:
        return plain
    clause = plain.replace("There exists", "there exists", 1)
    return f"{_IF}{clause.removesuffix('.')}{_THEN}"


def solve(words: str) -> bool | None:
    """Return whether the hypothesis of a request in one of these forms follows; None for other words."""
    plain = _in_plain_words(words)
    return None if plain == words else follows(*read_question(plain))


def _in_plain_words(words: str) -> str:
    """Return a request's words with its hypotheses in the words of Table 2."""
    words = words.replace(f"{_IF}there exists", f"{_IF}There exists").replace(_IF, "")
    words = words.replace(_THEN.removesuffix("."), "")
    for form, template in _passive():
        words = form.sub(partial(_filled, template), words)
    return words


def _filled(template: str, match: re.Match[str]) -> str:
    return template.format(**match.groupdict())


@cache
def _passive() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what finds each passive clause, with the clause of Table 2 that says the same."""
    slots = {name: rf"(?<![^\s,.:;()?])(?P<{name}>[^\s,.:;()?]+)" for name in "ij"}
    return tuple(
        (re.compile(text.removesuffix(".").format(**slots)), TEMPLATES[relation].removesuffix("."))
        for relation, text in PASSIVE.items()
    )
