"""to=eee: records of Every Eval Ever, version 0.3.0 of its two schemas, laid out as its data store has them.

For each run data/BENCHMARK/DEVELOPER/MODEL/UUID.json, and UUID_samples.jsonl where it has its records. What a run does
not tell is left out, or `unknown` where the schema wants a word. Nothing depends on the time of the export: the same
run gives the same files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from harness.codec import digest, text_digest
from harness.errors import DataError
from harness.export import number_of, unfinished_folder
from harness.plugins.figures.eee_items import Rows
from harness.plugins.figures.eee_model import (
    as_text,
    model_info,
    prompt_words,
    reasons,
    relationship,
    sampling,
    source_data,
)
from harness.scoring.definitions import MetricDefinition, definitions
from harness.storage.find import left_out
from harness.storage.runs import Run
from harness.types import Metric, Scores

VERSION = "0.3.0"
"""Of both schemas."""

_UNPORTABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_RESERVED = re.compile(r"(CON|PRN|AUX|NUL|COM[1-9]|LPT[1-9])(\..*)?", re.IGNORECASE)


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write the files and return the sentence that says so. A run that stands in two folders is written once."""
    out = out or "eee_records"
    with unfinished_folder(out) as top:
        twice = [run.folder for run in runs if not _write_run(run, top)]
    for folder in twice:
        left_out(DataError(f"{folder} holds the same run as another of the folders, which is written."))
    written = [run for run in runs if run.folder not in twice]
    bare = sum(run.records_file is None for run in written)
    without = f"; {bare} without records.jsonl, so with scores only" if bare else ""
    return f"{out}: {number_of(written)} as records of Every Eval Ever {VERSION}{without}."


def _write_run(run: Run, top: Path) -> bool:
    """Write the files of a run; return False where they are there already."""
    info = model_info(run)
    # The data store takes version 4 alone; chance is replaced by what the run is.
    key = digest([run.result_json, run.manifest.configuration_digest, run.manifest.started, run.manifest.ended])
    uuid = UUID(bytes=bytes.fromhex(key)[:16], version=4)
    developer, _, model = info["id"].rpartition("/")
    parts = (run.place["task"].replace("/", "_"), developer or "unknown", model)
    place = "/".join(["data", *map(_component, parts)])
    folder = top / place
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / f"{uuid}.json").exists():
        return False
    log = _log(run, info)
    prompt = prompt_words(run)
    rows = None
    if run.records_file:
        same = {
            "schema_version": VERSION,
            "evaluation_id": log["evaluation_id"],
            "model_id": info["id"],
            "evaluation_name": _evaluation(run, run.result.headline, "overall", "all"),
        }
        rows = Rows(run, same, _mean_of_rows(run), prompt.get("parser", "harness"))
        path = folder / f"{uuid}_samples.jsonl"
        rows.write(path)
        log["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{place}/{path.name}",
            "hash_algorithm": "sha256",
            "checksum": rows.sha256,
            "total_rows": rows.count,
        }
    generation = _generation(run, prompt, rows.max_tokens if rows else None)
    log["evaluation_results"] = [result | {"generation_config": generation} for result in _results(run)]
    text = json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / f"{uuid}.json").write_text(f"{text}\n", encoding="utf-8")
    return True


def _component(name: str) -> str:
    """Return a name as a part of a path that every system takes, as the data store asks."""
    part = _UNPORTABLE.sub("_", name).rstrip(". ") or "unknown"
    if len(part.encode()) > 160:
        part = f"{part[:40]}-{text_digest(name)[:12]}"
    return f"_{part}" if part == "data" or _RESERVED.fullmatch(part) else part


def _log(run: Run, info: dict[str, Any]) -> dict[str, Any]:
    harness = run.manifest.harness or {}
    ended = _epoch(run, "ended")
    version = {"commit": harness.get("commit"), "dirty": harness.get("dirty")}
    return {
        "schema_version": VERSION,
        "evaluation_id": "/".join([".".join(run.place.values()).replace("/", "."), info["id"], ended]),
        "evaluation_timestamp": _epoch(run, "started"),
        "retrieved_timestamp": ended,
        "source_metadata": {
            "source_name": "harness",
            "source_type": "evaluation_run" if run.records_file else "documentation",
            "source_organization_name": "unknown",
            "evaluator_relationship": relationship(run, info.get("developer")),
            "additional_details": {
                "complete": json.dumps(run.complete),
                **({"notes": "\n".join(run.result.notes)} if run.result.notes else {}),
            },
        },
        "eval_library": {
            "name": "harness",
            "version": str(harness.get("version") or "unknown"),
            "additional_details": {name: as_text(value) for name, value in version.items() if value is not None},
        },
        "model_info": info,
        "evaluation_results": [],
    }


