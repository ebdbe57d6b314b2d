"""Tables of a command as a file (out=)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import ConfigError
from harness.storage.atomic_write import atomic_file, check
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.table import Part, Table

_FORMS = (".md", ".csv", ".json")


def check_out(out: str | None) -> None:
    """Raise ConfigError where a file of that name cannot be written."""
    if out is not None:
        if Path(out).suffix not in _FORMS:
            raise ConfigError(f"out={out}: the name has to end in {', '.join(_FORMS)}.")
        check(out)


def write_out(parts: Sequence[Part], out: str | None, title: str) -> None:
    """Write the tables in the form that the file's name tells; do nothing without one."""
    if out is None:
        return
    tables = [part for part in parts if isinstance(part, Table)]
    forms = {".md": lambda: f"# {title}\n\n{markdown(parts)}", ".csv": lambda: as_csv(tables)}
    with atomic_file(out) as file:
        file.write(f"{forms.get(Path(out).suffix, lambda: as_json(tables))()}\n")
