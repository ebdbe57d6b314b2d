"""What a command says: drawn where there is a terminal, Markdown text elsewhere. The one place that decides."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.runtime.console import capable, rich_console
from harness.tables.table import Part


def show(parts: Sequence[Part], *, title: str = "") -> None:
    """Print paragraphs and tables; on a terminal below a title."""
    if capable(sys.stdout):
        from harness.tables.rich_tables import draw

        draw(parts, rich_console(sys.stdout), title=title)
    else:
        from harness.tables.markdown_csv_json import markdown

        print(markdown(parts), flush=True)
