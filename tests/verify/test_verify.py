"""Whatever is changed in a run's folder by hand is found, and where verify cannot look it calls nothing false."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from support import forks

import harness.scoring.definitions as metrics
from harness import evaluate
from harness.plugin import Plugin
from harness.storage.files import read_json
from harness.verify.__main__ import main
from harness.verify.run import HOLDS, NOT_CHECKED, WRONG, problems_of, verdict_on

PLACES = {
    "reasoner": "results/corr2cause/limit=40/plain/reasoner",
    "coin": "results/causalbench/causality/networks=asia/closed/random_uniform",
    "constant": "results/causalbench/causality/networks=cancer/closed/always_yes",
}

METRIC = metrics.MetricDefinition(
    name="specificity", title="specificity", made_of="counts", of_counts=lambda tp, fp, fn, tn: (tn, tn + fp)
)
PLUGIN = Plugin(name="another", home=Path(), metrics=("another:METRIC",))


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory) -> Path:
    """Return the folder of three runs that the commands left."""
    folder = tmp_path_factory.mktemp("made")
    for arguments in (
        ["harness", "task.limit=40"],
        ["harness", "model=random_uniform", "task=causalbench/causality", "task.networks=[asia]"],
        ["harness", "model=always_yes", "task=causalbench/causality", "task.networks=[cancer]"],
    ):
        forks.run(arguments[0], arguments[1:], folder, os.environ).check_returncode()
    return folder


@pytest.fixture
def runs(finished_runs, tmp_path, monkeypatch) -> Path:
    shutil.copytree(finished_runs, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def test_runs_as_they_were_made_hold(runs, capsys):
    assert main([]) == 0
    assert "3 of 3 runs hold." in capsys.readouterr().out


def test_a_graph_that_was_changed_is_found(runs):
    (first, *_) = sorted((runs / PLACES["coin"]).rglob("graphs/**/*.csv"))
    first.write_text(first.read_text().replace("1", "0"))
    assert any("is not what the records come to" in problem for problem in problems_of(runs / PLACES["coin"]))


def test_a_result_that_is_cut_off_does_not_hold(runs, capsys):
    file = runs / PLACES["coin"] / "result.json"
    file.write_text(file.read_text()[:100])
    assert main([PLACES["coin"]]) == 1
    assert (
        "result.json is cut off or damaged, or another version left it: move its folder away and run its command"
        in capsys.readouterr().out
    )


def test_runs_without_records_are_said_and_are_no_proof(runs, capsys):
    for place in ("reasoner", "coin"):
        (runs / PLACES[place] / "records.jsonl").unlink()
    assert main([]) == 0
    output = capsys.readouterr().out
    assert f"{PLACES['coin']}: settings, items and prompt hold; no records\n" in output
    assert "1 of 1 runs hold.\n2 more have no records" in output
    assert main([PLACES["reasoner"]]) == 1


@pytest.fixture
def install(monkeypatch):
    """Return what installs the metric of a plug-in, or removes it."""

    def change(*plugins: Plugin) -> None:
        monkeypatch.setattr(metrics, "plugins", lambda: plugins)
        monkeypatch.setattr(metrics, "load", lambda path: METRIC)
        metrics.definitions.cache_clear()

    yield change
    metrics.definitions.cache_clear()


def run_of(**settings: object) -> Path:
    return evaluate(model="random_uniform", limit=20, **settings).folder


def test_a_metric_that_a_plug_in_adds_makes_no_earlier_run_false(install, tmp_path):
    install()
    run = run_of(task="corr2cause", samples=3, results=str(tmp_path))
    install(PLUGIN)
    assert verdict_on(run) == (HOLDS, [])


def test_a_metric_that_no_package_has_any_more_is_named_and_all_else_is_checked(install, tmp_path):
    install(PLUGIN)
    run = run_of(task="corr2cause", samples=3, results=str(tmp_path))
    assert verdict_on(run) == (HOLDS, [])
    install()
    verdict, problems = verdict_on(run)
    assert verdict == NOT_CHECKED and "(specificity); all else was checked" in problems[0]
    result = read_json(run / "result.json")
    result["scores"]["published"]["overall"]["all"]["accuracy"] += 0.1
    (run / "result.json").write_text(json.dumps(result))
    verdict, problems = verdict_on(run)
    assert verdict == WRONG and any("accuracy" in problem for problem in problems)


def test_a_file_of_items_of_the_run_will_do_wherever_it_lies(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("question,label\n" + "".join(f"Is {n} even?,{(n + 1) % 2}\n" for n in range(9)))
    run = run_of(task="questions", path="mine.csv")
    assert main([str(run)]) == 0
    Path("elsewhere").mkdir()
    moved = Path("mine.csv").rename("elsewhere/mine.csv")
    assert main([str(run)]) == 1
    assert "NOT CHECKED\n  the run's items come from task.path=mine.csv, which is no file" in capsys.readouterr().out
    assert main([str(run), str(moved)]) == 0
    moved.write_text(moved.read_text().replace("8", "7"))
    assert main([str(run), str(moved)]) == 1
    moved.rename("mine.csv")
    assert main([str(run)]) == 1
    assert "DOES NOT HOLD\n  task.path=mine.csv has another content" in capsys.readouterr().out
