"""Ctrl-C at moments that a user cannot aim at: each ends in a sentence, or in nothing where all has been said."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.pseudo_terminal import child

from harness.runtime import signals
from harness.runtime.progress import Progress
from harness.runtime.signals import interruptible

SENTENCE = f"{signals.sentence()}\n"
DURING_AN_IMPORT = """
import runpy, signal, sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            signal.raise_signal(signal.SIGINT)
module = sys.argv.pop()
sys.meta_path.insert(0, Pressed())
runpy.run_module("harness", run_name="__main__", alter_sys=True)
"""
DURING_EXIT = """
import atexit, runpy, signal, threading
class Pressed:
    def __del__(self, press=signal.raise_signal, number=signal.SIGINT):
        press(number)
{}
runpy.run_module("harness", run_name="__main__", alter_sys=True)
"""
AT = {
    "waiting for threads": "threading._register_atexit(signal.raise_signal, signal.SIGINT)",
    "what is registered": "atexit.register(signal.raise_signal, signal.SIGINT)",
    "destructors": "pressed = Pressed()",
}
WITH_A_BAR = """
import signal, time
from harness.runtime import signals
from harness.runtime import progress
from harness.runtime.signals import interruptible
from harness.runtime.progress import Progress
progress.AFTER, progress.LONGEST_WAIT = 0.0, 60.0
signals.at_once("the end", 0)
drawn = []
class Seen(Progress):
    @property
    def waiting(self):
        drawn.append(1)
        return ""
def shown():
    # until it has been drawn from now on
    there = len(drawn) + 2
    while len(drawn) < there:
        time.sleep(0.01)
progress = Seen("title")
with interruptible(progress.say):
    for _ in progress.watch(iter(range(5)), range(5)):
        shown()
        signal.raise_signal(signal.SIGINT)
"""
HALF_A_FILE = """
import signal
from harness.runtime import signals
from harness.storage.atomic_write import atomic_file
signals.at_once("the end")
with atomic_file("items.jsonl", "out=") as file:
    file.write("half")
    print("out of the buffer")
    signal.raise_signal(signal.NUMBER)
"""


def ended(folder: Path, program: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("module", "sentence"),
    [("harness.cli.hydra_app", SENTENCE), ("harness.cli.commands", "interrupted.\n"), ("hydra", SENTENCE)],
)
def test_during_an_import(tmp_path, module, sentence):
    assert ended(tmp_path, DURING_AN_IMPORT, module) == (130, "", sentence)


@pytest.mark.parametrize("when", AT)
def test_during_the_exit_of_python(tmp_path, when):
    code, output, errors = ended(tmp_path, DURING_EXIT.format(AT[when]), "--help")
    assert (code, errors) == (0, "") and "model=" in output


def test_the_bar_is_taken_away(tmp_path):
    screen = child(80, sys.executable, "-c", WITH_A_BAR, cwd=tmp_path)
    assert b"title" in screen.raw and not screen.screen.cursor.hidden
    assert screen.text.startswith("stopping: ") and "the end" in screen.text and "title" not in screen.text


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", -signal.SIGTERM)])
def test_half_a_file_is_taken_away_and_what_was_printed_is_not(tmp_path, number, code):
    assert ended(tmp_path, HALF_A_FILE.replace("NUMBER", number)) == (code, "out of the buffer\n", "the end\n")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def handlers():
    """Restore the signal handlers of the test's process afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_who_ignores_it_goes_on_ignoring_it(handlers):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signals.at_once("the end")
    signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_in_the_middle_of_a_line_that_is_being_written(handlers, monkeypatch):
    class Pressed(io.RawIOBase):
        def writable(self):
            return True

        def write(self, what):
            if not signals.STOP.requested:
                signal.raise_signal(signal.SIGINT)
            return len(what)

    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(Pressed())))
    with interruptible(Progress("t").say):
        print("a line", file=sys.stderr, flush=True)
        assert signals.STOP.requested
    assert not signals.STOP.requested


def test_nohup_is_not_undone(handlers):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible(Progress("t").say):
            signal.raise_signal(signal.SIGHUP)
            assert not signals.STOP.requested
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_terminal_that_goes_away_may_say_so_twice(handlers, capsys):
    with interruptible(Progress("t").say):
        for _ in range(3):
            signal.raise_signal(signal.SIGHUP)
        assert signals.STOP.requested
    assert capsys.readouterr().err.count("stopping") == 1
