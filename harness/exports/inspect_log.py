"""to=inspect: a log of Inspect (inspect-ai 0.3) for each run, a zip of JSON that `inspect view` reads."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.codec import set_fields, text_digest
from harness.errors import StoreError
from harness.export import number_of
from harness.storage.atomic_write import cannot_write
from harness.storage.columns import reply_columns
from harness.storage.configuration import safe
from harness.storage.manifest import PLACE
from harness.storage.runs import Run
from harness.types import OF_ITEM, Line

VERSION = 2
"""Of the log's schema."""

SCORER = "harness"
STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
PLACED = {"text", "reasoning", "answer", "span", "failure", "failure_detail", "seconds", "cost_usd"} | {
    f"{kind}_tokens" for kind in ("input", "output", "cache_write", "cached_input", "reasoning")
}
"""The columns of a reply that have a place of their own in a sample; the score's metadata has the rest."""
SUMMARY = 1000
"""Characters of a text that the list of samples shows."""


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write the logs and return the sentence that says so."""
    out = out or "inspect_logs"
    with _unfinished_folder(out) as folder:
        for run in runs:
            # Inspect's own names: when_task_which. It splits them at _, and shows one log only of those with one id.
            when = _started(run).replace(":", "-")
            name = safe("-".join(run.place[part] for part in PLACE)).replace("_", "-")
            _log(run, folder / f"{when}_{name}_{_task_id(run)}.eval")
    return f"{out}: {number_of(runs, 'log')}; inspect view --log-dir {out} shows them."


@contextmanager
def _unfinished_folder(out: str) -> Iterator[Path]:
    """Yield a folder to write to, which takes its place once all of it is whole.

    Raises StoreError where something is in `out`, or cannot be written. An interruption leaves nothing behind.
    """
    path = Path(out)
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        if path.is_dir() and any(path.iterdir()):
            raise StoreError(f"{out} is not empty: choose another out=, or remove it.")
        shutil.rmtree(unfinished, ignore_errors=True)  # of an export that was killed
        unfinished.mkdir(parents=True)
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _log(run: Run, path: Path) -> None:
    summaries, failed = [], 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for line in run.records():
            sample = _sample(run, line)
            _write_json(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
            summaries.append(_summary(sample))
            failed += line.failure is not None
        header = _header(run, summaries, failed)
        start = {name: header[name] for name in ("version", "eval", "plan")}
        _write_json(archive, "_journal/start.json", start)
        _write_json(archive, "summaries.json", summaries)
        _write_json(archive, "header.json", header)


def _task_id(run: Run) -> str:
    """Return an id for each folder: Inspect takes logs of one task id for the same evaluation, tried again."""
    return text_digest("/".join([*run.place.values(), str(run.folder.resolve())]))[:22]


def _write_json(archive: zipfile.ZipFile, name: str, content: Any) -> None:
    archive.writestr(name, json.dumps(content, ensure_ascii=False))


def _sample(run: Run, line: Line) -> dict[str, Any]:
    messages = line.turns
    sample = {
        "id": line.item,
        "epoch": line.sample + 1,
        "input": messages or "",
        "target": run.result.answers[line.gold],
        "metadata": {name: part for name in OF_ITEM if name != "item" and (part := getattr(line, name)) != ""},
        "messages": messages,
        "store": {},
        "events": [],
        "attachments": {},
        "model_usage": {},
    }
    if line.failure:
        error_text = f"{line.failure.kind}: {line.failure.detail}"
        error = {"message": error_text, "traceback": error_text, "traceback_ansi": error_text}
        return sample | {"error": error, "output": {"model": run.model, "choices": [], "error": error_text}}
    response, answer = line.response, line.answer
    assert response is not None and answer is not None
    content: str | list[dict[str, str]] = response.text
    if response.reasoning:
        content = [{"type": "reasoning", "reasoning": response.reasoning}, {"type": "text", "text": response.text}]
    turn = {"role": "assistant", "content": content, "source": "generate", "model": run.model}
    stop = STOPS.get(response.finish_reason, "unknown")
    usage = _usage(set_fields(response.usage), line.usd)
    score = {
        "value": "C" if run.right(line) else "I",
        "answer": None if answer.label is None else run.result.answers[answer.label],
        "explanation": answer.span or None,
        "metadata": {name: value for name, value in reply_columns(line).items() if name not in PLACED},
        **({"reason": "invalid_response_format"} if answer.label is None else {}),
    }
    return sample | {
        "messages": [*messages, turn],
        "output": {
            "model": response.served_model or run.model,
            "choices": [{"message": turn, "stop_reason": stop}],
            "completion": response.text,
            "usage": usage,
            "time": response.seconds,
        },
        "scores": {SCORER: score},
        "model_usage": {run.model: usage} if usage else {},
        "total_time": response.seconds,
    }


def _usage(tokens: dict[str, int], usd: float | None) -> dict[str, Any] | None:
    if not tokens:
        return None
    input_tokens, output_tokens = tokens.get("input") or 0, tokens.get("output") or 0
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "input_tokens_cache_write": tokens.get("cache_write"),
        "input_tokens_cache_read": tokens.get("cached_input"),
        "reasoning_tokens": tokens.get("reasoning"),
        "total_cost": usd,
    }


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the sample's line in the list of samples."""
    names = ("id", "epoch", "target", "scores", "model_usage", "total_time")
    about, failed = sample["metadata"], "error" in sample
    return {
        **{name: sample[name] for name in names if name in sample},
        "input": "\n\n".join(message["content"] for message in sample["input"] or ())[:SUMMARY],
        "metadata": {**{name: about[name] for name in ("cluster", "unit") if name in about}, **about["groups"]},
        **({"error": sample["error"]["message"][:SUMMARY]} if failed else {}),
        "completed": not failed,
        "message_count": len(sample["messages"]),
    }


