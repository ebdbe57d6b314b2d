"""Where verify cannot look it says so, and calls nothing false; a file of items will do wherever it lies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness.scoring.definitions as metrics
from harness import evaluate
from harness.plugin import Plugin
from harness.storage.files import read_json
from harness.verify.__main__ import HOLDS, NOT_CHECKED, WRONG, _verdict, main

METRIC = metrics.MetricDefinition(
    name="specificity", title="specificity", made_of="counts", of_counts=lambda tp, fp, fn, tn: (tn, tn + fp)
)
PLUGIN = Plugin(name="another", home=Path(), metrics=("another:METRIC",))


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
    assert _verdict(run) == (HOLDS, [])


def test_a_metric_that_no_package_has_any_more_is_named_and_all_else_is_checked(install, tmp_path):
    install(PLUGIN)
    run = run_of(task="corr2cause", samples=3, results=str(tmp_path))
    assert _verdict(run) == (HOLDS, [])
    install()
    verdict, problems = _verdict(run)
    assert verdict == NOT_CHECKED and "(specificity); all else was checked" in problems[0]
    result = read_json(run / "result.json")
    result["scores"]["published"]["overall"]["all"]["accuracy"] += 0.1
    (run / "result.json").write_text(json.dumps(result))
    verdict, problems = _verdict(run)
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
