"""The reply to a step, and how much of it is right: sets of edges and numbers, a kind, expressions, a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from harness.plugins.cladder.estimand import canonical, is_estimand
from harness.plugins.cladder.expression import Chance, Expression, Term, read_expression
from harness.plugins.cladder.expression_tokens import UnreadableExpression
from harness.plugins.cladder.metrics import Step
from harness.plugins.cladder.queries import TITLES, Query
from harness.plugins.cladder.step_questions import Case
from harness.prompting.number import number, number_of
from harness.prompting.reading.own_words import own_words
from harness.types import IN_FORM, Answer, Response

_LONGEST_REPLY = 100_000
_MOST_ENTRIES = 100
_ANSWER = re.compile(r"^[ \t>#-]*(?:the )?(?:final )?answers?(?: is| are)?[ \t]*:[ \t]*(?P<rest>.*)$", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-•+]|\d{1,3}[.)])\s+")
_ARROW = re.compile(r"\s*(?:[-–—=]{1,3}>|<[-–—=]{1,3}|→|←|⟶|⟵|\\(?:right|left)arrow|\\to)\s*")
_SHORT: Mapping[str, Query] = {"ate": "ate", "ett": "ett", "att": "ett", "nde": "nde", "nie": "nie"}


def last_answer(response: Response) -> Answer:
    """Return what the last line that begins with "Answer:" says, as the span; None where there is no such line.

    Where nothing stands in that line it is the lines below it. Yes is 1, No is 0, anything else is 1. Nothing is taken
    of a reply that was cut off.
    """
    text = own_words(response.text)[-_LONGEST_REPLY:].replace("**", "").replace("`", "")
    lines = [line.strip() for line in text.splitlines()]
    place = next((k for k in reversed(range(len(lines))) if _ANSWER.match(lines[k])), None)
    if place is None or response.finish_reason == "length":
        return Answer(label=None)
    match = _ANSWER.match(lines[place])
    words = (match["rest"] if match else "").strip()
    if not words:
        below = [_BULLET.sub("", line) for line in lines[place + 1 :] if line not in ("", "$$", "\\[", "\\]")]
        words = "; ".join(below)
    if not words:
        return Answer(label=None)
    return Answer(int(words.strip(" .").casefold() != "no"), span=words, rule=IN_FORM)


class Worth(NamedTuple):
    """What the reply to a step is worth."""

    exact: bool
    f1: float | None = None
    """Of a step that lists something."""


def worth(step: Step, answer: Answer | None, case: Case, right: int) -> Worth:
    """Return what a reply is worth; one that cannot be read lists nothing and is not right."""
    words = answer.span if answer is not None and answer.label is not None else ""
    if step == "graph":
        return _of_lists(*read_edges(words, case), frozenset(case.graph.edges))
    if step == "data":
        printed, _ = read_data(case.reply("data"), case)
        return _of_lists(*read_data(words, case), printed)
    if step == "kind":
        return Worth(read_kind(words) == case.ask.query)
    if step == "number":
        value = read_number(answer)
        return Worth(value is not None and case.rounded[0] <= value <= case.rounded[1])
    if step == "answer":
        return Worth(words.strip(" .").casefold() == ("yes" if right else "no"))
    try:
        expression = read_last_side(words, case.graph.nodes)
        if step == "estimand":
            return Worth(is_estimand(expression, case.ask.query, case.graph))
        return Worth(canonical(expression) == canonical(read_expression(case.formal, case.graph.nodes)))
    except UnreadableExpression:
        return Worth(exact=False)


def read_number(answer: Answer | None) -> float | None:
    """Return the number that a reply says; None where none can be read."""
    words = answer.span if answer is not None and answer.label is not None else ""
    return number_of(number(Response(f"Answer: {words}")))


def _of_lists(own: frozenset[object], others: int, right: frozenset[object]) -> Worth:
    hits, size = len(own & right), len(own) + others
    return Worth(own == right and not others, 2 * hits / (size + len(right)))


def read_edges(words: str, case: Case) -> tuple[frozenset[object], int]:
    """Return the pairs of cause and effect in a list, by letters or names, and how many entries are none."""
    nodes = {node.casefold(): node for node in case.graph.nodes}
    nodes = {name.casefold(): node for node, name in case.names.items()} | nodes
    edges, others = set[object](), 0
    for entry in _entries(words, ";" if ";" in words else ","):
        ends = [nodes.get(name.strip(" .()$").casefold()) for name in _ARROW.split(entry)]
        if len(ends) != 2 or None in ends:
            others += 1
        else:
            sign = "".join(_ARROW.findall(entry))
            edges.add(tuple(reversed(ends)) if re.search("[<←⟵]|left", sign) else tuple(ends))
    return frozenset(edges), others


def read_data(words: str, case: Case) -> tuple[frozenset[object], int]:
    """Return the probabilities in a list with their percents, and how many entries are none."""
    data, others = set[object](), 0
    for entry in _entries(words.removeprefix("Answer: "), ";"):
        left, _, right = entry.rpartition("=")
        value = number_of(number(Response(f"Answer: {right}")))
        chance: Expression | None = None
        with suppress(UnreadableExpression):
            chance = read_expression(left, case.graph.nodes)
        if value is None or not isinstance(chance, Chance) or not 0 <= value <= 1:
            others += 1
            continue
        (first, *more) = chance.event
        if not more and first.value == 0:  # P(Y=0) = 0.4 says that P(Y=1) = 0.6
            chance, value = Chance(frozenset([Term(first.node, 1, first.under)]), chance.given, chance.done), 1 - value
        data.add((chance, round(100 * value)))
    return frozenset(data), others


def read_kind(words: str) -> Query | None:
    """Return the kind of question that is named; None where none is, or several are."""
    plain = " ".join(re.sub(r"[-_]", " ", words.casefold()).split()).strip(" .\"'")
    named = [query for query, title in TITLES.items() if title.replace("-", " ") in plain]
    if not named:
        named = list({_SHORT[word] for word in re.findall(r"[a-z]+", plain) if word in _SHORT})
    return named[0] if len(named) == 1 else None


def read_last_side(words: str, nodes: Sequence[str]) -> Expression:
    """Return the last side of a chain of equations that is no number, if there is one. Raises UnreadableExpression."""
    sides = _sides(words.strip().strip("$;. "))
    expressions = [side for side in sides if not re.fullmatch(r"[-−\s\d.%]*", side)]
    return read_expression((expressions or sides)[-1], nodes)


def _sides(words: str) -> list[str]:
    """Return what stands between the signs of equality that are in no bracket."""
    sides, depth = [""], 0
    for sign in words:
        depth += (sign in "([{") - (sign in ")]}")
        if sign in "=≈" and depth <= 0:
            sides.append("")
        else:
            sides[-1] += sign
    return sides


def _entries(words: str, between: str) -> Iterable[str]:
    """Yield the entries of a list, the last one with all that is beyond the longest list."""
    return filter(None, (entry.strip(" .$") for entry in words.split(between, _MOST_ENTRIES)))
