"""to=lm_eval: results and samples of each run, laid out as lm-evaluation-harness 0.4.13 leaves them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.codec import text_digest
from harness.export import number_of, unfinished_folder
from harness.scoring.definitions import definition
from harness.storage.configuration import safe
from harness.storage.record_lines import OF_ITEM, Line, reply_columns, turns
from harness.storage.runs import Run

NAMES = {"accuracy": "acc"}
"""Metrics that have another name there."""

FILTER = "none"


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write the files, a folder for each model, and return the sentence that says so."""
    out = out or "lm_eval_results"
    with unfinished_folder(out) as top:
        for number, run in enumerate(runs):
            ended = run.time("ended")
            # Files of one model are told apart by their time: the microseconds number them.
            stamp = f"{ended.strftime('%Y-%m-%dT%H-%M-%S')}.{number:06d}"
            task = _sanitized("_".join(run.place[part] for part in ("task", "variant", "prompt")))
            folder = top / safe(run.place["model"])
            folder.mkdir(exist_ok=True)
            counts = (
                _samples(run, folder / f"samples_{task}_{stamp}.jsonl") if run.records_file else _sample_counts(run)
            )
            results = _results(run, task, *counts)
            text = json.dumps(results, indent=2, ensure_ascii=False)
            (folder / f"results_{stamp}.json").write_text(text, encoding="utf-8")
    bare = sum(run.records_file is None for run in runs)
    without = f"; {bare} without records.jsonl, so without samples" if bare else ""
    return f"{out}: results and samples of {number_of(runs)}{without}."


def _sample_counts(run: Run) -> tuple[None, int, int]:
    """Return the numbers that `_samples` does from the counts of a result, for a run without records."""
    overall = run.result.overall
    return None, overall.items, overall.items - overall.failed


def _samples(run: Run, path: Path) -> tuple[str, int, int]:
    """Write a line for each item with a reply; return the lines' digest, the number of items, and of these lines."""
    hashes: list[str] = []
    items = 0
    with path.open("w", encoding="utf-8") as file:
        for lines in run.lines_by_item():
            if sample := _sample(run, items, [line for line in lines if "failure" not in line]):
                hashes.append(sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"])
                file.write(json.dumps(sample, ensure_ascii=False) + "\n")
            items += 1
    return text_digest("".join(hashes)), items, len(hashes)


def _sample(run: Run, number: int, lines: list[Line]) -> dict[str, Any] | None:
    if not lines:
        return None
    line = lines[0]
    doc = {name: line[name] for name in OF_ITEM if name in line}
    prompt, target = _prompt(line), run.result.answers[run.gold(line)]
    request = line["request"] or {}
    settings = {
        "until": request.get("stop", []),
        "max_gen_toks": request.get("max_tokens"),
        "choices": request.get("choices", []),
    }
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": settings}},
        "resps": [[line["response"]["text"] for line in lines]],
        "filtered_resps": [_word(run, line) for line in lines],
        "filter": FILTER,
        "metrics": ["acc"],
        "replies": [_beside(line) for line in lines],
        "doc_hash": text_digest(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": text_digest(prompt),
        "target_hash": text_digest(target),
        "acc": sum(bool(run.right(line)) for line in lines) / len(lines),
    }


def _beside(line: Line) -> dict[str, Any]:
    """Return what the record says of a reply beside its text: lm_eval itself has no place for it."""
    return {name: value for name, value in reply_columns(line).items() if name != "text"}


def _word(run: Run, line: Line) -> str:
    label = line["answer"]["label"]
    return "[invalid]" if label is None else run.result.answers[label]


def _prompt(line: Line) -> str:
    """Return a single turn as it is, several turns as the JSON of a conversation."""
    talk = turns(line)
    return talk[0]["content"] if len(talk) == 1 else json.dumps(talk, ensure_ascii=False) if talk else ""


def _results(run: Run, task: str, hashes: str | None, items: int, replies: int) -> dict[str, Any]:
    overall = run.result.overall
    metrics = {NAMES.get(metric.name, metric.name): metric for metric in overall.metrics}
    values: dict[str, Any] = {}
    for name, metric in metrics.items():
        values[f"{name},{FILTER}"] = "N/A" if metric.value is None else metric.value
        values[f"{name}_stderr,{FILTER}"] = "N/A"  # the intervals are over clusters: configs.metadata has them
    harness = run.manifest.harness or {}
    version = str(harness.get("version") or "0")
    started, ended = (run.time(name) for name in ("started", "ended"))
    model = run.place["model"]
    samples = run.samples
    return {
        "results": {task: {"name": task, "alias": task, "sample_len": replies, **values}},
        "group_subtasks": {},
        "configs": {
            task: {
                "task": task,
                "dataset_path": run.place["task"],
                "output_type": "generate_until",
                "num_fewshot": 0,
                "repeats": samples,
                "metadata": {
                    "version": version,
                    **run.place,
                    "labels": run.result.headline,
                    "complete": run.complete,
                    "clusters": run.result.clusters,
                    "intervals": {name: list(metric.interval) for name, metric in metrics.items() if metric.interval},
                    "configuration_digest": run.manifest.configuration_digest,
                },
            }
        },
        "versions": {task: version},
        "n-shot": {task: 0},
        "higher_is_better": {task: {name: _better(name) for name in metrics}},
        "n-samples": {task: {"original": items, "effective": replies}},
        "config": {"model": "harness", "model_args": {"model": model}, "limit": None, "bootstrap_iters": 0},
        "git_hash": harness.get("commit"),
        "date": started.timestamp(),
        "task_hashes": {task: hashes} if hashes else {},
        "model_source": "harness",
        "model_name": model,
        "model_name_sanitized": safe(model),
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": None,
        "chat_template": None,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": str((ended - started).total_seconds()),
    }


def _better(name: str) -> bool | None:
    best = definition(name).best
    return None if best is None else best == "high"


def _sanitized(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)[:150]
