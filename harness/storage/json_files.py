"""JSON files that are in their place as a whole or not at all, and readable by people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.storage.files import parse_json, read_bytes


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file all at once: a reader never sees half of it."""
    temporary = path.with_name(".begun.tmp")  # another final one may lie beside it
    try:
        temporary.write_text(f"{format_json(content)}\n", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def prepare(ready: dict[Path, Path], place: Path, text: str) -> None:
    """Write a file beside its place and add it to those that are `ready`, even if only half of it could be written."""
    ready[place] = beside(place)
    ready[place].write_text(text, encoding="utf-8")


def beside(place: Path) -> Path:
    """Return where a file is written before it takes its place."""
    return place.with_name(f".{place.name}.tmp")


def json_round_trip(value: Any) -> Any:
    """Return a value as it is after being written as JSON and read again."""
    return json.loads(json.dumps(value))


def format_json(value: Any, indent: str = "") -> str:
    """Return JSON with a line for each member of an object; a list, or a row of scores, is one line."""
    if not isinstance(value, Mapping) or not value or "positives" in value:
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    members = (
        f"{inner}{json.dumps(str(name), ensure_ascii=False)}: {format_json(member, inner)}"
        for name, member in value.items()
    )
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def object_in(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file; empty where there is no file, or none that is whole.

    A run may be started in a folder that somebody sent: only an ordinary file is read, as every reader does.
    """
    try:
        content = parse_json(read_bytes(path))
    except (FileNotFoundError, ValueError, DataError):
        return {}
    return content if isinstance(content, dict) else {}
