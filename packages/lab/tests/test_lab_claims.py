"""Numbered claims in replies: the grammar is read as it is written, and what is in other words is counted."""

from __future__ import annotations

import pytest
from harness_lab.claims import Claim, circular, in_words, read
from harness_lab.statements import Kind, Statement
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("Vobadi", "Kegalu", "Zimori", "W")
CASES = [
    (Kind.ADJACENT, (0, 1), ()),
    (Kind.INDEPENDENT, (0, 2), ()),
    (Kind.INDEPENDENT, (0, 2), (1, 3)),
    (Kind.COLLIDER, (0, 1, 3), ()),
    (Kind.PARENT, (2, 0), ()),
    (Kind.CAUSE, (3, 0), ()),
]


@pytest.mark.parametrize("how", [{}, {"denied": True}, {"open": True}])
@pytest.mark.parametrize(("kind", "nodes", "condition"), CASES)
def test_the_grammar_is_read_as_it_is_written(kind, nodes, condition, how):
    statement = Statement.of(kind, nodes, condition, **how)
    trace = read(f"3. {in_words(statement, NAMES)} [1, 2, premise]", NAMES)
    assert trace.claims == (Claim(statement, 3, (1, 2), True),) and (trace.numbered, trace.unread) == (1, 0)


def test_marks_brackets_and_numbers_may_differ_and_other_words_are_unread():
    for line, rests_on, premise in (
        ("1) **a and b are adjacent** (premise)", (), True),
        ("- 1. `A` and $B$ are adjacent. [claims 2 and 4, the premise].", (2, 4), True),
        ("Claim 1: A and B are adjacent [2]", (2,), False),
        ("1. A and B are adjacent", None, False),
    ):
        assert read(line, "ABC").claims == (Claim(Statement.of(Kind.ADJACENT, (0, 1)), 1, rests_on, premise),)
    for line in (
        "1. Perhaps A and B are adjacent [premise]",
        "1. If A and B are adjacent, C is a collider between A and B [premise]",
        "1. A and F are adjacent [premise]",
        "1. A and A are adjacent [premise]",
        "1. It is false that A directly causes B [2]",
        "1. A directly causes B or B directly causes A [2]",
    ):
        trace = read(line, "ABC")
        assert trace.claims == () and (trace.numbered, trace.unread) == (1, 1), line


TOKENS = st.sampled_from(
    [*"ABCF\n(*²|", " and ", " are ", "adjacent", "independent", " given ", ", ", "1. ", ". ", "[1, premise]", "[2]",
     "is a collider between ", "directly causes ", "It is open whether ", "not "]
)  # fmt: skip


@given(st.lists(TOKENS | st.text(max_size=6), max_size=60).map("".join))
def test_any_text_is_read_and_what_is_read_is_said_in_the_grammar(text):
    for claim in read(text, "ABC").claims:
        (again,) = read(f"1. {in_words(claim.statement, 'ABC')}", "ABC").claims
        assert again.statement == claim.statement


def test_circles():
    claims = [Claim(Statement(Kind.ADJACENT, (0, 1)), k, rests) for k, rests in
              enumerate([(), (3,), (2,), (3,), (5,), (1, 9)], start=1)]  # fmt: skip
    assert circular(claims) == {2, 3, 4, 5}
    assert circular([Claim(Statement(Kind.ADJACENT, (0, 1)), k, (k - 1,)) for k in range(1, 900)]) == frozenset()
