"""The commands as a user types them: every option composed by Hydra, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest
from support import forks
from support.cli_help import row, sentence
from support.openai_server import KEY, chat_reply, error


def test_without_arguments_the_reasoner_takes_the_public_test(harness, tmp_path):
    process = harness(fresh=True)
    assert process.returncode == 0, process.stderr
    assert row(process.stdout, "all")[:8] == ["95.16", "92.19", "98.33", "98.45", "16.52", "1,162", "180", "21"]
    assert "| 95.16 [90.8, 98.3]" in process.stdout.replace("|  ", "| ")
    assert "Intervals over 6 to 21 clusters are wide" in process.stdout
    place = tmp_path / "results/corr2cause/default/plain/reasoner"
    assert {file.name for file in place.iterdir()} >= {"records.jsonl", "result.json", "manifest.json"}
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["config"]["task"]["split"] == "test"
    assert manifest["items"]["count"] == 1162
    assert str(tmp_path) not in json.dumps(manifest)


def test_a_failing_job_of_a_sweep_does_not_stop_the_others(harness, serve, tmp_path):
    server = serve(lambda *_: error(401, "no"))
    (tmp_path / "configs/model").mkdir(parents=True)
    (tmp_path / "configs/model/refused.yaml").write_text(f"defaults: [gpt4]\nname: refused\nbase_url: {server.url}\n")
    process = harness("-m", "model=always_yes,refused,always_no", "task.limit=5", OPENAI_API_KEY=KEY)
    assert process.returncode == 1 and process.stderr.count("error in job 1: ") == 1, process.stderr
    assert "always_yes" in process.stdout and "always_no" in process.stdout
    assert "1 of 3 jobs have failed" in process.stderr and "Traceback" not in process.stderr


def test_the_manifest_says_under_which_names_the_server_answered(harness, serve, tmp_path):
    def reply(path, body, number):
        return chat_reply("No") | {"model": f"snapshot-{number % 2}"}

    server = serve(reply)
    process = harness("model=gpt4", f"model.base_url={server.url}", "task.limit=20", OPENAI_API_KEY=KEY)
    assert process.returncode == 0, process.stderr
    place = tmp_path / "results/corr2cause/limit=20/plain/gpt4"
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["counts"]["served_models"] == {"snapshot-0": 10, "snapshot-1": 10}
    assert manifest["counts"]["items"] == manifest["items"]["count"] == 20
    assert manifest["machine"]["cores"] and manifest["harness"]["version"]


def test_a_task_file_of_the_users_own_has_a_place_of_its_own(harness, tmp_path):
    # Also where the folder's name is one that a command line could not take.
    place = tmp_path / "a (b), c=d"
    (place / "configs/task").mkdir(parents=True)
    (place / "configs/task/mine.yaml").write_text("# Mine\ndefaults: [corr2cause, _self_]\nlimit: 12\n")
    for arguments in (["task=mine"], ["task=corr2cause", "task.limit=13"], ["task=mine", "--cfg", "job"], ["--help"]):
        process = forks.run("harness", ["model=always_no", *arguments], place, os.environ)
        assert process.returncode == 0, process.stderr
    variants = {file.parts[-4] for file in place.glob("results/corr2cause/*/plain/always_no/result.json")}
    assert variants == {"limit=12", "limit=13"}


def test_a_data_file_is_told_by_its_name_and_its_content(harness, tmp_path):
    items = harness("task.limit=20", "out=-", module="harness.items").stdout.splitlines()
    places = [tmp_path / "a-secret-project" / name / "mine.jsonl" for name in ("one", "other")]
    for place, rows in zip(places, (items, items[:5]), strict=True):
        place.parent.mkdir(parents=True)
        place.write_text("\n".join(rows))
        process = harness("model=always_no", "task.source=file", f"task.path={place}")
        assert process.returncode == 0 and "a-secret-project" not in process.stdout, process.stderr
    sha256 = [hashlib.sha256(place.read_bytes()).hexdigest() for place in places]
    runs = sorted((tmp_path / "results/corr2cause").iterdir())
    assert {run.name for run in runs} == {f"path=mine.jsonl-{sha[:8]},source=file" for sha in sha256}
    for run in runs:
        manifest = json.loads((run / "plain/always_no/manifest.json").read_text())
        settings, data = manifest["configuration"]["task"], manifest["configuration"]["data"]
        assert settings["path"] == f"mine.jsonl-{data['sha256'][:8]}" and data["sha256"] in sha256
        # Where it was is among the settings that the command was given, and nowhere else.
        assert manifest["config"]["task"].pop("path") in map(str, places)
        texts = [json.dumps(manifest), *(file.read_text() for file in run.rglob("*.json*") if file.name[0] != "m")]
        assert not any("a-secret-project" in text for text in texts)


def test_items_are_written_for_other_tools(harness, tmp_path):
    process = harness("task.limit=12", "task.perturbation=permutation", "out=mine.jsonl", module="harness.items")
    assert process.returncode == 0, process.stderr
    written = (tmp_path / "mine.jsonl").read_text()
    items = [json.loads(line) for line in written.splitlines()]
    assert len(items) == 12
    assert {"id", "premise", "hypothesis", "input", "relation", "num_nodes", "label", "cluster"} <= set(items[0])
    assert items[0]["input"] == f"Premise: {items[0]['premise']}\nHypothesis: {items[0]['hypothesis']}"
    (tmp_path / "empty.csv").write_text("input,label\n")
    for arguments, said in (
        (["task.source=file", "task.path=empty.csv", "out=mine.jsonl"], "no rows"),
        (["ot=x"], "did you mean 'out'"),
        (["out=mine.jsonl/x"], "mine.jsonl/x cannot be written"),
    ):
        assert said in sentence(harness(*arguments, module="harness.items"))
    assert (tmp_path / "mine.jsonl").read_text() == written
    # A network's data are told once, by their digest after that.
    data = ("task=causalbench/causality", "task.networks=asia", "task.format=data", "out=-")
    lines = [json.loads(line) for line in harness(*data, module="harness.items").stdout.splitlines()]
    assert len(lines) == 280 and (lines[0]["cluster"], lines[0]["unit"]) == ("asia", "asia -> tub")
    assert all(isinstance(part, str) for part in lines[0]["parts"]) and len(lines[0]["parts"]) == 5
    assert all(list(part) == ["sha256"] for line in lines[1:] for part in line["parts"])


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["-m"]])
def test_what_lies_in_the_working_directory_changes_no_command(tmp_path, more):
    """A fresh process: Hydra looks for plugins once, and Python for packages in their order."""
    for name, content in {
        "configs/hydra/config.yaml": "run: {dir: elsewhere}\n",
        "configs/hydra/launcher/basic.yaml": "a: 1\n",
        "configs/hydra/job_logging/none.yaml": "a: 1\n",
        "configs/config.yaml": "task: 1\n",
        "configs/model/mine.yaml": "_target_: mine.Mine\nname: mine\np_yes: 0.5\n",
        "mine.py": "from harness.models.baselines import Baseline as Mine\n",
        **{f"{name}.py": "open('imported', 'w')\n" for name in ("yaml", "pydantic", "numpy", "typing", "signal")},
        "hydra_plugins/hostile.py": "open('imported', 'w')\n",
        "hydra_plugins/__init__.py": "open('imported', 'w')\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    process = subprocess.run(
        [sys.executable, "-m", "harness", *more, "task.limit=5", "model=mine"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert not (tmp_path / "imported").exists() and not (tmp_path / "elsewhere").exists()
    assert (tmp_path / "results/corr2cause/limit=5/plain/mine/result.json").exists()
    script = "from harness.__main__ import main; main()"  # as the command `harness`: no folder is looked in first
    arguments = [sys.executable, "-P", "-c", script, "task.limit=5", "model=mine", "model.name=again"]
    assert subprocess.run(arguments, cwd=tmp_path).returncode == 0
    assert not (tmp_path / "imported").exists()
