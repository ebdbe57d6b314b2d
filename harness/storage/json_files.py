"""JSON files that are in their place as a whole or not at all, and readable by people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.storage.files import parsed, read_bytes


def write(path: Path, content: Mapping[str, Any]) -> None:
    """All of it or nothing: a reader never sees half a file."""
    temporary = path.with_name(".begun.tmp")  # another final one may lie beside it
    try:
        temporary.write_text(f"{laid_out(content)}\n", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def prepare(ready: dict[Path, Path], place: Path, text: str) -> None:
    """Writes a file beside its place and adds it to those that are `ready`, also where only half of it was written."""
    ready[place] = beside(place)
    ready[place].write_text(text, encoding="utf-8")


def beside(place: Path) -> Path:
    """Return where a file is written before it takes its place."""
    return place.with_name(f".{place.name}.tmp")


def as_read(value: Any) -> Any:
    """A value as it is when it has been written as JSON and read again."""
    return json.loads(json.dumps(value))


def laid_out(value: Any, indent: str = "") -> str:
    """JSON with a line for each member of an object; lists, and rows of scores, stand on one line."""
    if not isinstance(value, Mapping) or not value or "positives" in value:
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    members = (
        f"{inner}{json.dumps(str(name), ensure_ascii=False)}: {laid_out(member, inner)}"
        for name, member in value.items()
    )
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def object_in(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file; empty where there is no file, or none that is whole.

    A run may be started in a folder that somebody sent: only an ordinary file is read, as every reader does.
    """
    try:
        content = parsed(read_bytes(path))
    except (FileNotFoundError, ValueError, DataError):
        return {}
    return content if isinstance(content, dict) else {}
