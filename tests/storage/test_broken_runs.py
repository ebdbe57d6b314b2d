"""One run that is broken is named, and does not stop what is done with the others."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from support import forks

from harness import export
from harness.leaderboard import __main__ as leaderboard
from harness.report import __main__ as report
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT
from harness.verify import __main__ as verify

DAMAGED = "result.json is cut off or damaged"
BREAKS = {
    "another encoding": (lambda run: (run / RESULT).write_bytes(b'{"run": "\xe9"}'), DAMAGED),
    "an older version": (lambda run: older(run / RESULT), "another version left it"),
}


def older(path):
    content = json.loads(path.read_text())
    del content["headline"], content["clusters"]
    path.write_text(json.dumps(content))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs of one command."""
    folder = tmp_path_factory.mktemp("runs")
    for model in ("always_yes", "always_no"):
        process = forks.run("harness", (f"model={model}", "task.limit=5", f"results={folder}"), folder, os.environ)
        assert process.returncode == 0, process.stderr
    return folder


@pytest.fixture
def runs(made, tmp_path):
    shutil.copytree(made, tmp_path / "r")
    return tmp_path / "r"


def broken(runs):
    (run,) = (file.parent for file in runs.rglob(RESULT) if file.parent.name == "always_no")
    return run


@pytest.mark.parametrize("kind", BREAKS)
def test_a_broken_result_is_left_out_and_named(runs, tmp_path, capsys, kind):
    spoil, sentence = BREAKS[kind]
    spoil(broken(runs))
    for command in (
        lambda folder: leaderboard.main([folder, "out=-"]),
        lambda folder: export.main([folder, "to=csv", f"out={tmp_path / 'o.csv'}"]),
        lambda folder: report.main([folder, f"out={tmp_path / 'p.html'}"]),
    ):
        assert command(str(runs)) == 0
        error = capsys.readouterr().err
        assert error.startswith("left out: ") and sentence in error and error.count("\n") == 1
        assert command(str(broken(runs))) == 1  # asked for by its own folder
        assert capsys.readouterr().err.startswith("error: ")
    assert verify.main([str(runs)]) == 1
    output = capsys.readouterr().out
    assert "always_yes: holds" in output and "always_no: DOES NOT HOLD" in output and sentence[:20] in output


def test_broken_records_are_left_out_of_an_export_and_named(runs, tmp_path, capsys):
    (broken(runs) / RECORDS).write_bytes((broken(runs) / RECORDS).read_bytes()[:-200])
    for to in ("csv", "inspect"):
        assert export.main([str(runs), f"to={to}", f"out={tmp_path / to}"]) == 0
        error = capsys.readouterr().err
        assert error.startswith("left out: ") and "is not a record" in error
    assert export.main([str(broken(runs)), "to=csv", f"out={tmp_path / 'o2'}"]) == 1


def test_a_run_without_its_manifest_is_left_out_of_an_export(runs, tmp_path, capsys):
    (broken(runs) / MANIFEST).unlink()
    assert export.main([str(runs), "to=csv", f"out={tmp_path / 'o.csv'}"]) == 0
    assert "holds no manifest.json" in capsys.readouterr().err
