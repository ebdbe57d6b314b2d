"""to=mlflow, to=wandb: each run as one of an experiment tracker, its scores as metrics, its settings as parameters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
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
    mlflow = _package("mlflow")
    place = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_folder(out or 'mlflow') / 'mlflow.db'}"
    mlflow.set_tracking_uri(place)
    experiment = mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT).experiment_id
    logged = 0
    for run in runs:
        query = f"tags.digest = '{_digest(run)}'"
        if not len(mlflow.search_runs([experiment], query, output_format="list")):
            with mlflow.start_run(run_name=_name(run), tags={**run.place, "digest": _digest(run)}):
                mlflow.log_params(_settings(run))
                mlflow.log_metrics(_metrics(run))
            logged += 1
    return f"{place}: {number_of(runs)}, {logged} of them new."


def write_wandb(runs: Sequence[Run], out: str | None) -> str:
    """Log the runs as wandb is set up (WANDB_MODE=offline: into files below `out`); return the sentence that says so.

    A run has the digest of its manifest as its id, so that the same command makes no second one.
    """
    wandb, folder = _package("wandb"), _folder(out or "wandb_runs")
    project = os.environ.get("WANDB_PROJECT") or PROJECT
    for run in runs:
        about = {"id": _digest(run)[:32], "name": _name(run), "config": {**run.place, **_settings(run)}}
        with wandb.init(project=project, resume="allow", dir=str(folder), **about) as logged:
            logged.summary.update(_metrics(run))
            artifact = wandb.Artifact(f"run-{_digest(run)[:12]}", type="harness-run")
            for name in (RESULT, MANIFEST):
                artifact.add_file(str(run.folder / name))
            logged.log_artifact(artifact)
    return f"{folder}: {number_of(runs)}, as wandb is set up."


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"to={name} needs {name}: python -m pip install {name}.") from None


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


def _metrics(run: Run) -> dict[str, float]:
    """Return the overall scores of the headline, the ends of their intervals, the counts, and what the run cost."""
    overall = run.result.overall
    numbers: dict[str, float | None] = {"usd": run.usd}
    for metric in overall.metrics:
        low, high = metric.interval or (None, None)
        numbers |= {metric.name: metric.value, f"{metric.name}_low": low, f"{metric.name}_high": high}
    numbers |= {name: float(getattr(overall, name)) for name in ("items", "clusters", "unreadable", "failed")}
    return {name: value for name, value in numbers.items() if value is not None}


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
