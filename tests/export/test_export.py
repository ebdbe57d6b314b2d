"""harness export: every record is in what is written, whatever its text."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from support.compared_runs import always, put
from support.made_records import made

from harness.codec import asked
from harness.export import TARGETS, main
from harness.runtime.signals import INTERRUPTED
from harness.storage.records import Writer
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT
from harness.types import Answer, ChatRequest, Failure, Message, PairRequest, Response, Usage, replace

HOSTILE = 'a,"b"\r\nc\rd\te;\x00 é 🙂 \ud83d {"x": 1} </script>'
INSPECT = Path(".bench/inspect/bin/python").absolute()
READ = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
one = read_eval_log_sample(sys.argv[1], id="i1", epoch=1)
print(json.dumps({
    "status": log.status, "task": log.eval.task, "model": log.eval.model, "samples": log.eval.dataset.samples,
    "metrics": {name: metric.value for name, metric in log.results.scores[0].metrics.items()},
    "values": [s.scores["harness"].value if s.scores else None for s in log.samples],
    "answers": [s.scores["harness"].answer if s.scores else None for s in log.samples],
    "errors": [s.error.message if s.error else None for s in log.samples],
    "texts": [s.output.completion for s in log.samples], "inputs": [s.input_text if hasattr(s, "input_text") else
    s.input if isinstance(s.input, str) else s.input[-1].content for s in log.samples],
    "tokens": one.output.usage.total_tokens, "one": one.id,
    "summaries": len(read_eval_log_sample_summaries(sys.argv[1])),
}))
"""


@pytest.fixture
def folder(tmp_path):
    """Write a run of five items: right, hostile, unreadable, failed, a formula; return its folder."""
    question = Message("user", "Why?")
    chat = ChatRequest((question,), 16)

    def one(number, outcome, answer, request):
        return made(f"i{number}", "c", {"relation": "parent"}, {"published": 1}, request, outcome, answer)

    usage = Usage(input=5, output=2)
    rows = [
        one(0, Response("Yes", usage=usage, finish_reason="stop"), Answer(1, 0.75, "yes"), chat),
        one(1, Response(HOSTILE, usage=usage), Answer(0, span="no"), chat),
        one(2, Response("perhaps"), Answer(None), PairRequest("p", "h")),
        one(3, Failure("timeout", "=too slow"), None, chat),
        one(4, Response("=HYPERLINK(1)"), Answer(1), None),
    ]
    path = Path(put(tmp_path / "runs" / "m", rows, model="org/m"))
    with (path / RECORDS).open("w", encoding="utf-8") as file:
        writer = Writer(file, "published", lambda response: 0.5)
        for record in rows:
            writer.write(record)
    return path


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_every_record(folder, tmp_path, capsys):
    assert main([str(folder), "to=csv", f"out={tmp_path / 'o.csv'}"]) == 0
    assert "5 records of 1 run." in capsys.readouterr().out
    rows = table(tmp_path / "o.csv")
    assert [row["item"] for row in rows] == [f"i{n}" for n in range(5)]
    assert [row["correct"] for row in rows] == ["true", "false", "false", "", "true"]
    assert [row["readable"] for row in rows] == ["true", "true", "false", "", "true"]
    assert rows[0] | {"model": "org/m", "gold": "1", "answer": "1", "probability": "0.75", "cost_usd": "0.5"} == rows[0]
    assert rows[0] | {"group_relation": "parent", "label_published": "1", "input_tokens": "5"} == rows[0]
    assert rows[1]["text"] == HOSTILE.replace("\ud83d", "?").replace("\0", "�")
    assert [row["asked"] for row in rows] == ["Why?", "Why?", "p\n\nh", "Why?", ""]
    assert (rows[3]["failure"], rows[3]["failure_detail"], rows[4]["text"]) == (
        "timeout",
        "'=too slow",
        "'=HYPERLINK(1)",
    )


