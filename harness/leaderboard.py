"""The leaderboard: every complete result below a folder, best F1 first. python -m harness.leaderboard --help"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import DataError, HarnessError
from harness.result_json import result_from_json
from harness.results import RESULT
from harness.tables import COUNTS, TITLES, cells, intervals_said, main_metrics, markdown, metrics_of
from harness.types import Result


@dataclass(frozen=True)
class Row:
    """One run."""

    task: str
    variant: str
    prompt: str
    model: str
    complete: bool
    result: Result


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the leaderboard, and writes LEADERBOARD.md unless told otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m harness.leaderboard", description="Rebuild the leaderboard from the results of earlier runs."
    )
    parser.add_argument("results", nargs="?", default="results", help="the folder to look below (default: results)")
    parser.add_argument("--out", help="the file to write (default: RESULTS/LEADERBOARD.md; - for none)")
    chosen = parser.parse_args(arguments)
    try:
        folder = Path(chosen.results)
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder}; give the one that runs wrote to (results=… there).")
        rows = [load(file) for file in sorted(folder.rglob(RESULT)) if ".sweeps" not in file.parts]
        if not rows:
            raise DataError(f"no {RESULT} below {folder}: run something first, such as python -m harness.")
        text = tables(rows)
        with contextlib.suppress(BrokenPipeError):  # | head
            print(text, flush=True)
        if chosen.out != "-":
            write(text, Path(chosen.out) if chosen.out else folder / "LEADERBOARD.md")
    except HarnessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def write(text: str, path: Path) -> None:
    """The leaderboard as a Markdown file."""
    try:
        path.write_text(f"# Leaderboard\n\n{text}\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}): choose another --out.") from error


def load(path: Path) -> Row:
    """The run that a result.json tells of."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        row = Row(**said["run"], complete=said["complete"], result=result_from_json(said))
        _ = row.result.overall
        return row
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not a result of this program ({error!r}): remove it.") from None


def tables(rows: Sequence[Row]) -> str:
    """A table for each task, models as rows, best F1 first; incomplete runs are named, not ranked."""
    by_task: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    return "\n\n".join(_table(task, found) for task, found in sorted(by_task.items()))


def _table(task: str, rows: list[Row]) -> str:
    ranked = sorted((row for row in rows if row.complete), key=_merit)
    parts = [f"## {task}"]
    if ranked:
        metrics = metrics_of(row.result.overall for row in ranked)
        # Columns that are the same for everybody are said once, above the table.
        names = ["model", *(name for name in ("prompt", "variant") if len({getattr(r, name) for r in ranked}) > 1)]
        same = [f"{name} {getattr(ranked[0], name)}" for name in ("prompt", "variant") if name not in names]
        header = [*names, *(TITLES.get(name, name) for name in metrics), *COUNTS]
        overall = [row.result.overall for row in ranked]
        main = {name for scores in overall for name in main_metrics(scores)}
        shown = cells(overall, metrics, intervals=main)
        body = [[*(getattr(row, name) for name in names), *line] for row, line in zip(ranked, shown, strict=True)]
        parts += [f"Best F1 first, metrics in percent{''.join(f'; {one}' for one in same)}."]
        parts += [markdown(header, body, text_columns=len(names))]
        parts += [" ".join(said)] if (said := intervals_said(overall)) else []
    unfinished = [f"{row.variant}/{row.prompt}/{row.model}" for row in rows if not row.complete]
    if unfinished:
        parts.append(f"Not complete, so not ranked: {', '.join(unfinished)}.")
    return "\n\n".join(parts)


def _merit(row: Row) -> tuple[float | str, ...]:
    """Best F1 first, then accuracy; an undefined F1 stands last."""
    overall = row.result.overall
    merits = (-1.0 if (value := overall[name]) is None else value for name in main_metrics(overall))
    return (*(-value for value in merits), row.model, row.variant, row.prompt)


if __name__ == "__main__":
    sys.exit(main())
