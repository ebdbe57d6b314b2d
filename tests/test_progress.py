from __future__ import annotations

import io

import pytest

from harness import progress
from harness.progress import Progress
from harness.types import Answer, Failure, Record, Response


def record(outcome, answer=None) -> tuple[Record, None]:
    return Record("1", "c", {}, {"gold": 1}, None, outcome, answer), None


RECORDS = [
    record(Response("Yes", cached=True), Answer(1)),
    record(Response("?"), Answer(None)),
    record(Failure("timeout", "late")),
    record(Response("No"), Answer(0)),
]


def test_records_pass_unchanged_and_are_counted():
    counting = Progress("t")
    assert list(counting.track(iter(RECORDS), RECORDS)) == RECORDS
    assert (counting.done, counting.cached, counting.unreadable, counting.failed) == (4, 1, 1, 1)


def test_without_a_terminal_there_are_plain_lines(monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    list(Progress("corr2cause gpt4").track(iter(RECORDS), RECORDS))
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("corr2cause gpt4: 4 of 4, 0 s left")
    assert lines[-1].endswith("1 from the cache, 1 unreadable, 1 failed")
    assert "\x1b" not in "".join(lines)


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", terminal)
    assert len(list(Progress("corr2cause gpt4").track(iter(RECORDS), RECORDS))) == 4
    assert "corr2cause gpt4" in terminal.getvalue() and "4/4" in terminal.getvalue()
