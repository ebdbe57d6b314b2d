"""Whatever is changed in a run's folder by hand is found."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from support import forks

from harness.verify.__main__ import main
from harness.verify.run import problems_of

PLACES = {
    "reasoner": "results/corr2cause/limit=40/plain/reasoner",
    "coin": "results/causalbench/causality/networks=asia/closed/random_uniform",
    "constant": "results/causalbench/causality/networks=cancer/closed/always_yes",
}


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


def changed_lines(path: Path, change) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))


def test_runs_as_they_were_made_hold(runs, capsys):
    assert main([]) == 0
    assert "3 of 3 runs hold." in capsys.readouterr().out


def flip_answer(lines):
    lines[3]["answer"]["label"] = 1 - lines[3]["answer"]["label"]
    return lines


def test_a_graph_that_was_changed_is_found(runs):
    (first, *_) = sorted((runs / PLACES["coin"]).rglob("graphs/**/*.csv"))
    first.write_text(first.read_text().replace("1", "0"))
    assert any("is not what the records come to" in problem for problem in problems_of(runs / PLACES["coin"]))


def compressed(place: Path) -> Path:
    (place / "records.jsonl.gz").write_bytes(gzip.compress((place / "records.jsonl").read_bytes()))
    (place / "records.jsonl").unlink()
    return place / "records.jsonl.gz"


def test_compressed_records_hold_and_what_was_changed_in_them_is_found(runs, capsys):
    place = runs / PLACES["reasoner"]
    compressed(place)
    assert main([str(place)]) == 0
    assert "1 of 1 runs hold." in capsys.readouterr().out
    (place / "records.jsonl").write_bytes(gzip.decompress((place / "records.jsonl.gz").read_bytes()))
    changed_lines(place / "records.jsonl", flip_answer)
    compressed(place)
    assert "records.jsonl.gz, line 4: the reply reads otherwise today." in list(problems_of(place))


def test_records_that_cannot_be_read_do_not_hold_and_the_others_are_still_checked(runs, capsys):
    archive = compressed(runs / PLACES["reasoner"])
    archive.write_bytes(archive.read_bytes()[:-20])
    (compressed(runs / PLACES["coin"]).parent / "records.jsonl").touch()
    assert main([]) == 1
    output = capsys.readouterr().out
    assert (
        "records.jsonl.gz cannot be read" in output and "remove one of them" in output and "1 of 3 runs hold." in output
    )


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


@pytest.mark.parametrize("arguments", [["nowhere"], ["."]])
def test_a_folder_without_runs_is_one_sentence(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("error: ")
