"""One page for people, from results folders: harness report results/ out=report.html (--help)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import harness
from harness import plugin
from harness.charts import as_json as chart_json
from harness.charts import charts_of, run_ids
from harness.charts.values import marks_json
from harness.cli import key_value
from harness.errors import ConfigError
from harness.leaderboard import differences
from harness.leaderboard.build import BoardOptions, build
from harness.leaderboard.comparable import find_runs
from harness.report import bundle
from harness.report.chunks import NO_RECORDS, NOT_WANTED, ChunkBuilder
from harness.runtime.progress import Progress
from harness.scoring.definitions import MetricDefinition, definitions, main_metrics
from harness.storage.atomic_write import cannot_write, check
from harness.storage.manifest import Manifest
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import table_json
from harness.tables.results import FEW_ITEMS
from harness.types import JSON

HELP = """\
Write a page that opens from disk, in any current browser: leaderboard, charts, graphs, and the answers behind them.

  harness report results                  report.html from everything below results/
  harness report A B out=mine.html        several results folders

Answers come from records.jsonl (or .gz); runs without them show their scores only. Runs that are not complete are shown
as such, and ranked nowhere.

  out=report.html       the file to write
  answers=auto          inside the page up to 20 MB, else in a folder beside it (report_files, to be kept with the
                        page); inside, beside: always so; none: without answers
"""

TITLE = "Causal reasoning in language models"
MANIFEST_PARTS = ("configuration", "started", "ended", "harness", "versions", "python", "machine", "items", "price")
"""The parts of a manifest that the page shows. Its `config` is not: it names places of the machine."""


@dataclass(frozen=True)
class ReportSettings:
    """Settings of the command, each explained in HELP."""

    out: str = "report.html"
    answers: Literal["auto", "inside", "beside", "none"] = "auto"


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, ReportSettings, job, arguments)


def job(arguments: list[str], settings: ReportSettings) -> str:
    """Write the page; return the sentences that say what was written."""
    out = Path(settings.out)
    if out.suffix != ".html":
        raise ConfigError(f"out={settings.out}: the page's name has to end in .html.")
    check(settings.out)
    try:
        return _write(find_runs(arguments or ["results"]), settings)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted: no page was written; one that was there is as it was.") from None


def _write(rows: Sequence[Run], settings: ReportSettings) -> str:
    """Write the page of some runs; return the sentences that say what was written."""
    out = Path(settings.out)
    place = settings.answers if settings.answers in ("inside", "beside") else None
    data, chunks = content(rows, TITLE, answers=settings.answers != "none")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(settings.out, error) from error
    folder = bundle.write(out, TITLE, data, chunks, place)
    reasons = [run.get("no_answers") for run in data["runs"] if not run["answers"]]
    missing = sum(reason != NOT_WANTED for reason in reasons)
    runs = f"{len(rows):,} run{'s' * (len(rows) != 1)}" + f", {missing:,} without answers" * bool(missing)
    sentences = [f"{out}: {runs}, {out.stat().st_size / 1e6:.1f} MB."]
    sentences += [str(reason) for reason in reasons if reason not in (NO_RECORDS, NOT_WANTED)]  # which cannot be read
    if folder:
        size = sum(file.stat().st_size for file in folder.iterdir())
        sentences.append(f"{folder}/ holds the answers, {size / 1e6:.1f} MB: keep it beside the page.")
    return "\n".join(sentences)


def content(rows: Sequence[Run], title: str, *, answers: bool) -> tuple[dict[str, JSON], dict[str, str]]:
    """Return the page's data and its packed chunks, by name; docs/report.md describes their parts."""
    names = run_ids(rows)
    replies = ReplyReader()
    builder = ChunkBuilder(replies, answers=answers)
    builder.read(Progress("making the page").watch(rows, rows))
    tasks = dict.fromkeys(row.task for row in rows)
    published = [table for task in tasks for tables in plugin.published() for table in tables(task, rows)]
    data = {
        "title": title,
        "footer": _footer([row.manifest for row in rows]),
        "runs": [_run(row, name) | parts for row, name, parts in zip(rows, names, builder.parts_of_runs, strict=True)],
        "tables": _tables(rows, names),
        "published": [table_json(table) for table in published],
        "differences": _differences(rows, names, replies),
        "charts": [chart_json(chart) for chart in charts_of(rows, replies)],
        "marks": marks_json(),
        "few_items": FEW_ITEMS,
        "metrics": {name: _metric(metric, rows) for name, metric in definitions().items() if metric.shown},
    }
    return data, builder.chunks


