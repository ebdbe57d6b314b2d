"""What examples/grpo.py learns from, is validated on and tested on."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

from harness import questions
from harness.tasks.corr2cause.text import read_premise

FILE = Path(__file__).parents[3] / "examples" / "grpo.py"


@pytest.fixture(scope="module")
def grpo():
    pytest.importorskip("datasets")
    spec = importlib.util.spec_from_file_location("grpo", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lessons(grpo):
    return grpo.lessons(passes=2)


def variables(text: str) -> int:
    return len(read_premise(text.removeprefix("Question: ").split("\nCan we")[0]).names)


@pytest.mark.slow
def test_no_premise_that_is_tested_on_is_one_of_those_that_are_learned_from_under_other_names(grpo, lessons):
    """Graphs that differ in their number of variables are no graphs of one another, whatever their names."""
    learned = {variables(turns[-1]["content"]) for turns in lessons["prompt"]}
    others = {n: {variables(q.text) for q in questions("corr2cause/fresh", num_nodes=[n], limit=30)}
              for n in (*grpo.VALIDATED, *grpo.TESTED)}  # fmt: skip
    assert learned <= set(grpo.LEARNED) and max(learned) == 5
    assert others == {6: {6}, 7: {7}}


def test_each_step_has_as_many_yes_as_no_of_each_relation(grpo, lessons):
    relations = [json.loads(known)["relation"] for known in lessons["metadata"]]
    rows = list(zip(relations, lessons["answer"], strict=True))
    assert len(rows) > 3000 and len(rows) % grpo.QUESTIONS == 0
    for at in range(0, len(rows), grpo.QUESTIONS):
        counts = Counter(rows[at : at + grpo.QUESTIONS])
        assert all(counts[relation, "Yes"] == counts[relation, "No"] for relation, _ in counts)
    # In the words that are read: neither a parent nor a child is the answer to all.
    letters = str.maketrans("ABCDEFG", "_______")
    asked = [
        turns[-1]["content"].split("following: ")[1].split("?")[0].translate(letters) for turns in lessons["prompt"]
    ]
    said = Counter(zip(asked, lessons["answer"], strict=True))
    assert all(said[words, "Yes"] and said[words, "No"] for words in asked)
