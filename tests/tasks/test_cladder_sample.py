"""CLadder's sample follows from the authors' parameters byte for byte, and what is wrong in it; solved examples."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from support.cladder_help import sample_questions, task
from support.tools import tool

from harness.tasks.cladder.items import text_digest
from harness.tasks.cladder.models import round_of, sample
from harness.tasks.cladder.queries import NUMERIC

PUBLISHED = json.loads(lzma.decompress((Path(__file__).parents[1] / "data" / "cladder_questions.json.xz").read_bytes()))


def test_all_4164_questions_and_their_backgrounds_are_made_again_byte_for_byte():
    assert len(PUBLISHED["questions"]) == len(sample_questions()) == 4164
    for (name, given, asked, answer, value, _), question in zip(
        PUBLISHED["questions"], sample_questions(), strict=True
    ):
        assert (name, given, asked) == (question.name, question.given, question.text)
        assert answer == ("yes" if question.published() else "no"), name
        if question.ask.query in NUMERIC:
            assert question.model.numbers.value(question.ask.query) == pytest.approx(value, abs=1e-12), name
    made = {model.spec.partition("-")[0].removeprefix("model"): model.background for model in sample()}
    assert made == PUBLISHED["backgrounds"]


def test_what_is_wrong_in_them_is_what_the_page_counts():
    audit = tool("cladder_audit")
    found, total = audit.counts(), audit.AuditCounts()
    for one in found.values():
        total.add(one)
    assert (total.questions, total.values, total.wrong_values) == (4164, 2940, 814)
    assert (total.other_effect, total.turned, total.open, total.open_words, total.against) == (16, 14, 473, 232, 45)
    assert (found["marginal"].other_effect, found["nie"].other_effect) == (8, 8)
    assert total.largest == pytest.approx(0.1089, abs=5e-5)
    assert total.largest_printed == pytest.approx(0.0928, abs=5e-5)
    printed = {query: one.wrong_printed for query, one in found.items() if one.wrong_printed}
    assert printed == {"marginal": 184, "ate": 344, "ett": 184}
    signs = {query: one.other_sign for query, one in found.items() if one.other_sign}
    assert signs == {"correlation": 70, "marginal": 8, "ate": 4, "ett": 4}
    assert (found["backadj"].by_rule, found["det-counterfactual"].against) == (34, 4)


def test_the_solved_examples_are_of_models_that_no_round_has_and_their_sums_come_out():
    drawn = {one.whole: one for model in round_of(("easy", "hard"), 0, -1) for one in model.questions()}
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
    asked = {text_digest(str(item.fields["text"])) for item in task(limit=1000).items()}
    asked |= {text_digest(one.whole) for one in sample_questions()}
    assert not asked & {text_digest(example["text"]) for example in examples}
