"""Answers that others have recorded as runs: harness import FILE task=… map=… by=… source=… licence=…"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from harness.cli import hydra_app, key_value
from harness.codec import content_digest, user_path
from harness.errors import ConfigError, DataError, unknown
from harness.leaderboard.build import build as leaderboard
from harness.protocols import Task
from harness.recorded import recorded_run
from harness.recorded.recorded_run import NAMES, matched, pairs, table_rows
from harness.settings import Main, build
from harness.storage.manifest import Recorded
from harness.storage.runs import load
from harness.tables.table import Part

HELP = """\
Take in answers that others have recorded, as a run: leaderboard, compare, the page, export and verify take it as any
other, and say whose it is.

  harness import answers.csv task=cladder task.split=balanced1000 map=id:question_id,answer:parsed    + name= by= …
  harness import replies.jsonl task=corr2cause prompt=plain map=id:item,reply:output                  + name= by= …

  name= by= source= licence=  needed: the model's row in tables; who has recorded its answers, where they are published,
                        under which licence (licence=unknown where nobody says)
  map=                  columns of the CSV, JSON lines or Parquet file: {names}.
                        A column, or a text with columns in braces; of JSON a.b is b in a. id and one of reply and
                        answer are needed: `harness items task=…` has the items' ids and words
  where=COLUMN:VALUE    only these rows, as where a table has several models; several with commas between them
  task=, task.…         the task whose items were asked; other settings of a run: prompt= (whose parser reads replies),
                        samples=K (so many rows an item), results=

An answer (map=answer:…) is a word that somebody has read: yes, no, the letter or the words of a choice; an empty one
counts as unreadable. A reply (map=reply:…) is read here, by prompt=. Nothing is asked.
"""
_TOLD = {"reply": "the replies' words", "finish_reason": "why replies ended", "output_tokens": "tokens"}
"""What rows may tell, in words."""
_OF_A_RUN = ("task", "prompt", "samples", "results")
"""Settings of a run that mean something here."""


@dataclass(frozen=True)
class ImportSettings:
    """The command's own settings; HELP says what each one means."""

    map: key_value.Words = ()
    where: key_value.Words = ()
    name: str = ""
    by: str = ""
    source: str = ""
    licence: str = ""


def main() -> int:
    names, arguments = [field.name for field in fields(ImportSettings)], sys.argv[1:]
    keys = [re.match(r"[+~]*([\w.@/]+)=", argument) for argument in arguments]
    own = [key is None or key[1] in names or Path(key.string).exists() for key in keys]
    of_run = [argument for argument, is_own in zip(arguments, own, strict=True) if not is_own]
    return key_value.command(
        HELP.replace("{names}", ", ".join(NAMES)),
        ImportSettings,
        lambda files, chosen: job(files, chosen, of_run),
        [argument for argument in arguments if argument not in of_run],
    )


def job(files: Sequence[str], chosen: ImportSettings, of_run: Sequence[str]) -> Sequence[Part]:
    """Import a file; return its row of the leaderboard."""
    if len(files) != 1:
        raise ConfigError("give one file: harness import FILE task=… (--help for the rest).")
    needed = ("name", "by", "source", "licence")
    if missing := [f"{name}=…" for name in needed if not getattr(chosen, name).strip(". ")]:
        raise ConfigError(f"add {', '.join(missing)}: whose answers these are stands beside them in every table.")
    for setting in of_run:
        if (name := setting.lstrip("+~").partition("=")[0]).partition(".")[0] not in _OF_A_RUN:
            raise ConfigError(unknown("setting of an import", name, [*_OF_A_RUN, *asdict(chosen)]))
    path = write(files[0], chosen, hydra_app.run_settings(of_run))
    names = ", ".join(sorted(file.name for file in path.iterdir() if file.name[0] != "."))
    return [*leaderboard([load(path)]), f"{path}/ holds {names}"]


def write(file: str, chosen: ImportSettings, settings: Main) -> Path:
    """Write the run of a file's rows; return its folder."""
    task: Task = build(settings.task, "task")
    mapped = pairs("map", chosen.map, NAMES)
    rows = list(table_rows(file, mapped, pairs("where", chosen.where)))
    if not rows:
        raise DataError(f"{file} has no rows{' with ' + ', '.join(chosen.where) if chosen.where else ''}.")
    prompt = recorded_run.prompt_for(task, settings.prompt, replies="reply" in mapped)
    by_item, items_without, rows_without = matched(task.items(), rows, settings.samples)
    known = {name for several in by_item.values() for row in several for name, text in row.items() if text}
    facts: Recorded = {
        "by": chosen.by,
        "source": chosen.source,
        "licence": chosen.licence,
        "unknown": ["the words in which they were asked", *(what for name, what in _TOLD.items() if name not in known)],
        "items_without": items_without,
        "rows": {
            "file": Path(file).name,
            "sha256": content_digest(user_path(file)),
            "form": "table",
            "map": list(chosen.map),
            "where": list(chosen.where),
            "matched_by": "id",
            "without_item": rows_without,
        },
    }
    return recorded_run.write(settings, task, prompt, chosen.name, by_item, facts)


if __name__ == "__main__":
    sys.exit(main())
