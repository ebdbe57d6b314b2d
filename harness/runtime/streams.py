"""Standard output and error of a command: either may be closed, full, or a terminal that has gone.

What is printed in vain on standard output is an error, since somebody wanted it; on standard error it is nothing, since
nobody is there to be told.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import OutputError


def prepare() -> None:
    """Replace standard streams by ones that can be written to whatever becomes of them.

    Call it before anything is printed.

    A closed descriptor is opened first: else the next file to be opened, such as the cache, would take its number, and
    what is meant for the user would be written into it.
    """
    for number in range(3):
        _open(number)
    # Others' streams (a test's, a notebook's) are theirs.
    if sys.stdout is None or (sys.stdout is sys.__stdout__ and type(sys.stdout) is io.TextIOWrapper):
        sys.stdout = _Output(*_parts(sys.stdout))
        sys.__stdout__ = sys.stdout  # type: ignore[misc]
    if sys.stderr is None or (sys.stderr is sys.__stderr__ and type(sys.stderr) is io.TextIOWrapper):
        sys.stderr = _Errors(*_parts(sys.stderr))
        sys.__stderr__ = sys.stderr  # type: ignore[misc]


class _Output(io.TextIOWrapper):
    """Standard output; raises OutputError where it cannot be written."""

    def write(self, text: str, /) -> int:
        try:
            if self.name == os.devnull and text:  # by this name: in the place of one that was closed
                raise OSError(errno.EBADF, "it is closed")
            return super().write(text)
        except OSError as error:
            raise self._lost(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise self._lost(error) from error

    def _lost(self, error: OSError) -> Exception:
        """Return the error to raise.

        What is still in the buffer would fail once more, with a traceback, when Python ends.
        """
        _discard(self.fileno())
        if isinstance(error, BrokenPipeError):
            return error
        return OutputError(
            f"standard output cannot be written ({error.strerror}): what was to be printed is lost, what stands in "
            "files is not."
        )


class _Errors(io.TextIOWrapper):
    """Standard error; what cannot be written is dropped."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            _discard(self.fileno())
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _discard(self.fileno())


def _open(number: int) -> None:
    """Open a descriptor that is closed, on nothing."""
    try:
        os.fstat(number)
    except OSError:
        _discard(number)


def _discard(number: int) -> None:
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != number:
            os.dup2(nothing, number)
            os.close(nothing)


def _parts(stream: io.TextIOWrapper | None) -> tuple[Any, str, str | None, str | None, bool, bool]:
    """Return what a text stream is made of: its buffer, taken out of it, and its settings."""
    if stream is None:
        return Path(os.devnull).open("wb"), "utf-8", "backslashreplace", None, False, False
    settings = stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
    stream.flush()
    return stream.detach(), *settings
