"""What a command prints, for Python and notebooks: text, HTML and rows of the same tables."""

from __future__ import annotations

from typing import Any

from harness.tables.latex_html import html_parts
from harness.tables.markdown_csv_json import markdown, rows
from harness.tables.table import Part, Table


class Tables(tuple[Part, ...]):
    """Paragraphs and tables in the order in which a command prints them; a notebook shows them as HTML."""

    __slots__ = ()

    def __repr__(self) -> str:
        return markdown(self)

    def _repr_html_(self) -> str:
        return "\n".join(html_parts(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of all tables, shares as fractions; of an interval the ends, as NAME_low and NAME_high."""
        return [row for part in self if isinstance(part, Table) for row in rows(part)]
