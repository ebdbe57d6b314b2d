"""One run's folder: what it takes, what it keeps, what it refuses."""

import gzip
import json
import os
import sys
from contextlib import contextmanager

import pytest
from support.made_records import made

from harness import __main__
from harness.errors import ConfigError, DataError, StoreError
from harness.storage.configuration import safe, variant
from harness.storage.manifest import Manifest
from harness.storage.result_json import result_from_json, result_json
from harness.storage.run_folder import Folder, records_in
from harness.types import Answer, Failure, Metric, Response, Result, Scores, Usage

RUN = {"task": "corr2cause", "variant": "default", "prompt": "plain", "model": "gpt4"}
CONFIGURATION = {"model": {"name": "gpt4", "temperature": 0.0, "stop": ["a", "b"]}, "task": {"seed": 0}}


def result_with(f1=0.5):
    metrics = (Metric("f1", f1, (0.1, 0.7), bounds=(0.2, 0.8)), Metric("precision", None), Metric("brier", 0.25))
    counts = {"tp": 1, "fp": 1, "fn": 0, "tn": 1, "unreadable_positive": 1, "failed_negative": 1}
    rows = {"all": Scores(5, 2, 1, 1, metrics, clusters=7, resamples=10_000, confusion=counts)}
    without = (Metric("f1", 0.1, no_interval="few"), Metric("precision", 1.0, no_interval="few"))
    by_relation = {"parent": Scores(3, 1, 0, 0, without, clusters=3, unit="pair")}
    return Result(
        headline="published",
        scores={"published": {"overall": rows, "relation": by_relation}, "audited": {"overall": rows}},
        clusters=3,
        failures={"timeout": 1},
        finish_reasons={"stop": 3, "length": 1},
        usage=Usage(input=1234, output=0),
    )


def folder_at(path, configuration=CONFIGURATION):
    return Folder(path, Manifest(run=RUN, configuration=configuration, harness={"commit": "abc"}))


@contextmanager
def open_writer(folder):
    with folder.lock(), folder.open_records("published") as writer:
        yield writer


def leave(folder, *, complete, f1=0.5, words="records"):
    """Carry out a run from beginning to end; its records are one line of any words."""
    with open_writer(folder) as writer:
        writer._file.write(words + "\n")
    folder.finish(result_with(f1), items={}, complete=complete)


def result_of(path):
    return json.loads((path / "result.json").read_text(encoding="utf-8"))


def test_the_variant_names_the_settings():
    names = {"default": {}, "limit=100,split=dev": {"limit": 100, "split": "dev"},
             "path=my__data.csv": {"path": "my/data.csv"}, "limit=0,new=True": {"limit": 0, "new": True},
             "split=dev+test": {"split": ["dev", "test"]}}  # fmt: skip
    assert [variant(settings) for settings in names.values()] == list(names)


def test_a_variant_too_long_for_a_folder_ends_in_a_digest():
    names = {safe(variant({"path": f"{'long/' * 80}{k}.csv"})) for k in range(2)}
    assert len(names) == 2 and all(len(name) < 160 for name in names)


def test_a_name_becomes_one_part_of_a_path():
    same = ("gpt-4", "limit=10,relations=[a+b]", "模型")
    parts = {"meta/llama_7b": "meta__llama_7b", "../../etc": "__..__etc", "..": "-", ".": "-", "": "-",
             ".hidden": "hidden", "a b:c\\d\n*?": "a-b-c-d---", **dict(zip(same, same, strict=True))}  # fmt: skip
    assert {name: safe(name) for name in parts} == parts


def test_a_result_survives_json():
    result = result_with()
    content = json.loads(json.dumps(result_json(result), allow_nan=False))
    assert result_from_json(content) == result
    assert result_from_json(content).overall["precision"] is None


def test_metrics_are_plain_numbers_and_what_is_known_of_them_stands_beside():
    content = result_json(result_with())
    assert content["interval"]["level"] == 0.95 and content["interval"]["seed"] == 0
    assert content["scores"]["published"]["overall"]["all"] == {
        "items": 5,
        "positives": 2,
        "unreadable": 1,
        "failed": 1,
        "f1": 0.5,
        "precision": None,
        "brier": 0.25,
        "clusters": 7,
        "resamples": 10_000,
        "confusion": {"tp": 1, "fp": 1, "fn": 0, "tn": 1, "unreadable_positive": 1, "failed_negative": 1},
        "intervals": {"f1": [0.1, 0.7]},
        "bounds": {"f1": [0.2, 0.8]},
    }
    parent = content["scores"]["published"]["relation"]["parent"]
    assert parent["no_interval"] == {"few": ["f1", "precision"]} and parent["unit"] == "pair"


