"""One page for people, from results folders: harness report results/ out=report.html (--help)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import harness
from harness import plugin
from harness.cli import key_value
from harness.errors import ConfigError
from harness.export import number_of
from harness.leaderboard.build import BoardOptions, build
from harness.leaderboard.by_setting import page_tables
from harness.leaderboard.comparable import find_runs
from harness.plot.charts import charts_of
from harness.plot.names import MARKS, run_ids
from harness.report import bundle
from harness.report.chunks import NO_RECORDS, NOT_WANTED, ChunkBuilder
from harness.runtime.progress import Progress
from harness.scoring.definitions import MetricDefinition, definitions, main_metrics
from harness.storage.atomic_write import check
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.results import FEW_ITEMS
from harness.tables.write import table_json
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
    answers: bundle.Place = "auto"


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, ReportSettings, job, arguments)


def job(arguments: list[str], settings: ReportSettings) -> str:
    """Write the page; return the sentences that say what was written."""
    out = Path(settings.out)
    if out.suffix != ".html":
        raise ConfigError(f"out={settings.out}: the page's name has to end in .html.")
    check(settings.out)
    try:
        runs = find_runs(arguments or ["results"])
        data, chunks = content(runs, answers=settings.answers != "none")
        folder = bundle.write(out, data, chunks, settings.answers)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted: no page was written; one that was there is as it was.") from None
    reasons = [run["no_answers"] for run in data["runs"] if run.get("no_answers", NOT_WANTED) != NOT_WANTED]
    without = f", {len(reasons):,} without answers" * bool(reasons)
    sentences = [f"{out}: {number_of(runs)}{without}, {out.stat().st_size / 1e6:.1f} MB."]
    sentences += [reason for reason in reasons if reason != NO_RECORDS]  # which cannot be read
    if folder:
        size = sum(file.stat().st_size for file in folder.iterdir())
        sentences.append(f"{folder}/ holds the answers, {size / 1e6:.1f} MB: keep it beside the page.")
    return "\n".join(sentences)


def content(runs: Sequence[Run], *, answers: bool) -> tuple[dict[str, JSON], dict[str, str]]:
    """Return the page's data and its packed chunks, by name; docs/report.md describes their parts."""
    names, replies = run_ids(runs), ReplyReader()
    builder = ChunkBuilder(replies, answers=answers)
    read = zip(Progress("making the page").watch(runs, runs), names, strict=True)
    of_runs = [_run(run, name) | builder.parts_of(run) for run, name in read]
    tasks = dict.fromkeys(run.task for run in runs)
    published = [table for task in tasks for tables in plugin.published() for table in tables(task, runs)]
    last_day = max((run.manifest.ended or "")[:10] for run in runs)  # not today's: the same runs give the same page
    until = f", the last of {last_day}" if last_day else ""
    data = {
        "title": TITLE,
        "footer": f"Made with harness {harness.__version__} from {number_of(runs)}{until}.",
        "runs": of_runs,
        "tables": _tables(runs, names),
        "published": [table_json(table) for table in published],
        "differences": _differences(runs, names, replies),
        "charts": charts_of(runs, replies),
        "marks": {role: asdict(mark) for role, mark in MARKS.items()},
        "few_items": FEW_ITEMS,
        "metrics": {name: _metric(metric, runs) for name, metric in definitions().items() if metric.shown},
    }
    return data, builder.chunks()


def _tables(runs: Sequence[Run], names: Sequence[str]) -> list[dict[str, JSON]]:
    """Return the leaderboard's tables, every row with the name of its run, and that of models by benchmarks."""
    sources = {name: run.source for run, name in zip(runs, names, strict=True)}
    named = [replace(run, source=name) for run, name in zip(runs, names, strict=True)]
    tables = [table_json(table) for table in build(named)]
    for table in tables:
        lines = table["rows"]
        table["rows"] = [line | {"run": line["folder"], "folder": sources[line["folder"]]} for line in lines]
    if len({run.task for run in runs if run.sound}) > 1:
        first = {run.model: run.source for run in reversed(named) if run.sound}
        [by_task] = map(table_json, build(runs, BoardOptions(by=("task",))))
        tables.append(by_task | {"rows": [line | {"run": first[line["model"]]} for line in by_task["rows"]]})
    return tables


def _differences(runs: Sequence[Run], names: Sequence[str], replies: ReplyReader) -> list[dict[str, JSON]]:
    """Return the tables of differences between runs."""
    named = zip(runs, names, strict=True)
    places = {(run.task, run.source, run.variant, run.prompt, run.model): name for run, name in named}
    tasks, tables = sorted({run.task for run in runs}), []
    for task in Progress("comparing runs").watch(tasks, range(len(tasks))):
        for table in map(table_json, page_tables(task, [run for run in runs if run.task == task], replies)):
            for line in table["rows"]:
                place = (task, *(line.get(name) for name in ("folder", "variant", "prompt", "model")))
                line["run"] = places.get(place)
            tables.append(table)
    return tables


def _run(run: Run, name: str) -> dict[str, JSON]:
    """Return one run: its names, all of its result.json, and the parts of its manifest that the page shows."""
    content, manifest = dict(run.result_json), run.manifest.as_json
    if run.recorded:
        content["notes"] = [f"{run.model}: {run.recorded}", *content.get("notes", [])]
    return {
        "id": name,
        "task": run.task,
        "variant": run.variant,
        "prompt": run.prompt,
        "model": run.model,
        "role": run.role,
        "ranked": run.ranked,
        "main": [*main_metrics(run.result.overall)],
        "complete": run.sound or (run.complete and run.unanswered),
        "result": {part: value for part, value in content.items() if part not in ("run", "complete")},
        "manifest": {part: manifest[part] for part in MANIFEST_PARTS if part in manifest},
    }


def _metric(metric: MetricDefinition, runs: Sequence[Run]) -> dict[str, JSON]:
    """Return how a metric is shown: in a page whose distances are all whole numbers they have no decimals."""
    decimals = metric.decimals
    if metric.unit == "count" and decimals == 2:
        sets = (groups for run in runs for parts in run.result.scores.values() for groups in parts.values())
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
