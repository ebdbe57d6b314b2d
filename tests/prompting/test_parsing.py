"""What `verdict`, `choice` and `entailment` read, and what they must leave unread."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.prompting.parsing import choice, entailment, likeliest, verdict
from harness.types import Answer, Response


def read(text: str, finish_reason: str = "stop") -> int | None:
    return verdict(Response(text, finish_reason=finish_reason), statement="A directly causes B").label


def test_the_deciding_words_are_kept():
    assert verdict(Response("A – B is open.\n**Final answer:** No")) == Answer(0, span="answer: no", rule="announced")
    assert verdict(Response("So we cannot deduce it.")).span == "we cannot deduce it"


SYLLABLES = ["yes", "no", " ", "\n", ".", "?", "answer", ":", " is", " if the", "not a", "or ", "\\boxed{", "**"]


# Unclosed reasoning swallows what follows, and so does the next question after an answer: other tests, above.
@given(st.one_of(st.text(), st.lists(st.sampled_from(SYLLABLES)).map("".join)), st.sampled_from(["stop", "length"]))
@example("is it so if the", "stop")
@example("yes or", "stop")
@example("not a", "length")
def test_an_announced_last_line_decides_whatever_stands_before(text, finish_reason):
    assert read(f"{text}\nAnswer: Yes", finish_reason) == 1
    assert read(f"{text}\nAnswer: No", finish_reason) == 0


@given(st.floats(-50, 0), st.floats(-50, 0))
@example(-1e-17, 0.0)  # as shares they are equal
def test_choice_takes_the_likelier_one(yes, no):
    answer = choice(Response("", logprobs={"Yes": yes, "No": no}), ("Yes", "No"))
    assert answer.label == (None if yes == no else int(yes > no))
    assert answer.probability == pytest.approx(math.exp(yes) / (math.exp(yes) + math.exp(no)))
    assert answer.span == {None: "Yes = No", 1: "Yes", 0: "No"}[answer.label]


def test_choice_says_yes_with_its_first_choice_whatever_its_words():
    response = Response("", logprobs={"No": math.log(0.1), "Yes": math.log(0.3)})
    assert choice(response, ("No", "Yes")) == Answer(0, pytest.approx(0.25), "Yes")


def test_choice_of_three():
    response = Response("", logprobs={"Yes": math.log(0.2), "No": math.log(0.1), "Unknown": math.log(0.1)})
    assert choice(response, ("Yes", "No", "Unknown")) == Answer(1, pytest.approx(0.5), "Yes")


def test_choice_of_very_unlikely_words_does_not_underflow():
    answer = choice(Response("", logprobs={"Yes": -2000.0, "No": -2001.0}), ("Yes", "No"))
    assert answer == Answer(1, pytest.approx(1 / (1 + math.exp(-1))), "Yes")


def test_choice_with_an_impossible_one():
    answer = choice(Response("", logprobs={"Yes": -math.inf, "No": -1.0}), ("Yes", "No"))
    assert answer == Answer(0, 0.0, "No")


def test_the_likeliest_choice():
    assert likeliest(Response("", {"A": -1.0, "B": -0.5, "C": -3.0}), "ABC").label == 1
    assert likeliest(Response("", {"A": -1.0, "B": -1.0, "C": -3.0}), "ABC").label is None
    assert likeliest(Response("", {"A": -1.0, "B": float("nan")}), "AB").label is None


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"Yes": -1.0},
        {"Yes": -1.0, "no": -2.0},
        {"Yes": math.nan, "No": -1.0},
        {"Yes": -1.0, "No": math.nan},
        {"Yes": -math.inf, "No": -math.inf},
    ],
)
def test_choice_without_all_its_numbers_is_unread(logprobs):
    assert choice(Response("Yes", logprobs=logprobs), ("Yes", "No")) == Answer(None)


@pytest.mark.parametrize(
    ("shares", "label", "best"),
    [
        ({"entailment": 0.5, "neutral": 0.3, "contradiction": 0.2}, 1, "entailment"),
        ({"contradiction": 0.1, "entailment": 0.4, "neutral": 0.5}, 0, "neutral"),
        ({"contradiction": 0.6, "entailment": 0.3, "neutral": 0.1}, 0, "contradiction"),
        ({"entailment": 0.6, "not_entailment": 0.4}, 1, "entailment"),
    ],
)
def test_entailment_is_the_likeliest_class(shares, label, best):
    answer = entailment(Response("", logprobs={name: math.log(share) for name, share in shares.items()}))
    assert answer == Answer(label, pytest.approx(shares["entailment"]), best)


def test_entailment_is_never_more_than_certain():
    answer = entailment(Response("", logprobs={"entailment": 1e-7, "neutral": -20.0, "contradiction": -20.0}))
    assert answer.probability == 1.0


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"entailment": -0.5},
        {"neutral": -0.1, "contradiction": -3.0},
        {"entailment": math.nan, "neutral": -0.1, "contradiction": -3.0},
        {"entailment": -0.9, "neutral": math.nan, "contradiction": -3.0},
        {"entailment": -math.inf, "neutral": -math.inf, "contradiction": -math.inf},
    ],
)
def test_entailment_without_all_its_numbers_is_unread(logprobs):
    assert entailment(Response("", logprobs=logprobs)) == Answer(None)


@given(st.sampled_from(["Yes", "No.", "**Answer:** No.", "Well, no.", "(Yes)"]) | st.text())
@example("<think> not closed")
@example("Yes.\nQuestion: is it so? No")
def test_no_beginning_of_a_reply_settles_its_verdict(beginning):
    # Which is why no model ends a reply once a verdict can be read: what comes later may announce another one, and
    # whatever stands before the end of its reasoning is none of it.
    assert read(f"{beginning}\n</think>\nAnswer: Yes") == 1
    assert read(f"{beginning}\n</think>\nAnswer: No") == 0
