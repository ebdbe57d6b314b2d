"""Replies as models write them, with the reading of a careful person, and what must hold for any reply."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.prompting.reading import read
from harness.types import IN_FORM

COT = "Answer: {answer}"
DATA = Path(__file__).resolve().parents[1] / "data"
STATEMENT = "A directly causes B"
LABELS = {"yes": 1, "no": 0, "unreadable": None}
NEXT = ("Can we deduct the following", "Suppose there is a closed")


def label(reply: str, *, cut_off: bool = False, statement: str = STATEMENT) -> int | None:
    return read(reply, cut_off=cut_off, statement=statement, next_words=NEXT).label


def differences(file: str) -> Iterator[tuple[str, dict[str, str]]]:
    """What the rules read otherwise than the careful person: wrong, read although nothing was said, or not read."""
    for line in (DATA / file).read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        found = label(
            reply["reply"], cut_off=reply["finish_reason"] == "length", statement=reply.get("statement", STATEMENT)
        )
        expected = LABELS[reply["verdict"]]
        if found == expected or (found is None and "unreadable acceptable" in reply["why"]):
            continue
        yield "unread" if found is None else "read" if expected is None else "wrong", reply


@pytest.mark.parametrize(
    ("file", "unread", "read_though"),
    [
        ("replies.jsonl", 5, 0),
        ("replies_blind.jsonl", 25, 0),
        ("replies_second.jsonl", 12, 0),
        ("sentences.jsonl", 26, 0),
        ("short_replies.jsonl", 0, 0),
    ],
)
def test_replies_are_read_as_a_careful_person_reads_them(file, unread, read_though):
    found = list(differences(file))
    kinds = Counter(kind for kind, _ in found)
    assert kinds["wrong"] == 0, found
    assert kinds["unread"] <= unread and kinds["read"] <= read_though, found


FORMS = {"cot": COT, "choice": "", "plain": "{answer}", "network": "{answer}", "story": "{answer}"}


@pytest.mark.parametrize(
    ("file", "unread", "harm"),
    [
        ("replies_third.jsonl", 33, 1),
        ("replies_fourth.jsonl", 11, 0),
        ("replies_fifth.jsonl", 10, 0),
        ("short_choices.jsonl", 0, 0),
        ("replies_real.jsonl", 0, 0),
    ],
)
def test_replies_of_five_prompts_are_read_in_their_form_and_choices(file, unread, harm):
    found: Counter[str] = Counter()
    for line in (DATA / file).read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        choices = reply.get("choices", ())
        label = read(
            reply["reply"],
            cut_off=reply["finish_reason"] == "length",
            statement=reply.get("statement", ""),
            next_words=NEXT,
            choices=choices,
            form=FORMS[reply["prompt"]],
        ).label
        words = "ABCDE" if choices else ("no", "yes")
        said = "unreadable" if label is None else words[label]
        right = said in (reply["verdict"], *reply.get("acceptable", ()))
        found["right" if right else "unread" if label is None else "harm"] += 1
    assert found["harm"] <= harm and found["unread"] <= unread, found


def templates(file: str) -> list[str]:
    """One a line, {v} the word and {w} the other one, ⏎ a new line."""
    return [line.replace("⏎", "\n") for line in (DATA / file).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("statement", [STATEMENT, ""])
@pytest.mark.parametrize(
    ("file", "expected"), [("ways_to_answer.txt", [1, 0]), ("ways_to_leave_it_open.txt", [None, None])]
)
def test_both_words_are_read_alike_in_every_template(file, expected, statement):
    both = {
        way: [label(way.format(v=v, w=w), statement=statement) for v, w in (("Yes", "No"), ("No", "Yes"))]
        for way in templates(file)
    }
    assert len(both) > 100 and {way: labels for way, labels in both.items() if labels != expected} == {}


MARKUP = ("<", "&", "analysis")
"""What is written in one case alone."""


@given(
    st.sampled_from(templates("ways_to_answer.txt")),
    st.sampled_from(["", " ", "\n", "\n\n", "\u200b", "\ufeff", "\u00a0"]),
    st.sampled_from(["", " ", "\n", "\n\n", "\u200b", " \n ", "\u00a0"]),
    st.sampled_from([str, str.upper, str.lower]),
)
@settings(max_examples=150)
def test_blanks_around_it_and_case_change_no_reading(way, before, after, case):
    as_said = any(sign in way for sign in MARKUP)
    yes, no = (
        way.format(v=v, w=w) if as_said else case(way.format(v=v, w=w)) for v, w in (("Yes", "No"), ("No", "Yes"))
    )
    assert (label(before + yes + after), label(before + no + after)) == (1, 0)


NOTES = [
    "Note: if the premise had been different, the answer would be {w}.",
    "(With a collider at C the answer would be {w}.)",
    "If A and B were independent, the answer would be {w}.",
    "Otherwise the answer would be {w}.",
    "Had C been a common cause, I would have answered {w}.",
    "A naive reader might say {w}.",
    "Let me know if you would like a detailed explanation!",
    "Is C a collider? {w}.",
    "In the first example the answer is {w}.",
    "P.S. Suppose instead that C were not observed. Then the answer is {w}.",
]


@given(
    st.sampled_from(["Answer: {v}", "The final answer is {v}.", "\\boxed{{{v}}}", "<answer>{v}</answer>"]),
    st.lists(st.sampled_from(NOTES), max_size=3),
)
@settings(max_examples=100)
def test_a_note_after_an_announced_verdict_never_turns_it(way, notes):
    for v, w in (("Yes", "No"), ("No", "Yes")):
        reply = "\n\n".join(text.format(v=v, w=w) for text in (way, *notes))
        assert label(reply) == (1 if v == "Yes" else 0), reply


HALVES = [
    "yes",
    "no",
    "not",
    "the answer is",
    "answer:",
    "if",
    "we cannot deduce",
    "the hypothesis",
    "holds",
    ".",
    "?",
    "\n",
    ",",
    "so",
    "H1",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(HALVES)).map(" ".join)), st.booleans())
@example("H1 H0 the answer is not", False)
def test_any_text_is_read_without_an_error(text, cut_off):
    answer = read(text, cut_off=cut_off, statement=STATEMENT)
    assert answer.label in (0, 1, None)
    assert bool(answer.span and answer.rule) == (answer.label is not None)


@pytest.mark.parametrize(
    ("reply", "rule", "span"),
    [
        ("B fits.\n**Final answer:** No", "announced", "answer: no"),
        ("No, we cannot.", "opening", "no"),
        ("The edge may be reversed. So, no.", "closing", "so, no"),
        ("Thus the hypothesis does not hold.", "said", "hypothesis does not hold"),
        ("Yes. Wait, B may cause A. No.", "corrected", "no"),
    ],
)
def test_what_decided_is_told(reply, rule, span):
    answer = read(reply, statement=STATEMENT)
    assert (answer.rule, span in answer.span) == (rule, True), answer


@pytest.mark.parametrize(
    ("reply", "form", "expected", "rule"),
    [
        (
            "Is correlation enough? No.\n\n**Example**: fire.\nAnswer: Yes\n\nQuestion: which way?\n\nAnswer: No",
            COT,
            0,
            IN_FORM,
        ),
        ("The premise says: yes.\n- **Answer:** Yes.", COT, 1, IN_FORM),
        ("Answer: No\n\nSuppose there is a closed system of 3.\nAnswer: Yes", COT, 0, IN_FORM),
        ("Answer: Yes\nWait, that is wrong. The answer is no.", COT, 0, "announced"),
        ("Answer: Yes, because B is a collider.", COT, 1, "announced"),
        ("Yes, it does.", COT, 1, "opening"),
        ("Thinking about it:\n<answer>no</answer>", "<answer>{answer}</answer>", 0, IN_FORM),
        ('Here: {"why": "They correlate.", "answer": "Yes"}', '"answer": "{answer}"', 1, IN_FORM),
        ("**No.**", "{answer}", 0, IN_FORM),
        ("No, it does not.", "{answer}", 0, "opening"),
    ],
)
def test_the_form_that_was_asked_for_wins_and_is_told(reply, form, expected, rule):
    answer = read(reply, statement=STATEMENT, next_words=NEXT, form=form)
    assert (answer.label, answer.rule) == (expected, rule)


@pytest.mark.parametrize(
    ("reply", "form", "span"),
    [
        ("So:\nAnswer: **No**.", COT, "answer: no"),
        ("**Final answer:** yes!", COT, "final answer: yes"),
        ("(No.)", "{answer}", "no"),
        ("<answer>Yes</answer>.", "<answer>{answer}</answer>", "answer: yes"),
    ],
)
def test_the_span_of_a_form_ends_with_its_answer(reply, form, span):
    answer = read(reply, statement=STATEMENT, form=form)
    assert (answer.rule, answer.span) == (IN_FORM, span)


def test_a_choice_may_have_a_form_too():
    reply = "A: it rained.\nThe answer could be B.\nAnswer: C\nHope this helps!"
    assert read(reply, choices=("It rained", "It snowed", "It froze"), form=COT).rule == IN_FORM
    assert read(reply, choices=("It rained", "It snowed", "It froze"), form=COT).label == 2
