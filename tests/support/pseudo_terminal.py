"""A real pseudo-terminal around this process, and what a user sees on it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyte

HEIGHT = 200


@dataclass
class Terminal:
    width: int
    raw: bytes = b""

    @property
    def screen(self) -> pyte.Screen:
        screen = pyte.Screen(self.width, HEIGHT)
        pyte.ByteStream(screen).feed(self.raw)
        return screen

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    def having(self, words: str, **attributes: object) -> bool:
        """Return whether the words are on the screen, every letter of them with these attributes."""
        screen = self.screen
        for row, line in enumerate(screen.display):
            at = line.find(words)
            while at >= 0:
                cells = [screen.buffer[row][at + k] for k in range(len(words))]
                if all(getattr(cell, name) == value for cell in cells for name, value in attributes.items()):
                    return True
                at = line.find(words, at + 1)
        return False

    @property
    def colours(self) -> set[str]:
        return {cell.fg for line in self.screen.buffer.values() for cell in line.values()} - {"default"}

    def read(self, master: int, watching: Callable[[Terminal], object] = lambda seen: None) -> None:
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # no slave is open any more
                return
            self.raw += part
            watching(self)

    def wait(self, words: str) -> Terminal:
        """Wait until a line of the screen has these words; return the screen."""
        end = time.monotonic() + 120
        while words not in (now := Terminal(self.width, self.raw)).text:
            assert time.monotonic() < end, f"{words!r} has not come: {now.text}"
            time.sleep(0.005)
        return now


def _open(width: int) -> tuple[int, int]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, width, 0, 0))
    return master, slave


@contextmanager
def terminal(width: int, *, stdout: bool = True, stderr: bool = True) -> Iterator[Terminal]:
    """Put the process's streams on a terminal, its file descriptors too: rich takes the width from these."""
    screen, (master, slave) = Terminal(width), _open(width)
    reader = threading.Thread(target=screen.read, args=(master,), daemon=True)
    reader.start()
    numbers = [0, *([1] if stdout else []), *([2] if stderr else [])]
    copies = {number: os.dup(number) for number in numbers}
    before = sys.stdout, sys.stderr
    sys.stdout.flush()
    for number in numbers:
        os.dup2(slave, number)
    os.close(slave)
    if stdout:
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="strict", buffering=1)
    if stderr:
        sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="strict", buffering=1)
    try:
        yield screen
    finally:
        for stream, old in zip((sys.stdout, sys.stderr), before, strict=True):
            if stream is not old:
                stream.close()
        sys.stdout, sys.stderr = before
        for number, old in copies.items():
            os.dup2(old, number)
            os.close(old)
        reader.join(120)
        os.close(master)


def child(
    width: int,
    *command: str,
    cwd: object,
    watching: Callable[[Terminal], object] = lambda screen: None,
    **environment: str,
) -> Terminal:
    """Run a command on a terminal of its own, calling `watching` on each new output; return the terminal."""
    screen, (master, slave) = Terminal(width), _open(width)
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, cwd=str(cwd), env=env | {"TERM": "xterm"} | environment
    )
    os.close(slave)
    screen.read(master, watching)
    process.wait(120)
    os.close(master)
    assert process.returncode == 0, screen.text
    return screen