def test_parts_of_a_row_that_are_empty_are_left_out_and_read_as_empty():
    row = Scores(5, 2, 0, 0, (Metric("f1", 0.5),))
    content = result_json(Result("published", {"published": {"overall": {"all": row}}}, 21, {}, {}, Usage()))
    told = content["scores"]["published"]["overall"]["all"]
    assert told == {"items": 5, "positives": 2, "unreadable": 0, "failed": 0, "f1": 0.5}
    assert result_from_json(content).overall == row


def test_a_complete_run_leaves_records_result_and_manifest(tmp_path):
    folder = folder_at(tmp_path / "a" / "b")
    leave(folder, complete=True)
    assert result_of(folder.path)["complete"] is True
    assert result_of(folder.path)["run"] == RUN
    assert result_from_json(result_of(folder.path)) == result_with()
    assert (folder.path / "records.jsonl").read_text() == "records\n"
    manifest = json.loads((folder.path / "manifest.json").read_text())
    assert manifest["configuration"] == CONFIGURATION
    assert (manifest["harness"]["commit"], manifest["complete"]) == ("abc", True)
    assert not (folder.path / "records.partial.jsonl").exists()


def test_a_row_of_scores_is_one_line_of_the_file(tmp_path):
    folder = folder_at(tmp_path, {"model": {"name": "[\n  1,\n  2\n]", "sizes": [1, 2], "häufig": {}}})
    leave(folder, complete=True)
    lines = (tmp_path / "result.json").read_text(encoding="utf-8").splitlines()
    (parent,) = (line for line in lines if '"parent": ' in line)
    row = result_of(tmp_path)["scores"]["published"]["relation"]["parent"]
    assert json.loads(parent.partition('"parent": ')[2]) == row
    manifest = (tmp_path / "manifest.json").read_text(encoding="utf-8")
    assert '\n      "sizes": [1, 2],\n' in manifest
    assert json.loads(manifest)["configuration"] == folder.manifest.configuration


def test_before_its_end_a_run_has_no_result(tmp_path):
    folder = folder_at(tmp_path)
    with open_writer(folder):
        assert json.loads((tmp_path / "manifest.json").read_text())["complete"] is False
        assert not (tmp_path / "result.json").exists()
        assert folder.records_file == tmp_path / "records.partial.jsonl"
    assert not (tmp_path / "records.jsonl").exists()


@pytest.mark.parametrize("ends", [True, False])
def test_an_incomplete_run_never_replaces_a_complete_one(tmp_path, ends):
    leave(folder_at(tmp_path), complete=True, f1=0.75, words="all of them")
    if ends:
        leave(folder_at(tmp_path), complete=False, f1=0.25, words="some")
    else:
        with pytest.raises(FileNotFoundError, match="weights"), open_writer(folder_at(tmp_path)):
            raise FileNotFoundError(2, "no such file", "model.weights")  # the run's own trouble, not the folder's
    assert result_of(tmp_path)["complete"] is True
    assert result_from_json(result_of(tmp_path)).overall["f1"] == 0.75
    assert (tmp_path / "records.jsonl").read_text() == "all of them\n"
    assert json.loads((tmp_path / "manifest.json").read_text())["complete"] is True
    assert not ends or not list(tmp_path.glob("*partial*"))


