from __future__ import annotations

import sys
import time

import pytest
from support.causalbench_help import causalbench
from support.made_records import made
from support.pseudo_terminal import terminal
from support.scripted import Scripted

from harness.prompting import prompts
from harness.run import ask
from harness.runtime import progress
from harness.runtime.progress import Progress
from harness.types import Answer, ChatRequest, Failure, Record, Response


def record(outcome, answer=None) -> Record:
    return made("1", "c", {}, {"gold": 1}, None, outcome, answer)


RECORDS = [
    record(Response("Yes", cached=True), Answer(1)),
    record(Response("?"), Answer(None)),
    record(Failure("timeout", "late")),
    record(Response("No"), Answer(0)),
]


@pytest.fixture(autouse=True)
def drawable(monkeypatch):
    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "LONGEST_WAIT", 120.0)


def test_records_pass_unchanged_and_are_counted():
    counting = Progress("t")
    assert list(counting.track(iter(RECORDS), RECORDS)) == RECORDS
    assert (counting.done, counting.cached, counting.unreadable, counting.failed) == (4, 1, 1, 1)


class InFlight(Scripted):
    """Has all requests under way before the first answer lands."""

    def respond(self, requests):
        return super().respond(list(requests))


def test_an_answer_that_several_items_wait_for_was_asked_once():
    task = causalbench("Causality", networks=["asia", "cancer"], method=2)
    scripted, counting = InFlight(lambda request: Response("Yes")), Progress("t")
    prompt = prompts.load(task.name, "closed", ())
    assert len(list(counting.track(ask(task.items(), prompt, scripted, ChatRequest), task.items()))) == 456
    assert len(scripted.asked) == 380
    assert counting.where_from() == (
        "0 answers came from the cache, 380 were asked now; 76 items ask, word for word, what another one was asked, "
        "and share its answer."
    )
    stored = Progress("t")
    list(stored.track(iter(RECORDS[:1]), RECORDS[:1]))
    assert stored.where_from() == "1 answers came from the cache, 0 were asked now."
    assert Progress("t").where_from() == ""


def test_without_a_terminal_there_are_plain_lines(monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "BURST", 0.0)
    counting = Progress("corr2cause gpt4", lambda: "$0.0312")
    list(counting.track(iter(RECORDS), RECORDS))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "corr2cause gpt4: 1/4 · $0.0312 · 1 cached"  # of asking nothing is known yet
    assert lines[1] == "corr2cause gpt4: 2/4 · $0.0312 · 1 cached · 1 unreadable"
    assert lines[2].startswith("corr2cause gpt4: 3/4 · ") and "/s · 0:00:01 left · $0.0312 · 1 cached" in lines[2]
    assert lines[-1].endswith("/s · $0.0312 · 1 cached · 1 unreadable · 1 failed")
    assert "\x1b" not in "".join(lines)


def test_the_rate_is_of_what_is_asked_from_the_first_answers_on():
    run, start = Progress("t"), time.monotonic()
    run.total = 60

    def after(seconds, *, asked=0, cached=0):
        run.cached, run.done = cached, asked + cached
        return run.facts(start + seconds)

    assert after(20, cached=10) == {"done": "10/60", "cached": "10 cached"}  # stored answers say nothing of the pace
    assert after(50, cached=10, asked=1) == after(50.5, cached=10, asked=1)  # nor does the loading of a model
    assert "rate" not in after(50.5, cached=10, asked=8)  # nor what landed with the first
    later = after(58, cached=10, asked=16)
    assert later["rate"] == "1.0/s" and later["left"] == "0:00:34 left"


def answers():
    for number in range(20):
        yield record(Response("No", cached=number < 5), Answer(None if number == 7 else 0))


@pytest.mark.parametrize("width", [120, 40])
def test_a_terminal_gets_a_bar_of_one_line(monkeypatch, width):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "BURST", 0.0)
    counting = Progress("corr2cause [gpt4]", lambda: "$0.0312")
    with terminal(width) as screen:
        for number, _ in enumerate(counting.track(answers(), range(20))):
            if number == 9:
                screen.wait("10/20")
                counting.say("a line beside it")
            if number == 16:
                then = screen.wait("17/20")
    (line,) = [line for line in then.lines if "17/20" in line]
    assert line.startswith("corr2cause [gpt4]" if width == 120 else "corr2c") and max(map(len, then.lines)) <= width
    assert ("$0.0312 · 5 cached · 1 unreadable" in line and "left" in line and "━━" in line) or width == 40
    assert screen.text == "a line beside it"  # nothing else stays


def test_the_bar_leaves_stdout_alone(monkeypatch, capfd):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    with terminal(80, stdout=False) as screen:
        for number in Progress("t").watch(iter(range(5)), range(5)):
            screen.wait(f"{number + 1}/5")
            print("for the pipe", flush=True)
    assert capfd.readouterr().out == "for the pipe\n" * 5
    assert b"pipe" not in screen.raw


def test_what_is_over_within_a_second_has_no_bar(monkeypatch):
    assert progress.AFTER == 1
    monkeypatch.setattr(progress, "AFTER", 60.0)  # on a slow day four records take more than a second
    with terminal(80) as screen:
        list(Progress("t").track(iter(RECORDS), RECORDS))
    assert screen.raw == b""


def test_an_error_ends_the_bar(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.0)

    def broken():
        yield 1
        screen.wait("1/3")
        raise ValueError("no more")

    with terminal(80) as screen, pytest.raises(ValueError, match="no more"):
        list(Progress("t").watch(broken(), range(3)))
    assert screen.text == "" and not screen.screen.cursor.hidden


def test_what_waits_for_a_retry_is_told_in_lines_and_below_the_bar(monkeypatch, capsys):
    from rich.console import Console

    board = progress.Retries()
    monkeypatch.setattr(progress, "RETRIES", board)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    counting = Progress("corr2cause gpt4")
    watched = counting.watch(iter([1, 2]), [1, 2])
    next(watched)
    assert counting.waiting == ""
    for call in range(7):
        board.begin(call, "500: Internal Server Error", 3 + (call == 6), 10)
    board.begin("other", "no answer in time", 2, 2)
    told = "7 calls wait: 500: Internal Server Error, try 4 of 10; 1 more for other reasons"
    board.show()
    monkeypatch.setattr(progress, "EVERY", 60.0)
    board.show()  # no second line within that time
    board.say("one address is down")
    assert capsys.readouterr().err.splitlines() == [f"corr2cause gpt4: 1/2 · {told}", "one address is down"]
    Console(width=60, file=sys.stderr).print(progress.bar(counting))
    assert capsys.readouterr().err.splitlines()[1].startswith("7 calls wait: 500: Internal Server Error, try 4 of")
    for call in (*range(7), "other"):
        board.end(call)
    assert counting.waiting == "" and list(watched) == [2]
    board.show()
    board.say("nobody listens any more")
    assert "listens" not in capsys.readouterr().err
