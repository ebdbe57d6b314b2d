"""The reader of runs: what it finds below folders, what a run is, and what it says of a damaged one."""

from __future__ import annotations

import json

import pytest
from support.made_records import made
from support.written_runs import put, scores, write_manifest

from harness.errors import DataError
from harness.storage import find, runs
from harness.storage.files import DamagedError
from harness.storage.find import below
from harness.storage.manifest import NO_MANIFEST
from harness.storage.records import Writer
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT
from harness.types import Answer, ChatRequest, Message, Response, Result, Usage


def test_a_run_says_what_its_folder_says(tmp_path):
    folder = put(tmp_path, "gpt4", variant="perturbation=paraphrase,samples=3")
    run = runs.load(folder)
    assert run.folder == folder and run.complete and not run.trouble and run.manifest_error is None
    assert run.place == {
        "task": "corr2cause",
        "variant": "perturbation=paraphrase,samples=3",
        "prompt": "plain",
        "model": "gpt4",
    }
    assert run.settings["perturbation"] == "paraphrase" and run.items == "a" * 64
    assert run.result.overall["f1"] == 0.5 and run.result_json == json.loads((folder / RESULT).read_text())


@pytest.mark.parametrize(
    ("manifest", "role"),
    [
        ({"role": "cheat", "configuration": {"model": {"kind": "openai"}}}, "cheat"),
        ({"configuration": {"model": {"kind": "openai"}}}, "model"),
        ({"configuration": {"model": {"kind": "pc"}}, "config": {"algorithm": {"name": "pc"}}}, "algorithm"),
    ],
)
def test_the_role_of_what_answered_also_in_manifests_before_they_said_it(tmp_path, manifest, role):
    folder = put(tmp_path, "m", prompt="a,b=c")
    (folder / MANIFEST).write_text(json.dumps(manifest))
    assert runs.load(folder).role == role


def test_samples_are_answers_and_never_an_algorithms_rows_of_data(tmp_path):
    folder = put(tmp_path, "m")
    settings = {"configuration": {"task": {"samples": 500}}}
    (folder / MANIFEST).write_text(json.dumps(settings))
    assert runs.load(folder).samples == 500
    (folder / MANIFEST).write_text(json.dumps({**settings, "config": {"algorithm": {"name": "hc"}}}))
    assert runs.load(folder).samples == 1


def test_runs_are_found_once_without_links_and_without_what_belongs_to_sweeps(tmp_path):
    first, second = put(tmp_path / "results", "a"), put(tmp_path / "results", "b")
    put(tmp_path / "results" / find.SWEEPS, "swept")
    put(tmp_path / "elsewhere", "c")
    (tmp_path / "results" / "link").symlink_to(tmp_path / "elsewhere")
    top = str(tmp_path / "results")
    assert find.find([top, str(first), f"{top}/../results"]) == {first: top, second: top}
    assert [run.place["model"] for run, _ in below([top]).values()] == ["a", "b"]


def test_what_came_with_the_project_is_read_where_it_is_named(tmp_path):
    own, ours = tmp_path / "results", tmp_path / "results" / find.SHIPPED
    put(ours, "reasoner")
    with pytest.raises(DataError, match=rf"no {RESULT} below {own}: .*\({ours} holds those that came with"):
        find.find([str(own)])
    put(own, "mine")
    assert [run.place["model"] for run, _ in below([str(own)]).values()] == ["mine"]
    assert {run.place["model"] for run, _ in below([str(own), str(ours)]).values()} == {"mine", "reasoner"}


def test_where_there_is_no_run(tmp_path):
    full, empty = tmp_path / "full", tmp_path / "empty"
    put(full, "m")
    empty.mkdir()
    with pytest.raises(DataError, match=f"no {RESULT} below {empty}: run something first"):
        find.find([str(full), str(empty)])
    assert len(find.find([str(full), str(empty)], each=False)) == 1
    with pytest.raises(DataError, match=f"no {RESULT} below {empty}"):
        find.find([str(empty)], each=False)
    with pytest.raises(DataError, match="there is no folder nowhere: give one"):
        find.find(["nowhere"], each=False)


@pytest.mark.parametrize("content", ["{", '{"run": null, "complete": true}'])
def test_a_damaged_result_is_one_error_that_names_the_file(tmp_path, content):
    folder = put(tmp_path, "m")
    (folder / RESULT).write_text(content)
    with pytest.raises(
        DamagedError, match=f"{folder / RESULT} is cut off or damaged, or another version left it: move its folder away"
    ):
        runs.load(folder)


def test_a_run_without_a_manifest_can_be_read_and_is_not_ranked(tmp_path):
    folder = put(tmp_path, "m")
    (folder / MANIFEST).write_text('{"configuration": []}')
    run = runs.load(folder)
    assert run.manifest is NO_MANIFEST and run.trouble and isinstance(run.manifest_error, DamagedError)
    assert "configuration" in str(run.manifest_error)
    (folder / MANIFEST).unlink()
    run = runs.load(folder)
    assert run.complete and run.trouble == f"no {MANIFEST} that can be read"
    assert str(run.manifest_error) == f"{folder} holds no {MANIFEST}: give the whole folder of a run."


def test_a_result_is_not_complete_where_the_manifest_says_that_the_run_has_not_ended(tmp_path):
    folder = put(tmp_path, "m")
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"complete": False}))
    assert not runs.load(folder).complete


def test_lines_have_their_words_and_their_scores(tmp_path):
    folder = put(tmp_path, "m")
    result = Result("published", {"published": {"overall": {"all": scores(0.5)}}}, 9, {}, {}, Usage())
    write_manifest(folder, runs.load(folder).place, result, configuration={"task": {"unreadable": "no"}})
    request = ChatRequest((Message("user", "Is it?"),), max_tokens=9)
    with (folder / RECORDS).open("w", encoding="utf-8") as file:
        writer = Writer(file, "published")
        for number, label in enumerate((1, 0, None)):
            answer = made(f"i{number}", "c", {}, {"published": 0}, request, Response("Yes"), Answer(label))
            writer.write(answer)
    run = runs.load(folder)
    assert "text" not in json.loads((folder / RECORDS).read_text().splitlines()[1])["request"]["messages"][0]
    lines = list(run.records())
    assert [line.turns for line in lines] == [[{"role": "user", "content": "Is it?"}]] * 3
    assert [run.right(line) for line in lines] == [False, True, True]
    (folder / RECORDS).unlink()
    with pytest.raises(DataError, match=f"{folder} holds no {RECORDS}"):
        next(run.records())
