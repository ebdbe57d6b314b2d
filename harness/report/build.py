"""The data that the page shows at once: runs, tables, charts. Answers are chunks of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import harness
from harness import plugin
from harness.charts import as_json as chart_json
from harness.charts import charts_of, run_ids
from harness.charts.values import marks_json
from harness.leaderboard.build import build
from harness.leaderboard.comparable import family
from harness.report.chunks import ChunkBuilder
from harness.runtime.progress import Progress
from harness.scoring.definitions import MetricDefinition, definitions, main_metrics
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import table_json
from harness.types import JSON

MANIFEST_PARTS = ("configuration", "started", "ended", "harness", "versions", "python", "machine", "items", "price")
"""The parts of a manifest that the page shows. Its `config` is not: it names places of the machine."""


def content(
    rows: Sequence[Run], title: str, *, answers: bool, trust: Collection[str] = ()
) -> tuple[dict[str, JSON], dict[str, str]]:
    """Return the page's data and its packed chunks, by name; docs/report.md describes their parts."""
    names = run_ids(rows)
    builder = ChunkBuilder(answers=answers, trust=trust)
    for _ in Progress("making the page").watch(builder.read(rows), range(builder.steps(rows))):
        pass
    published_tables = plugin.view("published")
    tasks = dict.fromkeys(row.task for row in rows) if published_tables else ()
    published = [table for task in tasks for table in published_tables(task, rows)]
    data = {
        "title": title,
        "footer": _footer([row.manifest for row in rows]),
        "runs": [_run(row, name) | parts for row, name, parts in zip(rows, names, builder.parts_of_runs, strict=True)],
        "tables": _tables(rows, names),
        "published": [table_json(table) for table in published],
        "charts": [chart_json(chart) for chart in charts_of(rows)],
        "marks": marks_json(),
        "metrics": {name: _metric(metric, rows) for name, metric in definitions().items() if metric.on_page},
    }
    return data, builder.chunks


def _footer(manifests: Sequence[Mapping[str, Any]]) -> str:
    """Return harness version, number of runs, date of the last (not of the page: the same runs give the same page)."""
    number = len(manifests)
    last_day = max((str(manifest.get("ended") or "")[:10] for manifest in manifests), default="")
    until = f", the last of {last_day}" if last_day else ""
    return f"Made with harness {harness.__version__} from {number:,} run{'s' * (number != 1)}{until}."


def _tables(rows: Sequence[Run], names: Sequence[str]) -> list[dict[str, JSON]]:
    """Return the leaderboard's tables; every row with the name of its run."""
    named = dict(zip(names, rows, strict=True))
    tables = [table_json(table) for table in build([replace(row, source=name) for name, row in named.items()])]
    for table in tables:
        lines = table["rows"]
        table["rows"] = [line | {"run": line["folder"], "folder": named[line["folder"]].source} for line in lines]
    return tables


def _run(row: Run, name: str) -> dict[str, JSON]:
    """Return one run: its names, all of its result.json, and the parts of its manifest that the page shows."""
    content, manifest = row.result_json, row.manifest
    return {
        "id": name,
        "task": row.task,
        "variant": row.variant,
        "prompt": row.prompt,
        "model": row.model,
        "family": family(row.model, row.role),
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
