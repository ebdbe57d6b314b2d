from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from support.late import Late

from harness.settings import build
from harness.types import Item

datasets = Late("datasets")


def questions(path: Path | str, **settings: Any) -> Any:
    """Return the task as the command line builds it."""
    target = {"_target_": "harness.tasks.questions.Questions", "name": "questions", "path": str(path)}
    return build({**target, **settings}, "task")


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as the file's ending has it, and return its path."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        datasets.Dataset.from_list(rows).to_parquet(path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def items_of(path: Path, **settings: Any) -> list[Item]:
    """Return the items of a file."""
    return list(questions(path, **settings).items())
