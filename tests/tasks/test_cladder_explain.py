"""What the page says of a CLadder item: its graph, and what its numbers leave open."""

from __future__ import annotations

from support.cladder_help import task

from harness.tasks.cladder.explain import QuestionExplanations


def explained(*names):
    items = {item.id: item for item in task(split="sample").items()}
    told = QuestionExplanations()
    for name in names:
        told.add(items[name])
    return told.json()


def test_an_item_has_its_graph_and_the_range_that_its_numbers_leave():
    found = explained(
        "alarm-mediation-nie-model0-spec0-q0",
        "gender_pay-arrowhead-marginal-model112-spec0-q0",
        "encouagement_program-mediation-nie-model32-spec0-q0",
    )
    triangle, why = found["classes"][found["of"][0]], found["why"][0]
    assert triangle["members"] == [[[0, 1], [0, 2], [1, 2]]] and triangle["total"] == 1
    assert found["names"]["table"][0] == ["husband", "wife", "alarm clock"]
    assert why["said"].startswith(
        "Open by the words (natural indirect effect): 'husband' and 'alarm clock' do not tell"
    )
    assert "0.167 and 0.184" in why["said"]
    opened = found["why"][1]["said"]
    assert opened.startswith("Open by the words") and "The published answer is Yes." in opened
    assert "The exact answer is No." in opened
    assert found["why"][2]["said"].startswith("Yes by the words (natural indirect effect): it lies between ")


def test_rules_without_numbers_are_said_in_a_sentence():
    found = explained("candle-fork-backadj-model2-spec0-q1", "alarm-mediation-det-counterfactual-model148-spec0-q0")
    assert "method 1 (no adjustment) satisfies" in found["why"][0]["said"]
    assert "The published answer is Yes." in found["why"][0]["said"]
    assert found["why"][1]["said"].endswith("decide about Y.")


def test_what_cannot_be_read_has_no_graph():
    assert explained("vaccine_kills-diamond-ett-model18-spec0-q0") is None
