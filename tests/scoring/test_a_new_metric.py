"""A metric is one definition: Matthews correlation, made outside of the package, through every view at once."""

from __future__ import annotations

from importlib.metadata import entry_points

import numpy as np
import pytest

import harness.plugin
from harness import evaluate
from harness.compare.__main__ import main as compare
from harness.compare.difference import differences, of_counts
from harness.leaderboard.__main__ import main as leaderboard
from harness.scoring import definitions
from harness.scoring.classification import ratios
from harness.scoring.intervals import ClusterSums, ratio_intervals
from harness.tables import results, terminal
from harness.verify.__main__ import main as verify

MODULE = """
from pathlib import Path
from harness.plugin import Plugin
from harness.scoring.definitions import MetricDefinition

MCC = MetricDefinition(
    name="mcc",
    title="MCC",
    unit="number",
    decimals=3,
    limits=(-1, 1),
    in_heat_maps=True,
    made_of="counts",
    of_counts=lambda tp, fp, fn, tn: (
        tp * tn - fp * fn,
        ((tp + fp) * 1.0 * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5,
    ),
    rests_on=lambda tp, fp, fn, tn: (tp + fp, tp + fn, tn + fp, tn + fn),
)
PLUGIN = Plugin(name="matthews", home=Path(__file__).parent, metrics=("matthews:MCC",))
"""


def forget():
    for cached in (harness.plugin.plugins, definitions.definitions):
        cached.cache_clear()


@pytest.fixture
def mcc(tmp_path, monkeypatch):
    """Install a distribution that has nothing but the definition."""
    place = tmp_path / "site"
    info = place / "matthews-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "matthews.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: matthews\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[harness.plugins]\nmatthews = matthews:PLUGIN\n")
    monkeypatch.syspath_prepend(place)
    assert "matthews" in {entry.name for entry in entry_points(group="harness.plugins")}
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.fixture
def made(mcc, tmp_path, monkeypatch, capsys):
    """Two runs, scored with the metric."""
    monkeypatch.chdir(tmp_path)
    made = [
        evaluate(model=model, task="corr2cause", limit=400, results="results")
        for model in ("random_uniform", "random_proportional")
    ]
    capsys.readouterr()
    terminal.show(results.result_tables(made[0].result))
    return made, capsys.readouterr().out


def labels(run):
    pairs = [(line.gold, line.answer.label) for line in run.records()]
    return [gold for gold, _ in pairs], [answer for _, answer in pairs]


def test_one_definition_is_in_every_view(made, tmp_path, capsys):
    from sklearn.metrics import matthews_corrcoef

    made, printed = made
    assert "MCC" in printed
    for a_run in made:
        assert a_run.scores["mcc"].value == pytest.approx(matthews_corrcoef(*labels(a_run)), abs=1e-12)
        low, high = a_run.scores["mcc"].interval
        assert -1 <= low < a_run.scores["mcc"].value < high <= 1
    value = f"{made[0].scores['mcc'].value:.3f}"
    low, high = made[0].scores["mcc"].interval

    capsys.readouterr()
    assert leaderboard(["results", "metrics=mcc,f1"]) == 0
    board = capsys.readouterr().out
    assert "MCC" in board and f"{value} [{low:.2f}, {high:.2f}]" in " ".join(board.split())
    assert leaderboard(["results", "out=t.tex"]) == 0
    tex = (tmp_path / "t.tex").read_text()
    assert "MCC" in tex and value.replace("-", "-") in tex
    assert leaderboard(["results", "by=num_nodes", "metrics=mcc"]) == 0
    assert leaderboard(["results", "over=model", "metrics=mcc"]) == 0
    capsys.readouterr()

    folders = [str(a_run.folder) for a_run in made]
    assert compare([*folders, "metrics=mcc"]) == 0
    assert "points of MCC" in capsys.readouterr().out

    from harness.leaderboard.comparable import find_runs
    from harness.plot.charts import charts_of
    from harness.report.__main__ import content

    heat = [chart for chart in charts_of(find_runs(["results"])) if chart["kind"] == "heat"]
    assert all("mcc" in chart["metrics"] for chart in heat) and heat
    page, _ = content(find_runs(["results"]), answers=False)
    shown = {"title": "MCC", "percent": False, "decimals": 3, "best": "high", "in_heat_maps": True}
    assert page["metrics"]["mcc"] == shown
    assert any(column["name"] == "mcc" for table in page["tables"] for column in table["columns"])

    assert verify(["results"]) == 0


def cells(clusters=8):
    random = np.random.default_rng(3)
    return random.integers(1, 9, size=(clusters, 2, 2, 2))


def test_its_interval_rests_on_the_clusters_that_hold_either_class_and_either_answer(mcc):
    """A cluster of positives alone has no Matthews correlation of its own, and still counts."""
    counts = np.zeros((12, 8))
    counts[:6, [0, 2]] = np.arange(1, 13).reshape(6, 2)  # positives alone
    counts[6:, [1, 3]] = np.arange(2, 14).reshape(6, 2)[:, ::-1]  # negatives alone
    [found] = ratio_intervals([ClusterSums(counts, ratios("wrong"))])
    assert found["mcc"].interval and found["mcc"].interval[0] < found["mcc"].interval[1]
    counts[0, [0, 2]] = 0
    counts[0, [1, 3]] = 1, 1
    assert "fewer than 6" in ratio_intervals([ClusterSums(counts, ratios("wrong"))])[0]["mcc"].reason


def test_differences_of_runs_are_scikit_learns(mcc):
    from sklearn.metrics import matthews_corrcoef

    counts = cells()
    (row,), _ = differences(of_counts(counts), ["mcc"], resamples=200)
    gold, first, second, each = [], [], [], counts.sum(axis=0)
    for g, a, b in np.ndindex(2, 2, 2):
        gold += [g] * each[g, a, b]
        first += [a] * each[g, a, b]
        second += [b] * each[g, a, b]
    assert row.first == pytest.approx(matthews_corrcoef(gold, first))
    assert row.second == pytest.approx(matthews_corrcoef(gold, second))
    assert row.interval is not None and row.p is not None


def test_without_the_plugin_nothing_knows_it():
    assert "mcc" not in definitions.definitions()
    assert [metric.name for metric in definitions.of_counts()] == ["f1", "precision", "recall", "accuracy"]