def test_words_that_stand_by_their_digest_after_many_others(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.storage.records.REMEMBERED", 40)
    records = always(1, count=90)
    run = Path(put(tmp_path / "r", records))
    # Every text comes back, some in reach of the writer's memory and some not.
    texts = [f"question {number % 40 if number < 80 else number - 80}" for number in range(90)]
    with (run / RECORDS).open("w", encoding="utf-8") as file:
        writer = Writer(file, "published")
        for record, text in zip(records, texts, strict=True):
            request = ChatRequest((Message("system", text[::-1]), Message("user", text)), 16)
            writer.write(replace(record, request=asked(request)))
    assert main([str(run), "to=csv", f"out={tmp_path / 'o.csv'}"]) == 0
    assert [row["asked"] for row in table(tmp_path / "o.csv")] == [f"{text[::-1]}\n\n{text}" for text in texts]


def test_parquet_has_the_same_columns(folder, tmp_path):
    from datasets import load_dataset

    out = tmp_path / "o.parquet"
    assert main([str(folder), "to=parquet", f"out={out}"]) == 0
    rows = load_dataset("parquet", data_files=str(out), cache_dir=str(tmp_path / "cache"))["train"].to_list()
    main([str(folder), "to=csv", f"out={tmp_path / 'o.csv'}"])
    assert list(rows[0]) == list(table(tmp_path / "o.csv")[0])
    assert [row["correct"] for row in rows] == [True, False, False, None, True]
    assert [row["text"] for row in rows][1:] == [HOSTILE.replace("\ud83d", "?"), "perhaps", None, "=HYPERLINK(1)"]
    assert (rows[0]["probability"], rows[0]["cost_usd"], rows[0]["output_tokens"]) == (0.75, 0.5, 2)


def test_inspect_reads_its_log(folder, tmp_path):
    if not INSPECT.exists() or subprocess.run([INSPECT, "-c", "import inspect_ai"], capture_output=True).returncode:
        pytest.skip("inspect-ai is not in .bench/inspect: make bench-peers")
    assert main([str(folder), "to=inspect", f"out={tmp_path / 'logs'}"]) == 0
    (log,) = (tmp_path / "logs").iterdir()
    process = subprocess.run([INSPECT, "-c", READ, log], capture_output=True, text=True, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    read = json.loads(process.stdout)
    overall = json.loads((folder / RESULT).read_text())["scores"]["published"]["overall"]["all"]
    assert read["metrics"] == {name: overall[name] for name in ("f1", "precision", "recall", "accuracy", "brier")}
    assert read["values"] == ["C", "I", "I", None, "C"]
    assert read["answers"] == ["Yes", "No", None, None, "Yes"]
    assert read["errors"] == [None, None, None, "timeout: =too slow", None]
    assert read["texts"] == ["Yes", HOSTILE.replace("\ud83d", "?"), "perhaps", "", "=HYPERLINK(1)"]
    assert read["inputs"] == ["Why?", "Why?", "p\n\nh", "Why?", ""]
    assert (read["status"], read["task"], read["model"]) == ("success", "corr2cause", "org/m")
    assert (read["samples"], read["summaries"], read["tokens"], read["one"]) == (5, 5, 7, "i1")


def test_inspect_takes_no_two_logs_for_one(folder, tmp_path):
    """inspect view shows one log of those with one task id, which it reads from the third part of the name."""
    put(folder.parent / "under_scored", always(1, count=30), model="m_1", variant="limit=30,split=dev_1")
    put(folder.parent / "n", always(1, count=30), model="m_2")
    assert main([str(folder.parent), "to=inspect", f"out={tmp_path / 'logs'}"]) == 0
    ids = {}
    for log in (tmp_path / "logs").iterdir():
        _when, _task, which = log.stem.split("_")
        with zipfile.ZipFile(log) as archive:
            ids[which] = json.loads(archive.read("header.json"))["eval"]["task_id"]
    assert len(ids) == 3 and all(name == task_id for name, task_id in ids.items())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda run: (run / RESULT).unlink(), "no result.json below"),
        (lambda run: (run / MANIFEST).unlink(), "holds no manifest.json"),
        (lambda run: (run / RECORDS).write_text(""), "holds no records."),
        (lambda run: (run / RECORDS).write_text("{}\n"), "line 1 is not a record"),
        (lambda run: (run / RECORDS).rename(run / f"{RECORDS}.gz"), "cannot be read"),
        (
            lambda run: (run / RESULT).write_text('{"run": 1}'),
            "is cut off or damaged, or another version left it: move its folder away",
        ),
    ],
)
def test_what_is_missing_or_broken_is_one_sentence(folder, tmp_path, capsys, target, spoil, message):
    spoil(folder)
    assert main([str(folder), f"to={target}", f"out={tmp_path / 'o'}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("target", TARGETS)
def test_runs_without_records_are_left_out_by_name(folder, tmp_path, capsys, target):
    for name in ("b1", "b2"):
        shutil.copytree(folder, folder.parent / name)
        (folder.parent / name / RECORDS).unlink()
    out = tmp_path / "deep" / "er" / "o"
    assert main([str(folder.parent), f"to={target}", f"out={out}"]) == 0
    output = capsys.readouterr()
    names = ", ".join(str(folder.parent / name) for name in ("b1", "b2"))
    assert f"left out, as no records are there (their commands make them again): {names}." in output.err
    assert f"{out}: " in output.out and (" of 1 run" in output.out or ": 1 log;" in output.out)
    shutil.rmtree(folder)
    assert main([str(folder.parent), f"to={target}", f"out={tmp_path / 'other'}"]) == 1
    assert f"error: {folder.parent / 'b1'} holds no records.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize("target", TARGETS)
def test_an_interruption_leaves_nothing_and_the_same_command_works(folder, tmp_path, capsys, monkeypatch, target):
    def interrupted(self):
        raise KeyboardInterrupt

    command = [str(folder), f"to={target}", f"out={tmp_path / 'out' / 'o'}"]
    with monkeypatch.context() as patched:
        patched.setattr("harness.storage.runs.Run.records", interrupted)
        assert main(command) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted: nothing was written; the same command begins again.\n"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "runs" not in path.parts]
    if target == "inspect":
        (tmp_path / "out" / ".o.tmp").mkdir(parents=True)  # of one that was killed
    assert main(command) == 0 and not list(tmp_path.rglob(".*.tmp"))


def test_a_unit_is_exported_where_a_run_has_one(folder, tmp_path):
    assert main([str(folder), "to=csv", f"out={tmp_path / 'without.csv'}"]) == 0
    assert "unit" not in table(tmp_path / "without.csv")[0]
    record = made("i", "asia", {}, {"published": 1}, None, Response("Yes"), Answer(1), unit="asia -> tub")
    run = put(tmp_path / "with", [record], model="m")
    for form in ("csv", "inspect"):
        assert main([run, f"to={form}", f"out={tmp_path / form}"]) == 0
    assert [row["unit"] for row in table(tmp_path / "csv")] == ["asia -> tub"]
    (log,) = (tmp_path / "inspect").rglob("*.eval")
    with zipfile.ZipFile(log) as file:
        (sample,) = (json.loads(file.read(name)) for name in file.namelist() if name.startswith("samples/"))
    assert sample["metadata"]["unit"] == "asia -> tub"


def test_settings_that_cannot_be(folder, capsys):
    for arguments, message in (
        ([str(folder)], "say what to write"),
        (["to=csv"], "give folders"),
        (["nowhere", "to=csv"], "there is no folder nowhere"),
        ([str(folder), "to=xls"], "There are csv, inspect, parquet."),
        ([str(folder), "to=hf"], "to=parquet writes"),
        ([str(folder), "to=csv", f"out={folder / RESULT}/o.csv"], "result.json is no folder): choose another out=."),
        ([str(folder), "to=inspect", f"out={folder}"], "is not empty: choose another out="),
        ([str(folder), "to=inspect", f"out={folder / RESULT}"], "result.json is no folder): choose another out=."),
    ):
        assert main(arguments) == 1
        assert message in capsys.readouterr().err
    assert main(["--help"]) == 0
