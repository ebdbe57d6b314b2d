"""to=lm_eval: results and samples of each run, laid out as lm-evaluation-harness 0.4.13 leaves them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.codec import text_digest
from harness.export.folder import counted, filled
from harness.storage.record_lines import Line, turns
from harness.storage.run_folder import safe
from harness.storage.runs import Run
from harness.tables.table import LOW_IS_GOOD, NEITHER

NAMES = {"accuracy": "acc"}
"""Metrics that have another name there."""

FILTER = "none"
WORDS = {0: "No", 1: "Yes"}


def write(runs: Sequence[Run], out: str | None) -> str:
    """Writes the files, a folder for each model; says so."""
    out = out or "lm_eval_results"
    with filled(out) as top:
        for number, run in enumerate(runs):
            ended = run.time("ended")
            # Files of one model are told apart by their time: the microseconds number them.
            stamp = f"{ended.strftime('%Y-%m-%dT%H-%M-%S')}.{number:06d}"
            task = _sanitized("_".join(run.place[part] for part in ("task", "variant", "prompt")))
            folder = top / safe(run.place["model"])
            folder.mkdir(exist_ok=True)
            asked = _samples(run, folder / f"samples_{task}_{stamp}.jsonl") if run.records_file else _counted(run)
            said = _results(run, task, *asked)
            text = json.dumps(said, indent=2, ensure_ascii=False)
            (folder / f"results_{stamp}.json").write_text(text, encoding="utf-8")
    bare = sum(run.records_file is None for run in runs)
    without = f"; {bare} without records.jsonl, so without samples" if bare else ""
    return f"{out}: results and samples of {counted(runs)}{without}."


def _counted(run: Run) -> tuple[None, int, int]:
    """What `_samples` tells, of a run without records: by the result's own counts."""
    overall = run.result.overall
    return None, overall.items, overall.items - overall.failed


def _samples(run: Run, path: Path) -> tuple[str, int, int]:
    """Writes a line for each item that has a reply; the digest of all, how many items, how many with a reply."""
    hashes: list[str] = []
    items = 0
    with path.open("w", encoding="utf-8") as file:
        for draws in run.lines_by_item():
            if sample := _sample(run, items, [line for line in draws if "failure" not in line]):
                hashes.append(sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"])
                file.write(json.dumps(sample, ensure_ascii=False) + "\n")
            items += 1
    return text_digest("".join(hashes)), items, len(hashes)


def _sample(run: Run, number: int, draws: list[Line]) -> dict[str, Any] | None:
    if not draws:
        return None
    line = draws[0]
    doc = {name: line[name] for name in ("item", "cluster", "unit", "groups", "labels") if name in line}
    asked, target = _prompt(line), WORDS[run.gold(line)]
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
        "arguments": {"gen_args_0": {"arg_0": asked, "arg_1": settings}},
        "resps": [[one["response"]["text"] for one in draws]],
        "filtered_resps": [WORDS.get(one["answer"]["label"], "[invalid]") for one in draws],
        "filter": FILTER,
        "metrics": ["acc"],
        "doc_hash": text_digest(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": text_digest(asked),
        "target_hash": text_digest(target),
        "acc": sum(bool(run.right(one)) for one in draws) / len(draws),
    }


def _prompt(line: Line) -> str:
    """One turn as it is, several as the JSON of a conversation."""
    said = turns(line)
    return said[0]["content"] if len(said) == 1 else json.dumps(said, ensure_ascii=False) if said else ""


def _results(run: Run, task: str, hashes: str | None, items: int, answered: int) -> dict[str, Any]:
    overall = run.result.overall
    named = {NAMES.get(metric.name, metric.name): metric for metric in overall.metrics}
    metrics: dict[str, Any] = {}
    for name, metric in named.items():
        metrics[f"{name},{FILTER}"] = "N/A" if metric.value is None else metric.value
        metrics[f"{name}_stderr,{FILTER}"] = "N/A"  # the intervals are over clusters: configs.metadata has them
    harness = run.manifest.get("harness") or {}
    version = str(harness.get("version") or "0")
    started, ended = (run.time(name) for name in ("started", "ended"))
    model = run.place["model"]
    samples = run.samples
    return {
        "results": {task: {"name": task, "alias": task, "sample_len": answered, **metrics}},
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
                    "intervals": {name: list(one.interval) for name, one in named.items() if one.interval},
                    "configuration_digest": run.manifest.get("configuration_digest"),
                },
            }
        },
        "versions": {task: version},
        "n-shot": {task: 0},
        "higher_is_better": {task: {name: _better(name) for name in named}},
        "n-samples": {task: {"original": items, "effective": answered}},
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
    """Whether more is better; None where neither is."""
    return None if name in NEITHER else name not in LOW_IS_GOOD


def _sanitized(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)[:150]
