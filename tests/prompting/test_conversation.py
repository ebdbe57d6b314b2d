from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.scripted import Scripted

from harness.prompting.conversation import play
from harness.prompting.prompts import load
from harness.run import ask
from harness.types import ChatRequest, Failure, Item, Message, Response


def prompt(tmp_path: Path, opening: list[str]):
    file = tmp_path / "talk.yaml"
    file.write_text(
        yaml.safe_dump({"source": "test", "makes": ["chat"], "system": "S", "opening": opening, "user": "Q {q}"})
    )
    return load("corr2cause", str(file), ())


def echo(request: ChatRequest) -> Response:
    return Response(f"re {request.messages[-1].content}")


def test_the_model_answers_each_turn_before_the_next(tmp_path):
    model = Scripted(echo)
    (transcript,) = play(model, prompt(tmp_path, []), [("one", "two")]).values()
    assert transcript == (
        Message("user", "one"),
        Message("assistant", "re one"),
        Message("user", "two"),
        Message("assistant", "re two"),
    )
    assert [message.content for message in model.asked[1].messages] == ["S", "one", "re one", "two"]


def test_a_turn_that_takes_long_is_told(tmp_path, monkeypatch):
    lines = []
    play(Scripted(echo), prompt(tmp_path, []), [("a", "b"), ("a", "c")], lines.append)
    assert lines == []
    monkeypatch.setattr("harness.prompting.conversation.SLOW", -1.0)
    play(Scripted(echo), prompt(tmp_path, []), [("a", "b"), ("a", "c")], lines.append)
    assert lines == [
        "opening: turn 1 of 2 has been answered in 1 conversation",
        "opening: turn 2 of 2 has been answered in 2 conversations",
    ]


def test_openings_that_agree_so_far_share_their_calls(tmp_path):
    model = Scripted(echo)
    played = play(model, prompt(tmp_path, []), [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "c"), ("e",)])
    assert len(played) == 3
    assert [request.messages[-1].content for request in model.asked] == ["a", "e", "b", "c", "d"]


def test_a_failed_turn_fails_exactly_its_own_items(tmp_path):
    def says(request):
        return Failure("timeout", "late") if request.messages[-1].content == "tell me of y" else echo(request)

    items = [Item(f"{net}{k}", {"net": net, "q": k}, {"gold": 1}, net, {}) for net in "xy" for k in range(3)]
    model = Scripted(says)
    by_item = {r.item: r for r in ask(items, prompt(tmp_path, ["tell me of {net}"]), model, ChatRequest)}
    assert {name for name, record in by_item.items() if isinstance(record.outcome, Failure)} == {"y0", "y1", "y2"}
    assert by_item["y0"].outcome == Failure("timeout", "opening, turn 1: late")
    assert by_item["x1"].outcome.text == "re Q 1"
    # Two openings and three questions: a network's opening is played once, not once a question.
    assert len(model.asked) == 5


def test_a_turn_that_was_not_answered_is_a_failure(tmp_path):
    class Silent(Scripted):
        def respond(self, requests):
            yield from ()

    (played,) = play(Silent(echo), prompt(tmp_path, []), [("one",)]).values()
    assert isinstance(played, Failure) and played.kind == "unanswered"


@pytest.mark.parametrize("failing", [False, True])
def test_an_opening_that_goes_on_in_the_next_block_is_not_played_again(failing, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.run.BLOCK", 2)

    def says(request):
        return (
            Failure("timeout", "late") if failing and request.messages[-1].content == "tell me of x" else Response("")
        )

    model = Scripted(says)
    items = [Item(f"{net}{k}", {"net": net, "q": k}, {"gold": 1}, net, {}) for net in "xy" for k in range(5)]
    answered = list(ask(items, prompt(tmp_path, ["tell me of {net}"]), model, ChatRequest))
    assert [record.item for record in answered] == [item.id for item in items]
    assert sum(isinstance(record.outcome, Failure) for record in answered) == (5 if failing else 0)
    assert [r.messages[-1].content for r in model.asked].count("tell me of x") == 1
    assert len(model.asked) == (7 if failing else 12)
