"""Standard output and error of a command: closed, full, a terminal that has gone, or unable to write a character.

What is printed in vain on standard output is an error, since somebody wanted it; on standard error it is nothing, since
nobody is there to be told. Whoever reads no more of standard output (| head) has had enough: the work goes on without.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.errors import OutputError

NEAREST = "harness.nearest"
"""The error handler, by its name among Python's codecs: what an encoding cannot say is said with what it can."""
_NEAR = {
    **dict.fromkeys("‐‑‒–—―−─━┄┅╌╍═·", "-"),
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("‘’‚", "'"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("█▇▆▅▄▃▂▁▌▐", "#"),
    **dict.fromkeys("┌┬┐├┼┤└┴┘╭╮╰╯╇╪╡╞╘╧╛╒╤╕╸╺", "+"),
    "…": "...",
    "×": "x",
    "±": "+/-",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "•": "*",
    "\N{REPLACEMENT CHARACTER}": "?",
}
"""Signs that an encoding may lack, and how ASCII writes them."""


def prepare() -> None:
    """Replace standard streams by ones that can be written to whatever becomes of them.

    Call it before anything is printed.

    A closed descriptor is opened first: else the next file to be opened, such as the cache, would take its number, and
    what is meant for the user would be written into it.
    """
    codecs.register_error(NEAREST, _nearest)
    for number in range(3):
        _open(number)
    # Others' streams (a test's, a notebook's) are theirs.
    if sys.stdout is None or (sys.stdout is sys.__stdout__ and type(sys.stdout) is io.TextIOWrapper):
        sys.stdout = _Output(*_parts(sys.stdout))
        sys.__stdout__ = sys.stdout  # type: ignore[misc]
    if sys.stderr is None or (sys.stderr is sys.__stderr__ and type(sys.stderr) is io.TextIOWrapper):
        sys.stderr = _Errors(*_parts(sys.stderr))
        sys.__stderr__ = sys.stderr  # type: ignore[misc]


@contextmanager
def data_output() -> Iterator[Any]:
    """Yield standard output for JSON and its kind: UTF-8, and BrokenPipeError where nobody reads more of it."""
    output = sys.stdout
    if not isinstance(output, io.TextIOWrapper):
        yield output
        return
    encoding, errors = output.encoding, output.errors
    output.reconfigure(encoding="utf-8")
    _Output.is_data = True
    try:
        yield output
    finally:
        _Output.is_data = False
        output.reconfigure(encoding=encoding, errors=errors)


class _Output(io.TextIOWrapper):
    """Standard output; raises OutputError where it cannot be written."""

    is_data = False
    """Whether what is written is all that the command does."""

    def write(self, text: str, /) -> int:
        try:
            if self.name == os.devnull and text:  # by this name: in the place of one that was closed
                raise OSError(errno.EBADF, "it is closed")
            return super().write(text)
        except OSError as error:
            self._lost(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        """Raise the error that fits the failure.

        What is still in the buffer would fail once more, with a traceback, when Python ends.
        """
        _discard(self.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutputError(
                f"standard output cannot be written ({error.strerror}): what was to be printed is lost, what stands in "
                "files is not."
            ) from error
        if self.is_data:
            raise error


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
    """Detach a text stream's buffer; return it and the stream's settings."""
    if stream is None:
        return Path(os.devnull).open("wb"), "utf-8", NEAREST, None, False, False
    settings = stream.encoding, NEAREST, None, stream.line_buffering, stream.write_through
    stream.flush()
    return stream.detach(), *settings


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Return what is written in place of characters that an encoding lacks, in ASCII, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_in_ascii, error.object[error.start : error.end])), error.end


def _in_ascii(sign: str) -> str:
    """Return the nearest that ASCII has to a character: é as e, ² as 2, its escape where nothing is near."""
    plain = "".join(part for part in unicodedata.normalize("NFKD", sign) if part.isascii())
    return _NEAR.get(sign) or plain or sign.encode("ascii", "backslashreplace").decode()
