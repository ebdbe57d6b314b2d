"""to=hub and to=eval_results: what goes to the Hugging Face Hub."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from support.late import Late

from harness.api import evaluate
from harness.codec import content_digest
from harness.export import main as export
from harness.plugins.hub.configurations import configurations
from harness.plugins.hub.dataset import ROWS_IN_SHARD

datasets = Late("datasets")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two configurations."""
    out = tmp_path_factory.mktemp("hub") / "set"
    assert export(["causalbench_cot", "corr2cause_v1", "to=hub", f"out={out}"]) == 0
    return out


def items(name, split):
    task = configurations()[name].task(split)
    return {item.id: item for item in task.items()}, task.headline


def check_rows(folder, name, split, cache):
    rows = list(datasets.load_dataset(str(folder), name, split=split, cache_dir=str(cache)))
    expected, headline = items(name, split)
    assert len(rows) == len(expected)
    for row in rows:
        item = expected[row["id"]]
        labels = {key.removeprefix("label_"): value for key, value in row.items() if key.startswith("label_")}
        assert {key: value for key, value in labels.items() if value is not None} == dict(item.labels)
        assert row["label"] == item.labels[headline] == (row["choices"][ord(row["target"]) - 65] == "Yes")
        assert all(row[key] == value for key, value in item.fields.items())
        assert {key: row[f"group_{key}"] for key in item.groups} == dict(item.groups)
        assert row["cluster"] == item.cluster and row["prompt"]


@pytest.mark.slow
def test_load_dataset_takes_the_folder_with_all_labels(folder, tmp_path):
    for name in ("causalbench_cot", "corr2cause_v1"):
        check_rows(folder, name, "test", tmp_path)


def card_lines(folder):
    head, _, body = (folder / "README.md").read_text().removeprefix("---\n").partition("---\n")
    return yaml.safe_load(head), [" ".join(line.replace("|", " ").split()) for line in body.splitlines()]


def test_the_card_says_what_the_items_come_to(folder):
    front, lines = card_lines(folder)
    assert [part["config_name"] for part in front["configs"]] == ["causalbench_cot", "corr2cause_v1"]
    assert front["license"] == ["cc-by-4.0", "mit"] and front["size_categories"] == ["1K<n<10K"]
    assert any(
        line.startswith("corr2cause_v1 test") and line.endswith("mit published 2,246 21 84.8 15.2 26.4")
        for line in lines
    )
    assert "corr2cause_v1 test audited 2,246 37" in lines
    assert any("Jin et al., Can Large" in line for line in lines)


@pytest.mark.slow
def test_a_configuration_with_several_splits_and_labels_that_not_all_items_have(tmp_path):
    folder = tmp_path / "set"
    assert export(["cladder", "to=hub", f"out={folder}"]) == 0
    for split in ("sample", "balanced1000"):
        check_rows(folder, "cladder", split, tmp_path)
    _, lines = card_lines(folder)
    assert "cladder balanced1000 stated 889 13" in lines and "cladder sample exact 4,164 74" in lines
    tasks = yaml.safe_load((folder / "eval.yaml").read_text())["tasks"]
    assert [task["id"] for task in tasks] == ["cladder_sample", "cladder_balanced1000"]


def test_croissant_and_eval_yaml_name_what_is_there(folder):
    description = json.loads((folder / "croissant.json").read_text())
    for file in description["distribution"]:
        assert content_digest(folder / file["contentUrl"]) == file["sha256"]
    names = {
        part["@id"]: [field["source"]["extract"]["column"] for field in part["field"]]
        for part in description["recordSet"]
    }
    assert names.keys() == {"causalbench_cot", "corr2cause_v1"}
    tasks = yaml.safe_load((folder / "eval.yaml").read_text())["tasks"]
    assert [task["id"] for task in tasks] == list(names)
    for task in tasks:
        assert set(task["field_spec"].values()) <= set(names[task["id"]])
        assert (task["solvers"], task["scorers"]) == ([{"name": "multiple_choice"}], [{"name": "choice"}])


def test_large_splits_come_in_shards(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.plugins.hub.dataset.ROWS_IN_SHARD", 50)
    assert export(["causalbench_cot", "to=hub", f"out={tmp_path / 'out'}"]) == 0
    names = sorted(file.name for file in (tmp_path / "out").rglob("*.parquet"))
    assert names == ["test-00000-of-00002.parquet", "test-00001-of-00002.parquet"]
    rows = datasets.load_dataset(str(tmp_path / "out"), "causalbench_cot", split="test", cache_dir=str(tmp_path))
    assert len(rows) == 64 < ROWS_IN_SHARD


@pytest.mark.slow
def test_every_configuration_makes_a_task_that_is_whole():
    for configuration in configurations().values():
        for split in configuration.splits:
            task = configuration.task(split)
            assert next(iter(task.items())).labels[task.headline] in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "word"), [(["cladderr", "to=hub"], "cladder"), (["results", "to=eval_results"], "dataset=")]
)
def test_what_is_not_there_or_not_said_is_refused(arguments, word, capsys):
    assert export(arguments) == 1
    assert word in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_holds_becomes_a_result_of_its_model(tmp_path, capsys):
    run = evaluate("always_no", "causalbench/cot", results=str(tmp_path / "results"))
    out = tmp_path / "out"
    assert export([str(run.folder), "to=eval_results", "dataset=me/causes", f"out={out}"]) == 0
    (file,) = (out / ".eval_results").iterdir()
    (entry,) = yaml.safe_load(file.read_text())
    assert entry["dataset"] == {"id": "me/causes", "task_id": "causalbench_cot"} and entry["value"] == 50.0
    assert "64 items, 0 unreadable, 0 failed" in entry["notes"] and "[" in entry["notes"]
    # What does not hold is not published, nor what is no whole split.
    records = Path(run.folder) / "records.jsonl"
    records.write_text(records.read_text().replace('"text": "No"', '"text": "Yes"', 1))
    assert export([str(run.folder), "to=eval_results", "dataset=me/causes", f"out={tmp_path / 'b'}"]) == 1
    assert "does not hold" in capsys.readouterr().err and not (tmp_path / "b").exists()
    shutil.rmtree(tmp_path / "results")
    part = evaluate("always_no", "causalbench/cot", limit=8, results=str(tmp_path / "results"))
    assert export([str(part.folder), "to=eval_results", "dataset=me/causes", f"out={tmp_path / 'c'}"]) == 1
    assert "no split" in capsys.readouterr().err
