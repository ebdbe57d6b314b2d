"""Runs in experiment trackers, through the trackers' own packages, where those are installed (no extra has them)."""

from __future__ import annotations

import sys

import pytest

from harness import evaluate
from harness.api import tables
from harness.errors import ConfigError


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return evaluate(model="always_yes", task="corr2cause", limit=20)


def test_mlflow_has_scores_and_settings_and_each_run_once(run):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    assert "1 run, 1 of them new" in str(tables("export", run.folder, to="mlflow", out="store"))
    assert "1 run, 0 of them new" in str(tables("export", run.folder, to="mlflow", out="store"))
    (logged,) = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert logged.data.metrics["f1"] == run.scores["f1"].value and logged.data.metrics["items"] == 20
    assert logged.data.params["task.limit"] == "20" and logged.data.tags["model"] == "always_yes"


@pytest.mark.slow
def test_wandb_has_scores_and_settings_offline(run, monkeypatch, tmp_path):
    pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    assert "1 run" in str(tables("export", run.folder, to="wandb", out="logged"))
    assert [*(tmp_path / "logged").rglob("*.wandb")]


@pytest.mark.parametrize("tracker", ["mlflow", "wandb"])
def test_without_the_package_the_way_out_is_one_sentence(run, tracker, monkeypatch):
    monkeypatch.setitem(sys.modules, tracker, None)
    with pytest.raises(ConfigError, match=rf"to={tracker} needs {tracker}: python -m pip install"):
        tables("export", run.folder, to=tracker)
