"""Which choice a reply takes: by letter, by words, by probability, and what is not read."""

from __future__ import annotations

import pytest

from harness.prompting.parsing import likeliest, verdict
from harness.types import Response

TEXTS = ("It rained.", "A dog barked", "The man slept")


def read(reply: str, finish_reason: str = "stop") -> int | None:
    return verdict(Response(reply, finish_reason=finish_reason), choices=TEXTS).label


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("B", 1),
        ("b.", 1),
        ("(C)", 2),
        ("A) It rained.", 0),
        ("**B**", 1),
        ("Answer: C", 2),
        ("The answer is (B).", 1),
        ("The correct answer is B. A dog barked", 1),
        ("Option C is the most plausible.", 2),
        ("It rained", 0),
        ("A dog barked.", 1),
        ("the man slept", 2),
        ("I think it rained.", 0),
        ("\\boxed{C}", 2),
        ('{"answer": "B"}', 1),
        ("<think>A? or C?</think>\nB", 1),
        ("A is wrong, as is B.\nFinal answer: C", 2),
        ("Answer: A dog barked", 1),
        ("First I thought the answer is A.\nBut no. Answer: **B**", 1),
        ("Answer: The man slept, as he was tired.", 2),
        ("The choice that fits is\n\nAnswer:\nB", 1),
        ("A dog and a cat met.", None),
        ("", None),
        ("D", None),
        ("A or B", None),
        ("It did not rain: it rained is wrong", None),
        ("It rained. The man slept.", None),
        ("(A) It rained. (B) A dog barked. I cannot tell.", None),
        ("I do not know.", None),
        ("<think>The answer is A", None),
        ("Answer: none of them", None),
        ("42", None),
        ("It can't be A, as the man slept is later.", None),
    ],
)
def test_a_reply_in_words(reply, label):
    assert read(reply) == label


def test_a_reply_that_was_cut_off_counts_by_what_it_states_alone():
    assert read("A. It rained.\nLet us look at", "length") is None
    assert read("So the answer is C.\nThat is", "length") == 2


def test_the_likeliest_choice():
    assert likeliest(Response("", {"A": -1.0, "B": -0.5, "C": -3.0}), "ABC").label == 1
    assert likeliest(Response("", {"A": -1.0, "B": -1.0, "C": -3.0}), "ABC").label is None
    assert likeliest(Response("", {"A": -1.0, "B": float("nan")}), "AB").label is None
