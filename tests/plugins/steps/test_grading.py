"""Replies graded by their steps, as rewards are: against what a collider of three variables entails, by hand."""

from __future__ import annotations

import json

import pytest

from harness import questions
from harness.tasks.question import Question, grade

RIGHT = (
    "A and B are not adjacent [premise]",
    "C is a collider between A and B [1, premise]",
    "A directly causes C [2]",
)
WRONG = "C directly causes B [2]"


@pytest.fixture(scope="module")
def collider() -> Question:
    """Return a question about the graph A → C ← B, of which the premise says all: A and B are independent."""
    made = questions("corr2cause", "trace", split="all", num_nodes=[3])
    return next(q for q in made if "A is independent of B." in q.text and "given" not in q.text.split("\nCan we")[0])


def reply(*claims: str) -> str:
    return "\n".join(f"{number}. {claim}" for number, claim in enumerate(claims, start=1))


@pytest.mark.parametrize(
    ("claims", "entailed", "sound"),
    [
        (RIGHT, 1, 1),
        ((*RIGHT, WRONG), 3 / 4, 3 / 4),
        ((RIGHT[0], WRONG, *RIGHT[1:]), 3 / 4, 1 / 4),
        ((WRONG, *RIGHT), 3 / 4, 0),
        ((RIGHT[0],) * 9 + (WRONG,), 1 / 2, 1 / 2),  # what is said nine times is one claim
        (("It is open whether A directly causes C [premise]",), 0, 0),
        ((), 0, 0),
    ],
)
def test_a_chain_is_worth_what_comes_before_its_first_error(collider, claims, entailed, sound):
    found = collider.grade(f"{reply(*claims)}\nAnswer: {collider.answer}")
    assert found == {"correct": 1, "entailed": pytest.approx(entailed), "sound": pytest.approx(sound)}


def test_a_sound_chain_before_a_wrong_answer_keeps_its_worth(collider):
    wrong = {"Yes": "No", "No": "Yes"}[collider.answer]
    assert collider.grade(f"{reply(*RIGHT)}\nAnswer: {wrong}") == {"correct": 0, "entailed": 1, "sound": 1}


def test_of_a_reply_that_was_withheld_nothing_counts(collider):
    assert set(collider.grade(reply(*RIGHT), "content_filter").values()) == set(collider.grade(None).values()) == {0}


def test_what_it_is_graded_by_travels_as_json(collider):
    assert grade(json.loads(json.dumps(collider.metadata)), reply(*RIGHT))["sound"] == 1


def test_a_prompt_that_asks_for_no_steps_has_an_answer_alone():
    question = next(iter(questions("corr2cause", "cot", split="all", num_nodes=[3])))
    assert question.grade(f"{reply(*RIGHT)}\nAnswer: {question.answer}") == {"correct": 1}
    assert len(question.metadata["fields"]["premise"]) < 70  # and its premise is not kept
