"""Whatever is changed in a run's folder by hand is found."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from support import forks

from harness.runtime.progress import Progress
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


@pytest.mark.parametrize("on_terminal", [True, False])
def test_one_bar_goes_over_the_records_of_all_runs(runs, capsys, monkeypatch, on_terminal):
    """On a terminal the verdicts wait for the bar's end, and are all there."""
    bars = []

    class Watched(Progress):
        def watch(self, values, items, each=1):
            bars.append(self)
            return super().watch(values, items, each)

    monkeypatch.setattr("harness.verify.__main__.Progress", Watched)
    monkeypatch.setattr("harness.runtime.console.capable", lambda stream: on_terminal)
    monkeypatch.setattr("sys.stdout.isatty", lambda: on_terminal)
    assert main([]) == 0
    (bar,) = bars
    assert bar.done == bar.total == sum(len(path.read_text().splitlines()) for path in runs.rglob("records.jsonl"))
    output = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in output] == [*(["holds"] * 3), "3 of 3 runs hold."]


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_score_that_the_records_do_not_give_is_found(runs, place):
    result = json.loads((runs / place / "result.json").read_text())
    row = result["scores"][result["headline"]]["overall"]["all"]
    row["accuracy"] = 0.9876
    (runs / place / "result.json").write_text(json.dumps(result))
    assert any("accuracy: 0.9876 there" in problem for problem in problems_of(runs / place))


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
    ("change", "message"),
    [
        (flip_answer, "the reply reads otherwise today"),
        (flip_gold, "the labels are not the item's"),
        (other_words, "the words do not have their digest"),
        (other_request, "the request is not the one that the prompt makes of the item"),
        (lambda lines: lines[:-1], "1 items have no record"),
        (lambda lines: [*lines, lines[7]], "1 items have more than 1 records"),
    ],
)
def test_a_record_that_was_changed_is_found(runs, change, message):
    changed_lines(runs / PLACES["reasoner"] / "records.jsonl", change)
    assert any(message in problem for problem in problems_of(runs / PLACES["reasoner"]))


def test_a_graph_that_was_changed_is_found(runs):
    (first, *_) = sorted((runs / PLACES["coin"]).rglob("graphs/**/*.csv"))
    first.write_text(first.read_text().replace("1", "0"))
    assert any("is not what the records come to" in problem for problem in problems_of(runs / PLACES["coin"]))


def test_other_settings_and_other_words_are_found(runs):
    path = runs / PLACES["reasoner"] / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["configuration"]["prompt"]["digest"] = "0" * 64
    path.write_text(json.dumps(manifest))
    problems = list(problems_of(runs / PLACES["reasoner"]))
    assert any("configuration's digest" in problem for problem in problems)
    assert any("configuration / prompt / digest" in problem for problem in problems)


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
