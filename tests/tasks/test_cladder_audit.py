"""What is wrong in CLadder's sample questions, as docs/cladder.md counts it."""

from __future__ import annotations

import pytest
from support.tools import tool

AUDIT = vars(tool("cladder_audit"))


@pytest.fixture(scope="module")
def found():
    return AUDIT["counts"]()


def test_814_of_2940_values_are_wrong_and_16_questions_then_ask_for_another_effect(found):
    total = AUDIT["AuditCounts"]()
    for one in found.values():
        total.add(one)
    assert (total.questions, total.values, total.wrong_values) == (4164, 2940, 814)
    assert (total.other_effect, total.turned) == (16, 14)
    assert (found["marginal"].other_effect, found["nie"].other_effect) == (8, 8)
    assert total.largest == pytest.approx(0.1089, abs=5e-5)


def test_712_printed_probabilities_are_wrong_by_up_to_9_percent(found):
    assert {query: one.wrong_printed for query, one in found.items() if one.wrong_printed} == {
        "marginal": 184,
        "ate": 344,
        "ett": 184,
    }
    assert max(one.largest_printed for one in found.values()) == pytest.approx(0.0928, abs=5e-5)


def test_the_printed_percents_say_another_effect_than_the_key(found):
    assert {query: one.other_sign for query, one in found.items() if one.other_sign} == {
        "correlation": 70,
        "marginal": 8,
        "ate": 4,
        "ett": 4,
    }


def test_what_the_words_leave_open_and_where_they_contradict_the_key(found):
    total = AUDIT["AuditCounts"]()
    for one in found.values():
        total.add(one)
    assert (total.open, total.open_words, total.against) == (473, 232, 45)
    assert (found["backadj"].by_rule, found["det-counterfactual"].against) == (34, 4)
