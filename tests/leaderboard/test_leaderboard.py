"""The leaderboard of the results below a folder."""

import csv
import json
import re
import subprocess

import pytest
from support.cache_help import mounted
from support.made_records import made
from support.written_runs import board_row, write_manifest

from harness.leaderboard import __main__ as leaderboard
from harness.leaderboard.build import build
from harness.scoring.replies import AnswerNotes
from harness.storage.result_json import result_json
from harness.tables.write import markdown
from harness.types import NOT_IN_FORM, Answer, Metric, Response, Result, Scores, Usage, replace

GOOD = {"run": {"task": "t", "variant": "v", "prompt": "p", "model": "m"}, "complete": True}


def result_with(f1=0.5, accuracy=0.5, **more):
    metrics = {"f1": f1, "accuracy": accuracy, **more}
    overall = Scores(1162, 180, 3, 2, tuple(Metric(name, value) for name, value in metrics.items()))
    return Result("published", {"published": {"overall": {"all": overall}}}, 21, {}, {}, Usage())


def row(
    model="m", *, task="corr2cause", variant="default", prompt="plain", complete=True, f1=0.5, accuracy=0.5, **more
):
    return board_row(task, variant, prompt, model, complete, result_with(f1, accuracy, **more))


def tables(rows):
    return markdown(build(rows))


def names(text):
    """Return the first cell of each row of the tables, without headers and rules."""
    first = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    return [name for name in first if name != "model" and set(name) != {"-"}]


def put(folder, name="run", content=None, **changed):
    path = folder / name / "result.json"
    path.parent.mkdir(parents=True)
    default_result = {**GOOD, **result_json(result_with()), **changed}
    path.write_text(json.dumps(default_result) if content is None else content, encoding="utf-8")
    if content is None and isinstance(default_result["complete"], bool):
        write_manifest(path.parent, default_result["run"], result_with(), complete=default_result["complete"])
    return path


def run_of(model, task="corr2cause"):
    return {"task": task, "variant": "default", "prompt": "plain", "model": model}


def test_of_a_runs_notes_those_on_how_its_replies_were_read_stand_below_the_table():
    counted = AnswerNotes()
    reply = made("0", "c", {}, {"published": 1}, "0" * 64, Response("Yes"), Answer(1, rule=NOT_IN_FORM))
    counted.add(reply)
    (on_reading,) = counted.notes()
    result = replace(result_with(), notes=("Of the benchmark: graphs have no interval.", on_reading))
    text = tables([board_row("corr2cause", "answer=choice", "plain", "m", True, result)])
    assert f"m, answer=choice, plain: {on_reading}" in text and "Of the benchmark" not in text
    assert on_reading not in tables([row(), board_row("corr2cause", "answer=choice", "plain", "m", False, result)])


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        ({"low": (0.1, 0.5), "high": (0.9, 0.5), "middle": (0.5, 0.5)}, ["high", "middle", "low"]),
        ({"undefined": (None, 1.0), "zero": (0.0, 0.5), "some": (0.1, 0.5)}, ["some", "zero", "undefined"]),
        ({"b": (0.5, 0.5), "a": (0.5, 0.5), "c": (0.5, 0.9), "d": (0.5, None)}, ["c", "a", "b", "d"]),
    ],
)
def test_best_f1_first_then_accuracy_then_names_undefined_last(rows, order):
    text = tables([row(name, f1=f1, accuracy=accuracy) for name, (f1, accuracy) in rows.items()])
    assert names(text) == order


def test_two_tasks_have_two_tables_and_incomplete_runs_none():
    rows = [row("x"), row("y", task="causalbench"), row("z", f1=0.9), row("undone", task="cladder", complete=False)]
    first, middle, last = re.split("## (?:cladder|corr2cause)", tables(rows))
    assert first.startswith("## causalbench") and (names(first), names(last)) == (["y"], ["z", "x"])
    assert "|" not in middle and "default/plain/undone" in middle


