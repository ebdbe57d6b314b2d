"""What a command writes: texts for people, without keys and terminal codes, and streams that cannot fail it halfway.

Standard output and error may be closed, full, gone with their terminal, or unable to encode a character. Failing to
print on standard output is an error, since somebody wanted it; on standard error it is ignored. Where the reader has
had enough (| head), the work goes on without it.
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
from typing import TYPE_CHECKING, Any, TextIO

from harness.errors import OutputError
from harness.runtime.secrets import mask_keys

if TYPE_CHECKING:
    from rich.console import Console


def capable(stream: TextIO) -> bool:
    """Test whether a stream is a terminal that can be drawn on; one that TERM calls dumb is not."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def in_notebook() -> bool:
    """Test whether this is the process of a notebook, whose streams go to a page: a carriage return works there."""
    return "ipykernel" in sys.modules and not sys.stderr.isatty()


def rich_console(stream: TextIO) -> Console:
    """Return Rich's view of a terminal: as wide as COLUMNS or the window says, no colours if NO_COLOR is not empty.

    Nothing in a text is markup: names of models and their replies hold [brackets].
    """
    from rich.console import Console

    no_color = bool(os.environ.get("NO_COLOR"))
    return Console(file=stream, no_color=no_color, markup=False, emoji=False, highlight=False)


def clean(text: str) -> str:
    """Return the text without what a terminal would obey, hide or reorder: others choose their words.

    Escape sequences and other control characters, marks without width and half an emoji become U+FFFD; line breaks and
    tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in _LAYOUT else "\N{REPLACEMENT CHARACTER}" for sign in text)


_LAYOUT = "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}"


def shortened(text: str, most: int) -> str:
    """Return the words of a text on one line of at most `most` characters, with … at the end of one that is longer."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def complain(error: object, what: str = "error") -> None:
    """Print on standard error what went wrong, without keys and without what a terminal would obey."""
    print(f"{what}: {mask_keys(clean(str(error)))}", file=sys.stderr, flush=True)


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


def prepare_streams() -> None:
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