def _footer(manifests: Sequence[Manifest]) -> str:
    """Return harness version, number of runs, date of the last (not of the page: the same runs give the same page)."""
    number = len(manifests)
    last_day = max(((manifest.ended or "")[:10] for manifest in manifests), default="")
    until = f", the last of {last_day}" if last_day else ""
    return f"Made with harness {harness.__version__} from {number:,} run{'s' * (number != 1)}{until}."


def _tables(rows: Sequence[Run], names: Sequence[str]) -> list[dict[str, JSON]]:
    """Return the leaderboard's tables, every row with the name of its run, and that of models by benchmarks."""
    named = dict(zip(names, rows, strict=True))
    sourced = [replace(row, source=name) for name, row in named.items()]
    tables = [table_json(table) for table in build(sourced)]
    for table in tables:
        lines = table["rows"]
        table["rows"] = [line | {"run": line["folder"], "folder": named[line["folder"]].source} for line in lines]
    if len({row.task for row in rows if row.sound}) > 1:
        first = {row.model: name for name, row in reversed(named.items()) if row.sound}
        [by_task] = map(table_json, build(rows, BoardOptions(by=("task",))))
        tables.append(by_task | {"rows": [line | {"run": first[line["model"]]} for line in by_task["rows"]]})
    return tables


def _differences(rows: Sequence[Run], names: Sequence[str], replies: ReplyReader) -> list[dict[str, JSON]]:
    """Return the tables of differences between runs."""
    named = zip(rows, names, strict=True)
    places = {(row.task, row.source, row.variant, row.prompt, row.model): name for row, name in named}
    tasks = sorted({row.task for row in rows})
    tables = [
        table_json(table)
        for task in Progress("comparing runs").watch(tasks, range(len(tasks)))
        for table in differences.tables(task, [row for row in rows if row.task == task], replies)
    ]
    for table in tables:
        for line in table["rows"]:
            place = (table["task"], *(line.get(name) for name in ("folder", "variant", "prompt", "model")))
            line["run"] = places.get(place)
    return tables


def _run(row: Run, name: str) -> dict[str, JSON]:
    """Return one run: its names, all of its result.json, and the parts of its manifest that the page shows."""
    content, manifest = dict(row.result_json), row.manifest.as_json
    if row.recorded:
        content["notes"] = [f"{row.model}: {row.recorded}", *content.get("notes", [])]
    return {
        "id": name,
        "task": row.task,
        "variant": row.variant,
        "prompt": row.prompt,
        "model": row.model,
        "role": row.role,
        "ranked": row.ranked,
        "main": [*main_metrics(row.result.overall)],
        "complete": row.sound or (row.complete and row.unanswered),
        "result": {part: value for part, value in content.items() if part not in ("run", "complete")},
        "manifest": {part: manifest[part] for part in MANIFEST_PARTS if part in manifest},
    }


def _metric(metric: MetricDefinition, rows: Sequence[Run]) -> dict[str, JSON]:
    """Return how a metric is shown: in a page whose distances are all whole numbers they have no decimals."""
    decimals = metric.decimals
    if metric.unit == "count" and decimals == 2:
        sets = (groups for row in rows for parts in row.result.scores.values() for groups in parts.values())
        values = [scores[metric.name] or 0.0 for groups in sets for scores in groups.values()]
        decimals = 0 if all(value == int(value) for value in values) else 2
    return {
        "title": metric.title,
        "percent": metric.unit == "percent",
        "decimals": decimals,
        "best": metric.best,
        "in_heat_maps": metric.in_heat_maps,
    }


if __name__ == "__main__":
    sys.exit(main())
