"""What an earlier version left, read as today's would have written it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.resealing import load, save

from harness import evaluate
from harness.errors import DataError, NotHereError
from harness.settings import class_of
from harness.storage import rebuild, runs
from harness.storage.manifest import FORMAT, MOVED, Manifest, upgraded

SHIPPED = Path("results/shipped")


@pytest.mark.parametrize("new", sorted(new for new in MOVED.values() if new.startswith("harness.")))
def test_each_class_that_moved_within_the_harness_is_where_the_table_says(new: str) -> None:
    assert class_of(new, "part").__name__ == new.rpartition(".")[2]


def test_a_run_has_todays_names_and_keeps_what_its_digests_are_of() -> None:
    folder = next(SHIPPED.rglob("pc/manifest.json")).parent
    written = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    run = runs.load(folder)
    assert run.manifest_json == written
    config = run.manifest.config or {}
    assert config["algorithm"]["_target_"] == "harness_discovery.algorithms.PC"
    assert {name: part for name, part in run.manifest.as_json.items() if name != "config"} == {
        name: part for name, part in written.items() if name != "config"
    } | {"role": "algorithm"}


def test_a_manifest_without_settings_is_read_as_it_is() -> None:
    assert upgraded({}) == {} and upgraded({"config": None}) == {"config": None}


def test_a_class_of_a_package_that_is_not_there_is_one_sentence() -> None:
    target = "harness_gone.algorithms.PC"
    manifest = Manifest(run={}, configuration={}, config={"algorithm": {"_target_": target}})
    with pytest.raises(NotHereError, match=f"the run's algorithm is {target}, which no installed package has"):
        rebuild.algorithm_of(manifest)


def test_settings_that_a_model_has_no_more_are_left_out() -> None:
    ours, theirs = {"_target_": "harness.models.api.openai.Chat"}, {"_target_": "mine.Model"}
    config = {"model": ours | {"context": 5, "seed": 1}, "judge": theirs | {"context": 5}, "task": None}
    assert upgraded({"config": config})["config"] == config | {"model": ours | {"seed": 1}}


def test_a_run_carries_its_format_and_one_of_a_later_version_is_a_sentence(tmp_path) -> None:
    run = evaluate(model="always_no", task="corr2cause", limit=5, results=str(tmp_path))
    assert run.manifest_json["format"] == FORMAT == run.manifest.format
    file = run.folder / "manifest.json"
    save(file, load(file) | {"format": FORMAT + 1})
    with pytest.raises(
        DataError, match=rf"a later version .* format {FORMAT + 1}, this version reads up to {FORMAT}\)"
    ):
        runs.load(run.folder)
