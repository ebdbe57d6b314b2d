"""Whatever is changed in a run's folder by hand is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.verify import main, problems_of

PLACES = {
    "reasoner": "results/corr2cause/limit=40/plain/reasoner",
    "coin": "results/causalbench/causality/networks=asia/closed/random_uniform",
    "algorithm": "results/causalbench/causality/method=2,networks=asia/samples=500,seed=0/hc",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Three runs, made by the commands."""
    import os
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("made")
    for arguments in (
        ["harness", "task.limit=40"],
        ["harness", "model=random_uniform", "task=causalbench/causality", "task.networks=[asia]"],
        ["harness.discover", "network=asia"],
    ):
        subprocess.run([sys.executable, "-m", *arguments], cwd=folder, env=os.environ, check=True, capture_output=True)
    return folder


@pytest.fixture
def runs(made, tmp_path, monkeypatch) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def changed_lines(path: Path, change) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))


def test_runs_as_they_were_made_hold(runs, capsys):
    assert main([]) == 0
    assert "3 of 3 runs hold." in capsys.readouterr().out


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_score_that_the_records_do_not_give_is_found(runs, place):
    result = json.loads((runs / place / "result.json").read_text())
    row = result["scores"][result["headline"]]["overall"]["all"]
    row["accuracy"] = 0.9876
    (runs / place / "result.json").write_text(json.dumps(result))
    (problem,) = problems_of(runs / place)
    assert "accuracy: 0.9876 there" in problem


def flip_answer(lines):
    lines[3]["answer"]["label"] = 1 - lines[3]["answer"]["label"]
    return lines


def flip_gold(lines):
    lines[3]["labels"]["published"] = 1 - lines[3]["labels"]["published"]
    return lines


def other_words(lines):
    lines[0]["request"]["messages"][0]["text"] += " Really?"
    return lines


def other_request(lines):
    lines[5]["request"]["max_tokens"] += 1
    return lines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (flip_answer, "the reply reads otherwise today"),
        (flip_gold, "the labels are not the item's"),
        (other_words, "the words do not have their digest"),
        (other_request, "the request does not have its digest"),
        (lambda lines: lines[:-1], "1 items have no record"),
        (lambda lines: [*lines, lines[7]], "1 items have more than 1 records"),
    ],
)
def test_a_record_that_was_changed_is_found(runs, change, said):
    changed_lines(runs / PLACES["reasoner"] / "records.jsonl", change)
    assert any(said in problem for problem in problems_of(runs / PLACES["reasoner"]))


def test_a_graph_that_was_changed_is_found(runs):
    (first, *_) = sorted((runs / PLACES["algorithm"]).rglob("graphs/**/*.csv"))
    first.write_text(first.read_text().replace("1", "0"))
    assert any("is not what the records come to" in problem for problem in problems_of(runs / PLACES["algorithm"]))


def test_other_settings_and_other_words_are_found(runs):
    path = runs / PLACES["reasoner"] / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["configuration"]["prompt"]["digest"] = "0" * 64
    path.write_text(json.dumps(manifest))
    problems = list(problems_of(runs / PLACES["reasoner"]))
    assert any("configuration's digest" in problem for problem in problems)
    assert any("other words today" in problem for problem in problems)


def test_records_that_are_not_there_are_said(runs, capsys):
    (runs / PLACES["reasoner"] / "records.jsonl").unlink()
    assert main([PLACES["reasoner"]]) == 1
    assert "cannot be computed again" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nowhere"], ["."]])
def test_a_folder_without_runs_is_one_sentence(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("error: ")