@pytest.mark.parametrize("before", [False, True])
def test_a_complete_run_replaces_any(tmp_path, before):
    leave(folder_at(tmp_path), complete=before, f1=0.25, words="old")
    leave(folder_at(tmp_path), complete=True, f1=0.75, words="new")
    assert result_of(tmp_path)["complete"] is True
    assert result_from_json(result_of(tmp_path)).overall["f1"] == 0.75
    assert (tmp_path / "records.jsonl").read_text() == "new\n"


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"name": "gpt4", "temperature": 0.7, "stop": ["a", "b"]}, r"model\.temperature: 0\.0 there, 0\.7 now"),
        ({"name": "gpt4", "temperature": 0.0, "stop": ["a"]}, r'model\.stop: \["a", "b"\] there, \["a"\] now'),
        ({"name": "gpt4", "temperature": 0.0}, r'model\.stop: \["a", "b"\] there, nothing now'),
        (CONFIGURATION["model"] | {"seed": 1}, r"model\.seed: nothing there, 1 now"),
        # A setting that came with a later version, and is off.
        (CONFIGURATION["model"] | {"quantisation": None}, r"model\.quantisation"),
        ("gpt4", r'model: \{.*\} there, "gpt4" now'),
    ],
)
def test_another_configuration_is_refused_and_the_setting_is_named(tmp_path, model, sentence):
    leave(folder_at(tmp_path), complete=True, words="mine")
    other = folder_at(tmp_path, CONFIGURATION | {"model": model})
    with pytest.raises(ConfigError, match=rf"another configuration \({sentence}"), open_writer(other):
        pytest.fail("the folder was opened")
    assert (tmp_path / "records.jsonl").read_text() == "mine\n"
    assert json.loads((tmp_path / "manifest.json").read_text())["configuration"] == CONFIGURATION
    other.overwrite = True
    leave(other, complete=True, words="new")
    assert (tmp_path / "records.jsonl").read_text() == "new\n"
    assert json.loads((tmp_path / "manifest.json").read_text())["configuration"]["model"] == model


def test_a_result_whose_records_were_removed_keeps_its_manifest(tmp_path):
    # Records are large, so people delete them; the result must not end up beside another run's manifest.
    leave(folder_at(tmp_path), complete=True)
    (tmp_path / "records.jsonl").unlink()
    with pytest.raises(ConfigError), open_writer(folder_at(tmp_path, {"model": {}})):
        pytest.fail("the folder was opened")


def test_the_same_configuration_with_tuples_is_the_same(tmp_path):
    leave(folder_at(tmp_path), complete=True)
    model = CONFIGURATION["model"] | {"stop": ("a", "b")}
    leave(folder_at(tmp_path, CONFIGURATION | {"model": model}), complete=True, words="again")
    assert (tmp_path / "records.jsonl").read_text() == "again\n"


def test_two_writers_at_once_are_refused(tmp_path):
    with open_writer(folder_at(tmp_path)) as writer:
        writer._file.write("first\n")
        with pytest.raises(StoreError, match="another run is writing"), open_writer(folder_at(tmp_path)):
            pytest.fail("two writers at once")
    assert (tmp_path / "records.partial.jsonl").read_text() == "first\n"


@pytest.mark.parametrize("below", ["", "plain/gpt4"])
def test_a_file_where_the_folder_should_be(tmp_path, below):
    (tmp_path / "results").write_text("I am a file.")
    folder = folder_at(tmp_path / "results" / below)
    with pytest.raises(StoreError, match=r"cannot be written .*choose another results="), open_writer(folder):
        pytest.fail("the folder was opened")


HALVES = [b'{"run": {', b"", b"{}", b"[1]", b"null", b'{"configuration": []}', b'{"a": "\xe2\x80', b"[" * 100_000]


@pytest.mark.parametrize("half", HALVES)
def test_what_no_run_leaves_is_a_sentence_or_made_again_by_a_complete_run_only(tmp_path, half):
    (tmp_path / "manifest.json").write_bytes(half)
    leave(folder_at(tmp_path), complete=True, words="all")  # where nothing else is there it is written anew
    assert json.loads((tmp_path / "manifest.json").read_text())["complete"] is True
    original = (tmp_path / "result.json").read_bytes()
    (tmp_path / "result.json").write_bytes(half)
    leave(folder_at(tmp_path), complete=False, words="some")
    assert (tmp_path / "records.jsonl").read_text() == "all\n"
    leave(folder_at(tmp_path), complete=True, words="all")
    assert (tmp_path / "result.json").read_bytes() == original
    (tmp_path / "manifest.json").write_bytes(half)
    sentence = r"manifest\.json is cut off or damaged, or another version left it: move its folder away"
    with pytest.raises(StoreError, match=sentence), open_writer(folder_at(tmp_path)):
        pytest.fail("the folder was opened")


