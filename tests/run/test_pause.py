"""A run whose first twenty replies hold no answer stops in order, says why, and goes on with the same command."""

from __future__ import annotations

from contextlib import suppress

import pytest
from support.openai_server import chat_reply

from harness import evaluate, load_run
from harness.errors import RunStopped
from harness.runtime.signals import STOP


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)


def run(server, limit=60, model="m", **settings):
    fixed = {"model.base_url": server.url, "model.model": model, "model.max_concurrency": 4}
    return evaluate(model="openai", limit=limit, **{**fixed, **settings})


def folder(tmp_path, variant="limit=60"):
    return load_run(tmp_path / "results" / "corr2cause" / variant / "plain" / "m")


def ends(server, tmp_path, limit=60, **settings):
    """Return whether a run comes to its end, whatever is said of its scores."""
    with suppress(RunStopped):
        run(server, limit, **settings)
    return folder(tmp_path, f"limit={limit}").complete


def cut_off(_, body, *__):
    reply = chat_reply("", finish_reason="length")
    return reply | {"usage": {"prompt_tokens": 9, "completion_tokens": body["max_tokens"]}}


def maybe(path, body, number):
    return chat_reply(f"Perhaps,\x1b[2J number {number}; I would rather not say.")


def test_replies_that_are_all_cut_off(serve, tmp_path):
    server = serve(cut_off)
    with pytest.raises(RunStopped, match=r"(?s)was cut off at max_tokens=16 .*thinking.*nothing at all") as e:
        run(server)
    assert all(way in str(e.value) for way in ("max_tokens=1024", "model.reasoning=true"))
    there = folder(tmp_path)
    calls = len(server.calls)
    # What was under way when the twentieth came is kept as well.
    assert 20 <= calls == there.result.overall.items <= 28 and not there.complete and not STOP.requested
    assert there.result.overall.cut_off == there.result.overall.unreadable == calls
    # The same command asks twenty more before it stops again: stored replies cost nothing and do not count.
    with pytest.raises(RunStopped, match="first 20 replies"):
        run(server)
    assert calls + 20 <= len(server.calls) <= calls + 28
    while not ends(server, tmp_path):
        assert len(server.calls) <= 60
    assert len(server.calls) == len({str(call) for call in server.calls}) == 60


def test_replies_that_nobody_can_read(serve):
    with pytest.raises(RunStopped, match="in none of the first 20 replies") as e:
        run(serve(maybe))
    assert str(e.value).count("“Perhaps,") == 3 and "\x1b" not in str(e.value)
    assert all(way in str(e.value) for way in ("parser:", "answer=choice", "judge="))


def test_a_model_with_room_to_think_gets_more_of_it(serve):
    thinking = {"message": {"role": "assistant", "content": None, "reasoning": "Let A be"}, "finish_reason": "length"}
    with pytest.raises(RunStopped, match=r"model\.reasoning_tokens=32768") as e:
        run(serve(lambda *_: chat_reply("", **thinking)), reasoning=True)
    assert "nothing, after the thoughts “…Let A be”" in str(e.value)


@pytest.mark.parametrize("readable", [1, 20])
def test_one_readable_reply_is_enough(serve, readable):
    def replies(path, body, number):
        return chat_reply("Yes") if number == readable else maybe(path, body, number)

    assert run(serve(replies), **{"model.max_concurrency": 1}).complete


@pytest.mark.slow
def test_fewer_than_twenty_and_what_a_judge_reads(serve, tmp_path):
    assert ends(serve(maybe), tmp_path, limit=19)
    judge = serve(lambda *_: chat_reply("Yes"))
    settings = {"judge.base_url": judge.url, "judge.model": "j"}
    assert run(serve(maybe), judge="openai", **settings).complete
