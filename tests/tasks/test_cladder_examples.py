"""The solved examples of CLadder's prompts: right by their own sums, and no items of any split."""

from __future__ import annotations

import pytest
from support.cladder_help import task

from harness.tasks.cladder.items import sample_candidates, text_digest
from harness.tasks.cladder.models import _round


def test_the_solved_examples_are_questions_of_models_that_no_round_has_and_their_sums_come_out():
    drawn = {
        f"{question.model.background} {question.given} {question.text}": question
        for model in _round(("easy", "hard"), 0, -1)
        for _, question in model.questions()
    }
    examples = task().examples()
    assert sorted(example["answer"] for example in examples) == ["No", "No", "Yes", "Yes"]
    for example in examples:
        question = drawn[example["text"]]
        graph, words = question.model.scm.graph, question.model.story.words
        names, edges, *_, last, verdict = example["steps"].splitlines()
        assert names == f"Let {'; '.join(f'{node} = {words[node].name}' for node in graph.nodes)}."
        assert edges == ",".join(f"{cause}->{effect}" for cause, effect in graph.edges)
        total, said = last.rsplit(" = ", 1)
        assert float(said) == pytest.approx(eval(total, {"__builtins__": {}}), abs=0.005)
        assert float(said) == pytest.approx(question.value, abs=0.02)
        assert verdict == f"{said} {'>' if float(said) > 0 else '<'} 0"
        assert example["answer"] == ("Yes" if question.stated else "No")


def test_the_solved_examples_are_no_test_items():
    shown = {text_digest(example["text"]) for example in task().examples()}
    asked = {text_digest(item.fields["text"]) for item in task(limit=1000).items()}
    assert not shown & (asked | {text_digest(one.text) for one in sample_candidates()})
