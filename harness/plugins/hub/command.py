"""Answers that others have recorded as runs: harness import FILE task=… map=… by=… source=… licence=…"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from harness.cli import hydra_app, key_value
from harness.codec import content_digest
from harness.errors import ConfigError, DataError, unknown
from harness.leaderboard.build import build as leaderboard
from harness.plugins.hub import recorded_run
from harness.plugins.hub.logs import LOGS, form_of
from harness.plugins.hub.matching import match_by, matched, missing_in, texts_of
from harness.plugins.hub.rows import NAMES, Row, pairs, table_rows, with_columns
from harness.protocols import Task
from harness.settings import Main, build
from harness.storage.manifest import Recorded
from harness.storage.runs import Run, load
from harness.tables.table import Part
from harness.types import Response

HELP = """\
Take in answers that others have recorded, as a run: leaderboard, compare, the page, export and verify take it as any
other, and say whose it is.

  harness import answers.csv task=cladder task.split=balanced1000 map=id:question_id,answer:parsed    + name= by= …
  harness import replies.jsonl task=corr2cause prompt=plain 'map=question:{premise} {hypothesis},reply:output'
  harness import logs/….eval task=corr2cause prompt=plain        a log of Inspect (.eval, or .json with form=inspect)
  harness import samples_….jsonl task=corr2cause prompt=plain    samples of lm-eval
  harness import traces.jsonl task=corr2cause prompt=plain       rollouts of verifiers

  name= by= source= licence=  needed: the model's row in tables; who has recorded its answers, where they are published,
                        under which licence (licence=unknown where nobody says)
  map=                  columns of the file: {names}.
                        A column, or a text with columns in braces; of JSON a.b is b in a. Of a table reply or answer
                        is needed
  where=COLUMN:VALUE    only these rows, as where a table has several models; several with commas between them
  match=                id | text | order. Without it by id where the rows have one, else by the whole question; in the
                        items' order only where you say so
  form=                 table | inspect | lm_eval | verifiers, where the file's name does not say it
  task=, task.…         the task whose items were asked; other settings of a run: prompt= (whose parser reads replies),
                        samples=K (so many rows an item), results=, records=

An answer (map=answer:…) is a word that somebody has read: yes, no, the letter or the words of a choice; an empty one
counts as unreadable. A reply (map=reply:…) is read here, by prompt=. Nothing is asked.
"""
_OF_A_RUN = ("task", "prompt", "samples", "results", "records")
"""Settings of a run that mean something here."""


@dataclass(frozen=True)
class ImportSettings:
    """The command's own settings; HELP says what each one means."""

    map: key_value.Words = ()
    where: key_value.Words = ()
    match: Literal["id", "text", "order"] | None = None
    form: Literal["table", "inspect", "lm_eval", "verifiers"] | None = None
    name: str = ""
    by: str = ""
    source: str = ""
    licence: str = ""


def main() -> int:
    own: list[str] = []
    of_run: list[str] = []
    names = [field.name for field in fields(ImportSettings)]
    for argument in sys.argv[1:]:
        key = re.match(r"[+~]*([\w.@/]+)=", argument)
        is_own = key is None or key[1] in names or Path(argument).exists()
        (own if is_own else of_run).append(argument)
    text = HELP.replace("{names}", ", ".join(NAMES))
    return key_value.command(text, ImportSettings, lambda files, chosen: job(files, chosen, of_run), own)


def job(files: Sequence[str], chosen: ImportSettings, of_run: Sequence[str]) -> Sequence[Part]:
    """Import a file; return its row of the leaderboard, and what its wrong answers are by other labels."""
    if len(files) != 1:
        raise ConfigError("give one file: harness import FILE task=… (--help for the rest).")
    needed = ("name", "by", "source", "licence")
    if missing := [f"{name}=…" for name in needed if not getattr(chosen, name).strip(". ")]:
        raise ConfigError(f"add {', '.join(missing)}: whose answers these are stands beside them in every table.")
    known = [*_OF_A_RUN, *(field.name for field in fields(chosen))]
    for setting in of_run:
        if (name := setting.lstrip("+~").partition("=")[0]).partition(".")[0] not in _OF_A_RUN:
            raise ConfigError(unknown("setting of an import", name, known))
    path = write(files[0], chosen, hydra_app.run_settings(of_run))
    names = ", ".join(sorted(file.name for file in path.iterdir() if file.name[0] != "."))
    return [*leaderboard([load(path)]), *by_other_labels(load(path)), f"{path}/ holds {names}"]


def write(file: str, chosen: ImportSettings, settings: Main) -> Path:
    """Write the run of a file's rows; return its folder."""
    task: Task = build(settings.task, "task")
    form = form_of(file, chosen.form)
    rows = _rows(file, form, chosen)
    prompt = recorded_run.prompt_for(task, settings.prompt, replies=rows[0].answer is None)
    by = match_by(chosen.match, rows)
    matches = matched(task.items(), rows, by, settings.samples, texts_of(task))
    missing = missing_in(row for rows_of_item in matches.rows.values() for row in rows_of_item)
    facts: Recorded = {
        "by": chosen.by,
        "source": chosen.source,
        "licence": chosen.licence,
        "unknown": ["the words in which they were asked", *missing],
        "items_without": matches.items_without,
        "rows": {
            "file": Path(file).name,
            "sha256": content_digest(Path(file).expanduser()),
            "form": form,
            "map": list(chosen.map),
            "where": list(chosen.where),
            "matched_by": by,
            "without_item": matches.rows_without,
        },
    }
    return recorded_run.write(settings, task, prompt, chosen.name, matches, facts)


def _rows(file: str, form: str, chosen: ImportSettings) -> list[Row]:
    """Return the rows of a file. Raises DataError where there are none."""
    mapped, where = pairs("map", chosen.map, NAMES), pairs("where", chosen.where)
    if form == "table":
        rows = list(table_rows(file, mapped, where))
    elif where or {"reply", "answer"} & mapped.keys():
        raise ConfigError(f"form={form}: the log says where replies are; where= and map=reply:… are for tables.")
    else:
        rows = [with_columns(row, columns, mapped) for row, columns in LOGS[form](file)]
    if not rows:
        raise DataError(f"{file} has no rows{' with ' + ', '.join(chosen.where) if where else ''}.")
    return rows


def by_other_labels(run: Run) -> list[str]:
    """Return how many answers that the headline counts as wrong are right by each other label set."""
    wrong: dict[str, int] = {}
    right: dict[str, int] = {}
    headline, number = run.result.headline, 0
    for record in run.records():
        label = record.answer.label if isinstance(record.outcome, Response) and record.answer else None
        if label is None or label == record.labels[headline]:
            continue
        number += 1
        for name, gold in record.labels.items():
            if name != headline:
                wrong[name] = wrong.get(name, 0) + 1
                right[name] = right.get(name, 0) + (gold == label)
    parts = [
        f"of {count:,} that have a label of {name}, {right[name]:,} are right by it" for name, count in wrong.items()
    ]
    return [f"Answers that are wrong by the {headline} labels: {number:,}; {'; '.join(parts)}."] if parts else []


if __name__ == "__main__":
    sys.exit(main())
