"""Table VIII: which questions models understand; constants and models that echo do not."""

import pytest
from support.written_runs import board_row

from harness.leaderboard import __main__ as leaderboard
from harness.plugins.papers.marks import LOST, NO, YES
from harness.plugins.papers.presets import preset
from harness.types import Result, Scores, Usage

CAUSALITY = "causalbench/causality"


def scores(items, yes, no, failed=0):
    confusion = {"tp": yes, "tn": no, "failed_negative": failed}
    return Scores(items, 0, items - yes - no - failed, failed, (), clusters=1, confusion=confusion)


def row(model, by_network, task=CAUSALITY, variant="default", prompt="closed", complete=True):
    """Return a run with so many (items, yes, no) of each network, all of them small."""
    whole = scores(*(sum(column) for column in zip(*by_network.values(), strict=True)))
    parts = {
        "overall": {"all": whole},
        "network": {network: scores(*numbers) for network, numbers in by_network.items()},
        "scale": {"small": whole},
    }
    return board_row(task, variant, prompt, model, complete, Result("exact", {"exact": parts}, 1, {}, {}, Usage()))


def texts(*rows):
    """Return the measured lines: the texts of their cells by column, by model."""
    (table,) = preset("VIII").lay_out(rows)
    names = [column.name for column in table.columns]
    lines = [line for line in table.lines if line.run]
    return {
        line.cells[0].text: {name: cell.text for name, cell in zip(names, line.cells, strict=True)} for line in lines
    }


def test_the_published_marks_stand_above_with_their_contradictions():
    (table,) = preset("VIII").lay_out([])
    marks = {line.cells[0].text: [cell.text for cell in line.cells[1:] if cell.text] for line in table.lines}
    assert len(marks) == 18
    assert marks["BERT-large"] == marks["OPT2D7B"] == [NO] * 6 and marks["GPT4-Turbo"] == [YES] * 6
    assert marks["GPT3.5-Turbo"] == [*[YES] * 5, NO] and marks["GPT4"] == [YES, YES, LOST, LOST, LOST, YES]
    assert marks["LLAMA7B"] == [*[YES] * 4, NO, NO]
    notes = " ".join(table.notes)
    for name in ("OPT2D7B", "GPT3.5-Turbo", "7 × 500", "78 × 500", "Nothing is measured yet"):
        assert name in notes


@pytest.mark.parametrize(
    ("yes", "no", "mark"),
    [(60, 40, YES), (60, 35, YES), (60, 34, NO), (100, 0, NO), (0, 100, NO), (0, 0, NO)],
)
def test_a_mark_takes_95_percent_readable_and_both_answers(yes, no, mark):
    cell = texts(row("gpt4", {"asia": (100, yes, no)}))["gpt4"]["variable_name"]
    assert cell.startswith(f"{mark} ({yes + no:.1f} readable")
    assert ("one answer only" in cell) == (100 in (yes, no))


def test_each_column_has_the_runs_that_it_is_about():
    runs = [
        row("gpt4", {"asia": (100, 50, 50)}),
        row("gpt4", {"asia": (100, 0, 0)}, task="causalbench/correlation"),
        row("gpt4", {"asia": (100, 50, 48)}, variant="format=background"),
        row("gpt4", {"asia": (100, 0, 0)}, task="causalbench/skeleton", complete=False),
        row("gpt4", {"asia": (100, 50, 50)}, prompt="other"),
    ]
    cells = texts(*runs)["gpt4"]
    assert cells["correlation"].startswith(NO) and cells["skeleton"] == "–"
    assert cells["background"] == f"{YES} (98.0 readable)"
    assert cells["data"] == cells["data/largest"] == "–"


def test_the_largest_data_is_the_last_before_the_mark_is_lost():
    good, bad = (100, 60, 40), (100, 10, 0)
    runs = [
        row("gpt4", {"cancer": good, "asia": good, "win95pts": bad}, variant="format=data"),
        row("gpt4", {"cancer": good, "asia": bad}, variant="format=data,rows=1000"),
        row("gpt4", {"asia": bad}, variant="format=background_data"),
    ]
    cells = texts(*runs)["gpt4"]
    # 5 × 500, 8 × 500, 5 × 1,000 keep it; 8 × 1,000 does not, and nothing beyond that counts.
    assert cells["data/largest"] == "5 × 1,000; lost at 8 × 1,000"
    assert cells["background_data/largest"] == "none; lost at 8 × 500"


def test_of_real_runs_strictly_readable_replies_are_told(tmp_path, monkeypatch, capsys, harness):
    monkeypatch.chdir(tmp_path)
    for model in ("always_yes", "random_uniform"):
        assert harness(f"model={model}", "task=causalbench/correlation", "task.networks=cancer").returncode == 0
    assert leaderboard.main(["results", "preset=VIII", "out=-"]) == 0
    printed = capsys.readouterr().out
    assert f"{NO} (100.0 readable, 100.0 strictly, one answer only)" in printed
    assert f"{YES} (100.0 readable, 100.0 strictly)" in printed
