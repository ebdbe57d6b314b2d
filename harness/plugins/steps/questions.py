"""The five questions of corr2cause/steps, their right answers, and the answers of replies in the same terms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from harness.plugins.steps.arguments import Argument
from harness.plugins.steps.metrics import Question
from harness.tasks.corr2cause.text import Premise

_LIST = 'End with one line: "Answer: " and {what}, with semicolons between them, or "Answer: none".'
WORDS: dict[Question, str] = {
    "edges": (
        "{premise}\n\nWhich causal graphs fit these relations? We find out in five steps.\n\nStep 1: Two variables are "
        "adjacent, so that there is a direct cause between them, if they are independent neither as they are nor given "
        f"any other variables. Which are adjacent? {_LIST.format(what='the pairs, each written as X - Y')}"
    ),
    "triples": (
        "Step 2: In which triples X - Y - Z is Y adjacent to X and to Z, while X and Z are not adjacent? "
        f"{_LIST.format(what='the triples, each written as X - Y - Z')}"
    ),
    "colliders": (
        "Step 3: In such a triple Y is a collider, X -> Y <- Z, if no variables given which X and Z are independent "
        "have Y among them. Which triples have a collider? "
        f"{_LIST.format(what='the triples, each written as X - Y - Z')}"
    ),
    "directions": (
        "Step 4: Which of the adjacent pairs have the same direction in all graphs that fit? The colliders give some; "
        "others follow, as no other triple may have a collider and no circle may come about. "
        f"{_LIST.format(what='the pairs, each written as X -> Y with the cause first')}"
    ),
    "answer": (
        "Step 5: Can we deduce the following, that is, is it true in all graphs that fit: {statement}? End with one "
        'line: "Answer: Yes" or "Answer: No".'
    ),
}
"""What each step asks; the premise stands in the first, the hypothesis in the last."""
Parts = frozenset[tuple[int, ...]]
"""What a step lists: pairs or triples of variables by their places."""


def right_parts(question: Question, argument: Argument) -> Parts:
    """Return what an argument lists in a step; nothing in the last one, which is a Yes or a No."""
    lists: dict[Question, Collection[tuple[int, ...]]] = {
        "edges": argument.edges,
        "triples": argument.triples,
        "colliders": argument.colliders,
        "directions": argument.arrows,
    }
    return frozenset(lists.get(question, ()))


def reply_of(question: Question, argument: Argument, names: Sequence[str]) -> str:
    """Return the line with which a reply to a step ends."""
    if question == "answer":
        return f"Answer: {'Yes' if argument.answer else 'No'}"
    sign = " -> " if question == "directions" else " - "
    listed = [sign.join(names[k] for k in part) for part in sorted(right_parts(question, argument))]
    return f"Answer: {'; '.join(listed) or 'none'}"


_SIGNS = re.compile(r"\s*(?:<?[-–—−]{1,5}>?|[→←⟶⟵,])\s*")


def read_parts(question: Question, entries: Iterable[str], premise: Premise) -> tuple[Parts, int]:
    """Return the pairs or triples that a list has, and how many entries are none of its variables."""
    places = {name.casefold(): k for k, name in enumerate(premise.names)}
    size = 3 if question in ("triples", "colliders") else 2
    parts: set[tuple[int, ...]] = set()
    others = 0
    for entry in entries:
        nodes = [places.get(name.strip().casefold(), -1) for name in _SIGNS.split(entry)]
        signs = "".join(_SIGNS.findall(entry))
        if len(nodes) != size or -1 in nodes or len(set(nodes)) < size:
            others += 1
        elif question == "directions":
            backward = "<" in signs or "←" in signs or "⟵" in signs
            parts.add((nodes[1], nodes[0]) if backward else (nodes[0], nodes[1]))
        else:
            parts.add(tuple(nodes) if nodes[0] < nodes[-1] else tuple(nodes[::-1]))
    return frozenset(parts), others
