"""What a command says: drawn where there is a terminal, Markdown text elsewhere. The one place that decides."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from harness.board.table import Part

if TYPE_CHECKING:
    from rich.console import Console


def capable(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can be drawn on; one that TERM calls dumb is not."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def console(stream: TextIO) -> Console:
    """Rich's view of a terminal: as wide as COLUMNS or the window says, without colours where NO_COLOR is not empty.

    Nothing in a text is markup: names of models and their replies hold [brackets].
    """
    from rich.console import Console

    no_color = bool(os.environ.get("NO_COLOR"))
    return Console(file=stream, no_color=no_color, markup=False, emoji=False, highlight=False)


def show(parts: Sequence[Part], *, title: str = "") -> None:
    """Prints paragraphs and tables; on a terminal below a title."""
    if capable(sys.stdout):
        from harness.board.drawing import draw

        draw(parts, console(sys.stdout), title=title)
    else:
        from harness.board.plain import markdown

        print(markdown(parts), flush=True)


def clean(text: str) -> str:
    """Return a text as one line without characters that steer a terminal."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
