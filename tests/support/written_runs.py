"""Manifests for results that tests write by hand: as the run that left such a result would have written them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.prompting.reading import reading_version
from harness.storage.manifest import Manifest
from harness.storage.result_json import counts, result_json
from harness.storage.runs import Run
from harness.types import Metric, Result, Role, Scores, Usage


def write_manifest(
    folder: Path,
    run: Mapping[str, str],
    result: Result,
    *,
    complete: bool = True,
    items: str | None = None,
    configuration: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    role: Role = "model",
) -> None:
    """Write manifest.json beside the result.json of `folder`; `items` is the SHA-256 of the items."""
    item_digest = {"count": result.overall.items, **({"sha256": items} if items else {})}
    manifest = {
        "run": run,
        "role": role,
        "configuration": configuration or {},
        "configuration_digest": digest(configuration or {}),
        "items": item_digest,
        "counts": counts(result),
        "complete": complete,
        "reading": reading_version(),
        **({"config": config} if config else {}),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def board_row(
    task: str,
    variant: str,
    prompt: str,
    model: str,
    complete: bool,
    result: Result,
    items: str | None = None,
    folder: str = "",
    data: tuple[int, int] | None = None,
) -> Run:
    """A row with the settings that its variant names; `items` is the SHA-256 of what was asked.

    Of an algorithm, `data` are the observations and the seed that it has learned from.
    """
    place = {"task": task, "variant": variant, "prompt": prompt, "model": model}
    settings = dict(re.findall(r"(?:^|,)(\w+)=(.*?)(?=,\w+=|$)", variant))
    manifest = {"items": {"sha256": items}, "configuration": {"task": settings}, "reading": reading_version()}
    if data is not None:
        manifest["configuration"]["data"] = dict(zip(("observations", "seed"), data, strict=True))
        manifest |= {"role": "algorithm", "config": {"algorithm": {"name": model}}}
    return Run(Path(folder), place, complete, result, manifest=Manifest.from_json(manifest), source=folder)


def scores(f1, *, items=100, positives=20, confusion=None, **more):
    interval = None if f1 is None else (max(0.0, f1 - 0.1), min(1.0, f1 + 0.2))
    rest = {"precision": 0.5, "recall": None, "accuracy": 0.75, **more}
    metrics = (Metric("f1", f1, interval), *(Metric(name, value) for name, value in rest.items()))
    return Scores(
        items, positives, 0, 0, metrics, clusters=9, resamples=1000, confusion=confusion or {"tp": 9, "fn": 11}
    )


def put(
    results: Path,
    model: str,
    f1: float | None = 0.5,
    *,
    task: str = "corr2cause",
    variant: str = "default",
    prompt: str = "plain",
    kind: str = "openai",
    role: Role = "model",
    headline: str = "published",
    items: str | None = "a",
    parts: dict | None = None,
    usage: Usage = Usage(),  # noqa: B008 (frozen)
    cost: dict | None = None,
    complete: bool = True,
    data: tuple[int, int] | None = None,
) -> Path:
    """Write a run's folder with result.json and manifest.json; without `items`, it has neither these nor settings.

    Of an algorithm, `data` are the observations and the seed that it has learned from.
    """
    prompt = f"samples={data[0]},seed={data[1]}" if data else prompt
    place = {"task": task, "variant": variant, "prompt": prompt, "model": model}
    folder = results.joinpath(*task.split("/"), variant, prompt, model)
    folder.mkdir(parents=True)
    score_sets = {headline: {"overall": {"all": scores(f1)}, **(parts or {})}}
    result = Result(headline, score_sets, 9, {}, {}, usage)
    result_content = {"run": place, "complete": complete, **result_json(result), **({"cost": cost} if cost else {})}
    (folder / "result.json").write_text(json.dumps(result_content), encoding="utf-8")
    configuration, config = {}, {}
    if items:
        settings = dict(part.split("=") for part in variant.split(",")) if variant != "default" else {}
        configuration = {"task": settings, "data": {}, "prompt": {"name": prompt}, "model": {"kind": kind}}
        if data:
            configuration["data"], config = {"observations": data[0], "seed": data[1]}, {"algorithm": {"name": model}}
    sha256 = items and items * 64
    result_content = {"items": sha256, "configuration": configuration, "config": config}
    write_manifest(folder, place, result, complete=complete, role="algorithm" if data else role, **result_content)
    return folder
