"""to=mlflow, to=wandb: each run as one of an experiment tracker, its scores as metrics, its settings as parameters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.export import number_of
from harness.storage.run_folder import MANIFEST, RESULT
from harness.storage.runs import Run
from harness.types import JSON

PROJECT = "harness"
"""The experiment of MLflow, the project of W&B; both have a variable of the environment for another one."""


def write_mlflow(runs: Sequence[Run], out: str | None) -> str:
    """Log the runs where MLFLOW_TRACKING_URI says, else into a file below `out`; return the sentence that says so."""
    try:
        import mlflow
    except ImportError:
        raise ConfigError("to=mlflow needs mlflow: python -m pip install mlflow.") from None
    place = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_folder(out or 'mlflow') / 'mlflow.db'}"
    mlflow.set_tracking_uri(place)
    experiment = mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT).experiment_id
    logged = 0
    for run in runs:
        query = f"tags.digest = '{_digest(run)}'"
        if len(mlflow.search_runs([experiment], query, output_format="list")):
            continue
        with mlflow.start_run(run_name=_name(run), tags={**run.place, "digest": _digest(run)}):
            mlflow.log_params(_settings(run))
            mlflow.log_metrics(dict(_metrics(run)))
        logged += 1
    return f"{place}: {number_of(runs)}, {logged} of them new."


def write_wandb(runs: Sequence[Run], out: str | None) -> str:
    """Log the runs as wandb is set up (WANDB_MODE=offline: into files below `out`); return the sentence that says so.

    A run has the digest of its manifest as its id, so that the same command makes no second one.
    """
    try:
        import wandb
    except ImportError:
        raise ConfigError("to=wandb needs wandb: python -m pip install wandb.") from None
    folder = _folder(out or "wandb_runs")
    for run in runs:
        project = os.environ.get("WANDB_PROJECT") or PROJECT
        with wandb.init(
            project=project, id=_digest(run)[:32], resume="allow", name=_name(run), dir=str(folder),
            config={**run.place, **_settings(run)},
        ) as logged:  # fmt: skip
            logged.summary.update(dict(_metrics(run)))
            artifact = wandb.Artifact(f"run-{_digest(run)[:12]}", type="harness-run")
            for name in (RESULT, MANIFEST):
                artifact.add_file(str(run.folder / name))
            logged.log_artifact(artifact)
    return f"{folder}: {number_of(runs)}, as wandb is set up."


def _folder(out: str) -> Path:
    folder = Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _name(run: Run) -> str:
    return " · ".join(run.place.values())


def _digest(run: Run) -> str:
    if not run.manifest.digest:
        raise ConfigError(f"{run.folder} has no manifest with a digest: it cannot be told from other runs.")
    return run.manifest.digest


def _metrics(run: Run) -> Iterator[tuple[str, float]]:
    """Yield the overall scores of the headline, the ends of their intervals, and the counts."""
    overall = run.result.overall
    for metric in overall.metrics:
        if metric.value is not None:
            yield metric.name, metric.value
            if metric.interval:
                yield f"{metric.name}_low", metric.interval[0]
                yield f"{metric.name}_high", metric.interval[1]
    for name in ("items", "clusters", "unreadable", "failed"):
        yield name, float(getattr(overall, name))
    if run.usd is not None:
        yield "usd", run.usd


def _settings(run: Run) -> dict[str, str]:
    """Return what the answers depend on, a text for each setting by its full name, and the harness that ran."""
    settings = {"role": run.role, "harness": str((run.manifest.harness or {}).get("version"))}
    return settings | {name: str(value)[:500] for name, value in _flat(run.configuration, "")}


def _flat(part: Mapping[str, JSON], before: str) -> Iterator[tuple[str, Any]]:
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif value is not None:
            yield f"{before}{name}", value