def _results(run: Run) -> Iterator[dict[str, Any]]:
    """Yield a result for each metric: overall under every label set, by single breakdowns under the headline's."""
    source = source_data(run)
    for labels, breakdowns in run.result.scores.items():
        for breakdown, groups in breakdowns.items():
            if breakdown != "overall" and (labels != run.result.headline or "/" in breakdown):
                continue
            for group, row in groups.items():
                for metric in row.metrics:
                    known = definitions().get(metric.name)
                    if metric.value is None or known is None or known.best is None:
                        continue
                    yield {
                        "evaluation_result_id": _result_id(labels, breakdown, group, metric.name),
                        "evaluation_name": _evaluation(run, labels, breakdown, group),
                        "source_data": source,
                        "metric_config": _metric(run, known, labels, breakdown, group),
                        "score_details": _score(run, metric, row, (labels, breakdown, group)),
                    }


def _result_id(labels: str, breakdown: str, group: str, metric: str) -> str:
    return "/".join([labels, breakdown, group, metric])


def _evaluation(run: Run, labels: str, breakdown: str, group: str) -> str:
    """Return a name such as corr2cause.published.relation.parent, with the task's settings that are not the default."""
    variant = [] if run.place["variant"] == "default" else [run.place["variant"]]
    within = [] if (breakdown, group) == ("overall", "all") else [breakdown, group]
    return ".".join([run.place["task"].replace("/", "."), *variant, labels, *within])


def _mean_of_rows(run: Run) -> str | None:
    """Return the id of the result that is the mean of the rows: accuracy, unless answers are majorities of samples."""
    if run.result.overall["accuracy"] is None or run.samples > 1:
        return None
    return _result_id(run.result.headline, "overall", "all", "accuracy")


def _metric(run: Run, metric: MetricDefinition, labels: str, breakdown: str, group: str) -> dict[str, Any]:
    lowest, highest = metric.limits
    where = "all items" if breakdown == "overall" else f"{breakdown} {group}"
    return {
        "evaluation_description": f"{metric.name} of {where} of {run.place['task']}, {labels} labels",
        "metric_id": metric.name if metric.standard else f"harness.{metric.name}",
        "metric_name": metric.name,
        **({"metric_unit": "proportion"} if metric.limits == (0, 1) else {}),
        "lower_is_better": metric.best == "low",
        "score_type": "continuous",
        "min_score": float(lowest),
        "max_score": "Infinity" if highest is None else float(highest),
    }


def _score(run: Run, metric: Metric, row: Scores, where: tuple[str, str, str]) -> dict[str, Any]:
    """Return the value, its interval, and as texts what else the row says."""
    method = run.result_json.get("interval") or {}
    uncertainty: dict[str, Any] = {"num_samples": row.items - row.failed}
    if metric.interval:
        level = {"confidence_level": method.get("level"), "method": method.get("method")}
        uncertainty["confidence_interval"] = {
            "lower": metric.interval[0],
            "upper": metric.interval[1],
            **{name: value for name, value in level.items() if value is not None},
        }
        uncertainty["num_bootstrap_samples"] = row.resamples
    counts = {name: getattr(row, name) for name in ("items", "positives", "unreadable", "failed", "clusters")}
    facts = {
        **dict(zip(("labels", "breakdown", "group"), where, strict=True)),
        **counts,
        "cluster": row.unit or None,
        "bounds": list(metric.bounds) if metric.bounds else None,
        "no_interval": metric.no_interval or None,
        **({"confusion": dict(row.confusion)} if row.confusion else {}),
    }
    details = {name: as_text(value) for name, value in facts.items() if value is not None}
    return {"score": metric.value, "details": details, "uncertainty": uncertainty}


def _generation(run: Run, prompt: dict[str, str], max_tokens: int | None) -> dict[str, Any]:
    """Return how the replies were made: the sampling parameters, the words, the settings."""
    numbers = sampling(run)
    arguments = {
        **{
            name: numbers[name]
            for name in ("temperature", "top_p", "top_k")
            if isinstance(numbers.get(name), int | float)
        },
        **({"max_tokens": max_tokens} if max_tokens else {}),
        **({"reasoning": True} if reasons(run) else {}),
        **({"prompt_template": prompt["template"]} if "template" in prompt else {}),
    }
    details = {
        "prompt": run.place["prompt"],
        "prompt_digest": (run.configuration.get("prompt") or {}).get("digest"),
        "samples": run.result.samples.get("number"),
        "configuration_digest": run.manifest.configuration_digest,
    }
    return {
        "generation_args": arguments,
        "additional_details": {name: as_text(value) for name, value in details.items() if value is not None},
    }


def _epoch(run: Run, name: Literal["started", "ended"]) -> str:
    return str(int(run.time(name).timestamp()))