@pytest.mark.parametrize(
    "change",
    [{"complete": False}, {"items": {"count": 1}}, {"counts": {}}, {"run": {}}, {"configuration_digest": "0"}],
)
def test_a_manifest_that_does_not_tell_of_the_result_beside_it_is_written_anew(tmp_path, change):
    leave(folder_at(tmp_path), complete=True)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | change))
    leave(folder_at(tmp_path), complete=True)
    own = {name: manifest[name] for name in ("ended", "digest")}  # the digest is of the moment too
    assert json.loads((tmp_path / "manifest.json").read_text()) | own == manifest


@pytest.mark.parametrize("compressed", [False, True])
def test_a_run_without_its_manifest_is_not_written_over(tmp_path, compressed):
    if compressed:
        (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress(b"mine\n"))
    else:
        leave(folder_at(tmp_path), complete=True)
        (tmp_path / "manifest.json").unlink()
    with pytest.raises(StoreError, match=r"without its manifest\.json"), open_writer(folder_at(tmp_path)):
        pytest.fail("the folder was opened")


def test_a_run_leaves_its_records_plain_in_the_place_of_those_that_were_compressed(tmp_path):
    leave(folder_at(tmp_path), complete=True, words="before")
    (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress((tmp_path / "records.jsonl").read_bytes()))
    (tmp_path / "records.jsonl").unlink()
    assert records_in(tmp_path) == tmp_path / "records.jsonl.gz"
    leave(folder_at(tmp_path), complete=True, words="again")
    assert {file.name: file.read_text() for file in tmp_path.glob("*records*")} == {"records.jsonl": "again\n"}


def test_records_in_two_forms_are_refused_until_one_is_removed(tmp_path):
    assert records_in(tmp_path) is None
    for name in ("records.jsonl", "records.jsonl.gz"):
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"records\.jsonl and records\.jsonl\.gz.*remove one"):
        records_in(tmp_path)


@pytest.mark.parametrize("model", ["reasoner", "random_uniform"])
def test_what_needs_no_server_leaves_the_same_bytes_each_time(tmp_path, monkeypatch, model):
    """So that `make results` changes no file of the project where no number has changed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["harness", f"model={model}", "task.limit=12"])
    place, contents = tmp_path / "results/corr2cause/limit=12/plain" / model, []
    for _ in range(2):
        with pytest.raises(SystemExit, match="0"):
            __main__.main()
        contents.append({file.name: file.read_bytes() for file in place.rglob("*") if file.is_file()})
        (place / "records.jsonl").unlink()
    assert contents[0] == contents[1] and set(contents[0]) >= {"records.jsonl", "result.json", "manifest.json"}


def test_a_run_in_a_folder_that_somebody_sent_waits_for_no_pipe(tmp_path, harness):
    """The place of the run holds a manifest that would never end: one sentence, and nothing is asked."""
    place = tmp_path / "results/corr2cause/limit=4/plain/always_no"
    place.mkdir(parents=True)
    (place / "result.json").write_text("{}")
    os.mkfifo(place / "manifest.json")
    process = harness("model=always_no", "task.limit=4")
    assert process.returncode == 1 and "manifest.json" in process.stderr and "Traceback" not in process.stderr


@pytest.mark.parametrize("complete", [True, False])
def test_a_folder_without_an_answer_blocks_no_other_configuration(tmp_path, complete):
    def left(seed, *outcomes):
        folder = folder_at(tmp_path, CONFIGURATION | {"task": {"seed": seed}})
        with open_writer(folder) as writer:
            for number, outcome in enumerate(outcomes):
                answer = None if isinstance(outcome, Failure) else Answer(1)
                writer.write(made(str(number), "c", {}, {"published": 1}, None, outcome, answer))
        folder.finish(result_with(), items={}, complete=complete)

    refused = Failure("bad_request", "400: seed is not known here")
    left(0, refused, refused)
    left(1, refused, refused)  # the corrected command, which is not right either
    left(2, refused, Response("Yes"))
    with pytest.raises(ConfigError, match=r"another configuration \(task\.seed: 2 there, 3 now\)"):
        left(3, Response("Yes"))
    names = sorted(file.name for file in tmp_path.iterdir() if not file.name.startswith("."))
    assert names == ["manifest.json", "records.jsonl", "result.json"]
    assert json.loads((tmp_path / "manifest.json").read_text())["configuration"]["task"] == {"seed": 2}