def _header(run: Run, summaries: list[dict[str, Any]], failed: int) -> dict[str, Any]:
    items = list(dict.fromkeys(sample["id"] for sample in summaries))
    epochs = max(sample["epoch"] for sample in summaries)
    harness = run.manifest.harness or {}
    tokens = {name: getattr(run.result.usage, name) for name in run.result.usage.__struct_fields__}
    usage = _usage({name: count for name, count in tokens.items() if count is not None}, None)
    key = text_digest("/".join([*run.place.values(), _started(run), str(run.manifest.configuration_digest)]))
    return {
        "version": VERSION,
        "status": "success" if run.complete else "cancelled",
        "eval": {
            "eval_id": key[:22],
            "run_id": key[22:44],
            "task_id": _task_id(run),
            "created": _started(run),
            "task": run.place["task"],
            "task_version": harness.get("version") or 0,
            "task_args": run.configuration.get("task", {}),
            "dataset": {"name": run.place["task"], "samples": len(items), "sample_ids": items, "shuffled": False},
            "model": run.place["model"],
            "config": {"epochs": epochs},
            "packages": run.manifest.versions or {},
            "metadata": {
                **run.place,
                "headline": run.result.headline,
                "configuration_digest": run.manifest.configuration_digest,
                "commit": harness.get("commit"),
            },
        },
        "plan": {"name": "harness", "steps": [], "config": {}},
        "results": {
            "total_samples": len(summaries),
            "completed_samples": len(summaries) - failed,
            "scores": [_score(run, len(summaries) - failed, failed)],
        },
        "stats": {
            "started_at": _started(run),
            "completed_at": run.manifest.ended or _started(run),
            "model_usage": {run.place["model"]: usage} if usage else {},
        },
    }


def _score(run: Run, replies: int, failed: int) -> dict[str, Any]:
    """Return the result's metrics, as they stand in result.json; undefined ones are left out."""
    metrics: dict[str, dict[str, Any]] = {}
    for metric in run.result.overall.metrics:
        if metric.value is not None:
            metrics[metric.name] = {"name": metric.name, "value": metric.value, "params": {}}
            if metric.interval:
                metrics[metric.name]["metadata"] = {"interval": list(metric.interval)}
    counts = {"scored_samples": replies, "unscored_samples": failed}
    return {"name": SCORER, "scorer": SCORER, **counts, "params": {}, "metrics": metrics}


def _started(run: Run) -> str:
    return run.time("started").isoformat(timespec="seconds")