def test_columns_of_names_that_differ_among_complete_runs():
    rows = [row("a", prompt="plain"), row("b", prompt="few_shot", f1=0.1)]
    text = tables(rows)
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert [line[:2] for line in table] == [
        ["model", "prompt"],
        ["-----", "--------"],
        ["a", "plain"],
        ["b", "few_shot"],
    ]
    assert "variant default" in text.lower()
    assert "| prompt" not in tables([rows[0], row("b", prompt="few_shot", complete=False)])


def test_results_below_a_folder_are_shown_and_written(tmp_path, capsys):
    put(tmp_path, "corr2cause/default/plain/a", run=run_of("model-a"))
    put(tmp_path, "corr2cause/default/plain/b", run=run_of("model-b"), complete=False)
    assert leaderboard.main([str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert names(output) == ["model-a"]
    assert "default/plain/model-b" in output
    assert (tmp_path / "LEADERBOARD.md").read_text(encoding="utf-8") == f"# Leaderboard\n\n{output}"


def test_it_can_be_written_elsewhere_or_nowhere(tmp_path, capsys):
    put(tmp_path / "results")
    assert leaderboard.main([str(tmp_path / "results"), f"out={tmp_path / 'board.md'}"]) == 0
    assert "| m " in (tmp_path / "board.md").read_text(encoding="utf-8")
    assert capsys.readouterr().err == f"{tmp_path / 'board.md'}: 1 table.\n"
    assert leaderboard.main([str(tmp_path / "results"), f"out={tmp_path}/a folder/that/is made.csv"]) == 0
    assert (tmp_path / "a folder" / "that" / "is made.csv").is_file()
    assert leaderboard.main([str(tmp_path / "results"), "out=-"]) == 0
    assert not (tmp_path / "results" / "LEADERBOARD.md").exists()
    put(tmp_path / "named", run=run_of("m", "corr2cause/fresh"))
    assert leaderboard.main([str(tmp_path / "named"), f"out={tmp_path / 'board.tex'}"]) == 0
    text = (tmp_path / "board.tex").read_text(encoding="utf-8")
    assert r"\caption{Corr2Cause/fresh" in text and r"\label{tab:corr2cause-fresh" in text


def complaint(capsys):
    """Return the one line on stderr."""
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    return output.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere"),
        (["empty"], "no result.json"),
        (["full", "model=gpt4"], "there is no model 'gpt4' (did you mean 'gpt-4'?). There is gpt-4."),
        (["full", "metrics=f3"], "there is no metric 'f3'. There are accuracy, clusters, cost, cut_off, f1"),
        (["full", "format=pdf"], "format"),
        (["full", "out=x.docx"], "out=x.docx: the name has to end in .md, .csv, .json, .tex."),
        (["full", "out=latex"], "out=latex: the name has to end in .md"),
        (["full", "out="], "out=: the name has to end in .md"),
        (["full", "metrik=f1"], "metrik"),
        (["full", "out=full/run/result.json/board.md"], "board.md"),
        (["full", "published=true"], "needs the package causal-harness-papers (pip install -e packages/papers)."),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    put(tmp_path / "full", run=run_of("gpt-4"))
    assert leaderboard.main(arguments) == 1
    assert words in complaint(capsys)
    assert not list((tmp_path / "empty").iterdir())


@pytest.mark.parametrize(
    "content",
    ["", '{"run": {', "[]", "{}", "null", '"result"', json.dumps(GOOD), json.dumps({**GOOD, "run": {"model": "m"}})],
)
def test_a_broken_result_is_named(tmp_path, capsys, content):
    put(tmp_path, "good")
    path = put(tmp_path, "bad", content=content)
    assert leaderboard.main([str(tmp_path), "out=-"]) == 0
    output = capsys.readouterr()
    reason = "is cut off or damaged, or another version left it: move its folder away and run"
    assert output.err.startswith(f"left out: {path} {reason}") and output.err.count("\n") == 1
    assert "| m     | 50.00 |" in output.out


@pytest.mark.parametrize(
    "changed",
    [
        {"run": run_of(5)},
        {"run": run_of("\ud800")},
        {"clusters": float("nan")},
        {"scores": []},
        {"scores": {}},
        {"scores": {"published": {}}},
        {"scores": {"published": {"overall": {}}}},
        {"headline": "audited"},
        {"usage": {"eggs": 3}},
        {"run": None},
    ],
    ids=str,
)
def test_a_result_that_cannot_stand_in_a_table_is_named(tmp_path, capsys, changed):
    path = put(tmp_path, **changed)
    assert leaderboard.main([str(tmp_path)]) == 1
    assert str(path) in complaint(capsys)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "no manifest.json that can be read"),
        ("", "no manifest.json that can be read"),
        ("[1]", "no manifest.json that can be read"),
        ({"items": {"count": 7}}, "is not of this result.json (items)"),
        ({"counts": {}}, "is not of this result.json (counts)"),
        ({"run": run_of("other")}, "is not of this result.json (run)"),
        ({"configuration": {"model": {}}}, "is not of this result.json (configuration_digest)"),
    ],
)
def test_a_run_that_its_manifest_does_not_bear_out_is_named_and_not_ranked(tmp_path, capsys, change, words):
    put(tmp_path, "good", run=run_of("good"))
    manifest = put(tmp_path, "bad", run=run_of("bad")).with_name("manifest.json")
    original = json.loads(manifest.read_text())
    manifest.unlink() if change is None else manifest.write_text(
        change if isinstance(change, str) else json.dumps(original | change)
    )
    assert leaderboard.main([str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert names(output) == ["good"]
    (note,) = (line for line in output.splitlines() if line.startswith("Not ranked"))
    assert words in note and "default/plain/bad" in note


def test_a_result_whose_manifest_says_that_the_run_has_not_ended_is_not_complete(tmp_path, capsys):
    manifest = put(tmp_path).with_name("manifest.json")
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"complete": False}))
    assert leaderboard.main([str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "Not complete, so not ranked: v/p/m." in output and not names(output)


def test_a_leaderboard_that_cannot_be_written_is_shown_all_the_same(tmp_path, capsys):
    put(tmp_path / "taken")
    (tmp_path / "taken" / "LEADERBOARD.md").mkdir()
    assert leaderboard.main([str(tmp_path / "taken")]) == 0
    output = capsys.readouterr().out
    assert names(output) == ["m"] and "Not written: " in output
    with mounted(tmp_path / "shared", "size=1m") as shared:
        put(shared)
        subprocess.run(["mount", "-o", "remount,ro", str(shared)], check=True)
        assert leaderboard.main([str(shared)]) == 0
        output = capsys.readouterr().out
        assert names(output) == ["m"]
        assert "LEADERBOARD.md cannot be written (Read-only file system): choose another out=." in output
        assert leaderboard.main([str(shared), f"out={tmp_path}/board.md"]) == 0


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_no_spreadsheet_runs_a_name(tmp_path, name):
    put(tmp_path, run=run_of(name, task="=cmd"))
    assert leaderboard.main([str(tmp_path), f"out={tmp_path}/board.csv"]) == 0
    with (tmp_path / "board.csv").open(newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["model"] == f"'{name}".replace("\r", " ") and line["task"] == "'=cmd"
    assert float(line["f1"]) == 0.5


def test_names_from_others_folders_do_nothing_to_a_terminal(tmp_path, capsys):
    put(tmp_path, run=run_of("\x1b[2Ax\x07\u202e\u200b"))
    assert leaderboard.main([str(tmp_path)]) == 0
    output = capsys.readouterr().out + (tmp_path / "LEADERBOARD.md").read_text(encoding="utf-8")
    assert not set(output) & set("\x1b\x07\u202e\u200b") and "[2Ax" in output
