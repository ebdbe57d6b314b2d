"""Tables as text in any form, and as a file whose ending says which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from harness.errors import ConfigError
from harness.storage.atomic_write import atomic_file, check
from harness.tables.latex import latex
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.table import Part, Table

Format = Literal["markdown", "csv", "json", "latex"]
ENDINGS: Mapping[str, Format] = {".md": "markdown", ".csv": "csv", ".json": "json", ".tex": "latex"}


def text_of(parts: Sequence[Part], form: Format) -> str:
    """Return paragraphs and tables as text; CSV, JSON and LaTeX have the tables alone."""
    if form == "markdown":
        return markdown(parts)
    return {"csv": as_csv, "json": as_json, "latex": latex}[form]([part for part in parts if isinstance(part, Table)])


def form_of(out: str) -> Format:
    """Return the form that a file is written in. Raises ConfigError where its ending says none."""
    if (ending := Path(out).suffix) not in ENDINGS:
        raise ConfigError(f"out={out}: the name has to end in {', '.join(ENDINGS)}.")
    check(out)
    return ENDINGS[ending]


def write(parts: Sequence[Part], out: str, title: str, *, named: bool = True) -> None:
    """Write a file in the form of its ending, Markdown below a title; `named` says that the user has named the file."""
    form = ENDINGS[Path(out).suffix]
    text = (f"# {title}\n\n" if form == "markdown" else "") + text_of(parts, form)
    with atomic_file(out, user_path=named) as file:
        file.write(f"{text.rstrip()}\n".encode(errors="replace").decode())  # half characters as question marks
