"""`harness import`: what other programs left, as runs of this one."""

from __future__ import annotations

import csv
import json
import re
import shlex
import sys
import zipfile
from pathlib import Path

import pytest
from support.thinned import few

from harness.errors import UntrustedError
from harness.export import main as export
from harness.leaderboard.build import build as leaderboard
from harness.plugins.hub.command import main
from harness.report.items import items_of
from harness.settings import build
from harness.storage.runs import load
from harness.types import Failure
from harness.verify.run import problems_of

LOGS = Path(__file__).parents[2] / "data" / "hub"
WHOSE = ["by=a colleague", "source=their paper", "licence=MIT"]
ITEMS = ["task=corr2cause", "task.limit=8"]


@pytest.fixture
def take_in(tmp_path, monkeypatch, capsys):
    """Import as the command line does; return exit code, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["harness import", *map(str, arguments), f"results={tmp_path / 'results'}"])
        code = main()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    run.runs = lambda: sorted(file.parent for file in (tmp_path / "results").rglob("result.json"))
    return run


def items(**settings):
    shipped = {"_target_": "harness.tasks.corr2cause.Corr2Cause", "name": "corr2cause", "prompts": ["plain", "pair"]}
    return list(build(shipped | {"limit": 8} | settings, "task").items())


def write(path, rows):
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answers(run):
    return {record.item: record.answer.label for record in run.records()}


def test_answers_that_somebody_has_read_are_taken_as_they_are(take_in, tmp_path):
    words = ["Yes", "no.", "YES", "", "No", "1", "false", "no"]
    rows = [{"nr": item.id, "said": word, "out": 7} for item, word in zip(items(), words, strict=True)]
    file = write(tmp_path / "a.csv", rows)
    code, out, _ = take_in(file, *ITEMS, "map=id:nr,answer:said,output_tokens:out", "name=m", *WHOSE)
    (folder,) = take_in.runs()
    run = load(folder)
    assert code == 0 and folder.parts[-3:] == ("limit=8", "recorded", "m")
    assert [*answers(run).values()] == [1, 0, 1, None, 0, 1, 0, 0]
    assert {record.answer.rule for record in run.records()} == {"recorded answer"}
    assert run.result.overall.unreadable == 1 and run.result.usage.output == 56
    assert list(problems_of(folder)) == []
    # Whose they are stands in the manifest, below the table and so on the page.
    assert run.manifest.recorded["licence"] == "MIT" and run.manifest.recorded["rows"]["matched_by"] == "id"
    assert "m: recorded by a colleague (their paper; licence: MIT)." in out and "the replies' words" in out
    assert "Answers that are wrong by the published labels" in out
    assert run.recorded in "\n".join(leaderboard([run])[0].notes)


def test_verify_finds_what_was_changed_in_them(take_in, tmp_path):
    rows = [{"id": item.id, "said": "yes"} for item in items()]
    take_in(write(tmp_path / "a.csv", rows), *ITEMS, "map=id:id,answer:said", "name=m", *WHOSE)
    (folder,) = take_in.runs()
    text = (folder / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text(text.replace('"text": "Yes"', '"text": "No"', 1))
    problems = " ".join(problems_of(folder))
    assert "the reply reads otherwise today" in problems and "is not the file of which" in problems


def test_replies_are_read_here_and_matched_by_what_was_asked(take_in, tmp_path):
    texts = ["Answer: Yes", "The answer is no.", "Hm.", "No"]
    asked = [f"Premise:  {item.fields['premise']}\n{item.fields['hypothesis']}" for item in items()]
    rows = [
        {"q": {"a": text.removeprefix("Premise:  ").partition("\n")[0], "b": text.partition("\n")[2]}, "o": reply}
        for text, reply in zip(asked, texts, strict=False)
    ]
    file = write(tmp_path / "r.jsonl", [*rows, {"q": {"a": "Who", "b": "knows?"}, "o": "Yes"}])
    command = [file, *ITEMS, "map=question:{q.a} {q.b},reply:o", "name=m", *WHOSE]
    code, _, err = take_in(*command)
    assert code == 1 and "prompt=NAME" in err and not take_in.runs()
    code, out, _ = take_in(*command, "prompt=plain")
    (folder,) = take_in.runs()
    run = load(folder)
    assert code == 0 and run.prompt == "plain,recorded"
    assert answers(run) == dict(zip([item.id for item in items()][:4], [1, 0, None, 0], strict=True))
    # A subset, and said to be one; its items are made again for verify and the page.
    assert run.result.overall.items == 4 and "4 items of the task have no answer there." in out
    assert run.manifest.recorded["rows"]["without_item"] == 1
    assert list(problems_of(folder)) == []
    assert list(_consumed(items_of(run, ())).json(None)["ids"]) == [item.id for item in items()][:4]


def _consumed(generator):
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("name", few(["inspect.json", "samples_c2c.jsonl", "traces.jsonl"], 1))
def test_logs_of_other_programs(take_in, name):
    """Their own files, of eight questions asked of one server that answers by the length of what it is asked."""
    form = ["form=inspect"] if name == "inspect.json" else []
    for by in ("id", "text"):
        code, _, err = take_in(LOGS / name, *form, *ITEMS, "prompt=plain", f"match={by}", f"name={by}", *WHOSE)
        assert code == 0, err
    first, second = map(load, take_in.runs())
    assert answers(first) == answers(second) and len(answers(first)) == 4
    asked = {item.id: _rendered_length(item) for item in items()}
    replies = ["Yes.", "No.", "The premise does not settle it; I am not sure what to say.", "Answer: No"]
    for record in first.records():
        assert record.outcome.text == replies[asked[record.item] % 4]
        if name != "samples_c2c.jsonl":  # lm-eval does not keep them
            assert (record.outcome.finish_reason, record.outcome.usage.output) == ("stop", 3)
    assert all(list(problems_of(folder)) == [] for folder in take_in.runs())


def _rendered_length(item):
    from harness.prompting.prompts import load as load_prompt
    from harness.types import ChatRequest

    return len(load_prompt("corr2cause", "plain", ()).render(item.fields, (), ChatRequest).messages[-1].content)


def test_a_log_that_is_packed_with_zstandard_is_read_or_refused_with_the_way_out(take_in):
    code, _, err = take_in(LOGS / "inspect.eval", *ITEMS, "prompt=plain", "name=m", *WHOSE)
    try:
        import zipfile_zstd  # noqa: F401

        readable = True
    except ImportError:
        readable = sys.version_info >= (3, 14)
    assert (code == 0) == readable
    assert readable or "inspect log convert" in err


def test_what_this_program_exports_comes_back_as_it_was(take_in, tmp_path, capsys):
    """By way of the formats of Inspect (a zip that is deflated) and of lm-eval, with the same answers and scores."""
    rows = [{"id": item.id, "o": "Yes" if k % 3 else "I do not know."} for k, item in enumerate(items())]
    take_in(write(tmp_path / "r.csv", rows), *ITEMS, "prompt=plain", "map=id:id,reply:o", "name=m", *WHOSE)
    (folder,) = take_in.runs()
    for to, pattern in (("inspect", "*.eval"), ("lm_eval", "*/samples_*.jsonl")):
        assert export([str(folder), f"to={to}", f"out={tmp_path / to}"]) == 0
        (log,) = (tmp_path / to).glob(pattern)
        capsys.readouterr()
        code, _, err = take_in(log, *ITEMS, "prompt=plain", f"name={to}", *WHOSE)
        assert code == 0, err
    first, *others = sorted(map(load, take_in.runs()), key=lambda run: run.model != "m")
    assert len(others) == 2
    for other in others:
        assert answers(other) == answers(first)
        assert other.result.scores == first.result.scores


def test_several_answers_to_each_item_are_samples(take_in, tmp_path):
    rows = [{"id": item.id, "said": word} for word in ("yes", "no", "yes") for item in items()]
    file = write(tmp_path / "a.csv", rows)
    command = [file, *ITEMS, "map=id:id,answer:said", "name=m", *WHOSE]
    assert "more than samples=1 rows" in take_in(*command)[2]
    assert "fewer than samples=4 rows" in take_in(*command, "samples=4")[2]
    assert take_in(*command, "samples=3")[0] == 0
    (folder,) = take_in.runs()
    run = load(folder)
    assert run.samples == 3 and run.result.overall.items == 8
    assert run.result.overall.confusion.get("fp", 0) + run.result.overall.confusion.get("tp", 0) == 8
    assert list(problems_of(folder)) == []


def test_a_call_that_failed_there_is_a_failure_and_final(take_in, tmp_path):
    log = json.loads((LOGS / "inspect.json").read_text())
    log["samples"][0] |= {"output": {"model": "m", "choices": []}, "error": {"message": "boom"}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert take_in(path, "form=inspect", *ITEMS, "prompt=plain", "name=m", *WHOSE)[0] == 0
    (folder,) = take_in.runs()
    run = load(folder)
    assert run.result.failures == {"recorded_failure": 1} and run.sound
    assert list(problems_of(folder)) == []


def test_a_reply_that_was_withheld_is_no_answer_as_in_a_run(take_in, tmp_path):
    ends = ["stop", "content_filter", "length", "stop", "refusal", "stop", "stop", "stop"]
    rows = [{"id": item.id, "reply": "Yes", "why": end} for item, end in zip(items(), ends, strict=True)]
    file = write(tmp_path / "a.jsonl", rows)
    take_in(file, *ITEMS, "prompt=plain", "map=id:id,reply:reply,finish_reason:why", "name=m", *WHOSE)
    run = load(*take_in.runs())
    withheld = [record.outcome.kind for record in run.records() if isinstance(record.outcome, Failure)]
    assert withheld == ["content_filter"] * 2 and run.result.overall.failed == 2


def test_choices_by_letter_or_in_words(take_in, tmp_path):
    questions = tmp_path / "q.csv"
    questions.write_text(
        "id,question,choices,label\n" + "".join(f"q{k},Which {k}?,red|green,{k % 2}\n" for k in range(4))
    )
    rows = [{"id": f"q{k}", "said": word} for k, word in enumerate(["A", "green", "Red", "b"])]
    task = ["task=questions", f"task.path={questions}"]
    command = ["map=id:id,answer:said", "name=m", *WHOSE]
    assert take_in(write(tmp_path / "a.csv", rows), *task, *command)[0] == 0
    (folder,) = take_in.runs()
    assert [*answers(load(folder)).values()] == [0, 1, 0, 1]
    with pytest.raises(UntrustedError, match=re.escape(f"add trust={shlex.quote(str(questions))} to the command")):
        list(problems_of(folder))
    assert list(problems_of(folder, trust=[str(questions)])) == []
    rows[2]["said"] = "blue"
    code, _, err = take_in(write(tmp_path / "b.csv", rows), *task, *command, "name=n")
    assert code == 1 and "row 3 has the answer 'blue'" in err


@pytest.mark.parametrize(
    ("content", "more", "word"),
    few(
        [
            ("id,said\nn6-x,yes\n", [], "is it the right task="),
            ("id,said\n", [], "no rows"),
            ("id,said\nx,maybe\n", ["match=order"], "row 1 has the answer 'maybe'"),
            ("id,said\nx,yes\n", ["map=id:nr,answer:said"], "no column 'nr'"),
            ("id,said\nx,yes\n", ["map=id:id"], "reply:COLUMN"),
            ("id,said\nx,yes\n", ["map=answer:said"], "map=id:COLUMN"),
            ("id,said\nx,yes\n", ["map=id:id,answer:said,colour:said"], "colour"),
            ("id,said\nx,yes\n", ["prompt=plain"], "leave it out"),
            ("id,said\nx,yes\n", ["model=always_no"], "model"),
            ("id,said\nx,yes\n", ["by="], "by="),
            ("id,said\n" + "x,yes\n" * 9, ["match=order"], "samples=1 rows"),
            ("id,said,out\nx,yes,1e99\n", ["map=id:id,answer:said,output_tokens:out"], "whole number"),
        ],
        5,
    ),
)
def test_what_cannot_be_a_run_is_refused_in_a_sentence(take_in, tmp_path, content, more, word):
    (tmp_path / "a.csv").write_text(content)
    code, _, err = take_in(tmp_path / "a.csv", *ITEMS, "map=id:id,answer:said", "name=m", *WHOSE, *more)
    assert code == 1 and word in err and not take_in.runs()


@pytest.mark.slow
def test_other_rows_do_not_take_the_place_of_a_run(take_in, tmp_path):
    command = [*ITEMS, "map=id:id,answer:said", "name=m", *WHOSE]
    rows = [{"id": item.id, "said": "yes"} for item in items()]
    take_in(write(tmp_path / "a.csv", rows), *command)
    assert take_in(write(tmp_path / "a.csv", rows), *command)[0] == 0
    rows[0]["said"] = "no"
    code, _, err = take_in(write(tmp_path / "a.csv", rows), *command)
    assert code == 1 and "remove the folder" in err


@pytest.mark.slow
def test_a_sample_larger_than_any_is_refused_unread(take_in, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/a_epoch_1.json", b" " * ((1 << 26) + 10))
    code, _, err = take_in(tmp_path / "x.eval", *ITEMS, "prompt=plain", "name=m", *WHOSE)
    assert code == 1 and "larger than 64 MB" in err
    (tmp_path / "y.eval").write_bytes(b"no zip")
    assert "no log of Inspect" in take_in(tmp_path / "y.eval", *ITEMS, "prompt=plain", "name=m", *WHOSE)[2]
