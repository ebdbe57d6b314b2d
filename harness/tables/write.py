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
    tables = [part for part in parts if isinstance(part, Table)]
    return {"markdown": markdown, "csv": as_csv, "json": as_json, "latex": latex}[form](
        parts if form == "markdown" else tables
    )


def form_of(out: str, form: Format | None = None) -> Format:
    """Return the form that a file is written in. Raises ConfigError where its ending says none, or another."""
    if not out:
        raise ConfigError("out= needs the name of a file.")
    ending = Path(out).suffix
    if (known := ENDINGS.get(ending)) and form not in (None, known):
        raise ConfigError(f"out={out} ends as {known}, but format={form} was given: choose one.")
    if not (known or form):
        raise ConfigError(f"out={out}: the name has to end in {', '.join(ENDINGS)}.")
    check(out)
    return known or form or "markdown"


def write(parts: Sequence[Part], out: str, title: str, form: Format | None = None, *, named: bool = True) -> None:
    """Write a file in the form of its ending, or another one; Markdown below a title.

    `named` says that the user has named the file.
    """
    form = form or ENDINGS[Path(out).suffix]
    text = text_of(parts, form)
    with atomic_file(out, user_path=named) as file:
        whole = f"# {title}\n\n{text}" if form == "markdown" else text
        file.write(f"{whole.rstrip()}\n".encode(errors="replace").decode())  # half characters as question marks
