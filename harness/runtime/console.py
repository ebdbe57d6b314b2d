"""What a command writes for people: texts without keys and terminal codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from harness.runtime.secrets import mask_keys

if TYPE_CHECKING:
    from rich.console import Console


def capable(stream: TextIO) -> bool:
    """Test whether a stream is a terminal that can be drawn on; one that TERM calls dumb is not."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


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
    with suppress(OSError):  # the terminal has gone
        print(f"{what}: {mask_keys(clean(str(error)))}", file=sys.stderr, flush=True)


def prepare_streams() -> None:
    """Let standard streams be written to: one that is closed into nothing, and what an encoding lacks as an escape.

    Opened in this order, nothing takes the number of the closed one: else the next file, such as the cache, would.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper):  # not a test's
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Write standard output into nothing from now on: its reader has had enough (| head)."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


@contextmanager
def data_output() -> Iterator[Any]:
    """Yield standard output for JSON and its kind, in UTF-8 from now on."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    yield sys.stdout
