"""`harness import`: what other programs left, as runs of this one."""

from __future__ import annotations

import csv
import json
import sys

import pytest
from support.thinned import few

from harness.leaderboard.build import build as leaderboard
from harness.recorded.__main__ import main
from harness.report.items import items_of
from harness.settings import build
from harness.storage.runs import load
from harness.types import Failure
from harness.verify.run import problems_of

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
    assert run.recorded in "\n".join(leaderboard([run])[0].notes)


def test_verify_finds_what_was_changed_in_them(take_in, tmp_path):
    rows = [{"id": item.id, "said": "yes"} for item in items()]
    take_in(write(tmp_path / "a.csv", rows), *ITEMS, "map=id:id,answer:said", "name=m", *WHOSE)
    (folder,) = take_in.runs()
    text = (folder / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text(text.replace('"text": "Yes"', '"text": "No"', 1))
    problems = " ".join(problems_of(folder))
    assert "answer: label: 1 there, 0 from" in problems and "is not the file of which" in problems


def test_replies_are_read_here(take_in, tmp_path):
    texts = ["Answer: Yes", "The answer is no.", "Hm.", "No"]
    rows = [{"q": {"id": item.id}, "o": reply} for item, reply in zip(items(), texts, strict=False)]
    rows.append({"q": {"id": "who"}, "o": "Yes"})
    command = [write(tmp_path / "r.jsonl", rows), *ITEMS, "map=id:q.id,reply:o", "name=m", *WHOSE]
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
    assert list(items_of(run).json(None)["ids"]) == [item.id for item in items()][:4]


def test_several_answers_to_each_item_are_samples(take_in, tmp_path):
    rows = [{"id": item.id, "said": word} for word in ("Y", "no", "yes") for item in items()]
    command = [write(tmp_path / "a.csv", rows), *ITEMS, "map=id:id,answer:said", "name=m", *WHOSE]
    assert "other than samples=1 rows" in take_in(*command)[2]
    assert "other than samples=4 rows" in take_in(*command, "samples=4")[2]
    assert take_in(*command, "samples=3")[0] == 0
    (folder,) = take_in.runs()
    run = load(folder)
    assert run.samples == 3 and run.result.overall.items == 8
    assert run.result.overall.confusion.get("fp", 0) + run.result.overall.confusion.get("tp", 0) == 8
    assert list(problems_of(folder)) == []


def test_a_reply_that_was_withheld_is_no_answer_as_in_a_run(take_in, tmp_path):
    ends = ["stop", "content_filter", "length", "stop", "refusal", "stop", "stop", "stop"]
    rows = [{"id": item.id, "reply": "Yes", "why": end} for item, end in zip(items(), ends, strict=True)]
    source = ["map=id:id,reply:reply,finish_reason:why", "name=m", *WHOSE]
    take_in(write(tmp_path / "a.jsonl", rows), *ITEMS, "prompt=plain", *source)
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
    assert list(problems_of(folder)) == []
    rows[2]["said"] = "blue"
    code, _, err = take_in(write(tmp_path / "b.csv", rows), *task, *command, "name=n")
    assert code == 1 and "row 3 has the answer 'blue'" in err


@pytest.mark.parametrize(
    ("content", "more", "word"),
    few(
        [
            ("id,said\nn6-x,yes\n", [], "is it the right task="),
            ("id,said\n", [], "no rows"),
            ("id,said\n{id},maybe\n", [], "row 1 has the answer 'maybe'"),
            ("id,said\nx,yes\n", ["map=id:nr,answer:said"], "no column 'nr'"),
            ("id,said\nx,yes\n", ["map=id:id"], "reply:COLUMN"),
            ("id,said\nx,yes\n", ["map=answer:said"], "id:COLUMN"),
            ("id,said\nx,yes\n", ["map=id:id,answer:said,colour:said"], "colour"),
            ("id,said\nx,yes\n", ["prompt=plain"], "Of answers leave it out"),
            ("id,said\nx,yes\n", ["model=always_no"], "model"),
            ("id,said\nx,yes\n", ["by="], "by="),
            ("id,said\n" + "{id},yes\n" * 9, [], "samples=1 rows"),
            ("id,said,out\n{id},yes,1e99\n", ["map=id:id,answer:said,output_tokens:out"], "whole number"),
        ],
        5,
    ),
)
def test_what_cannot_be_a_run_is_refused_in_a_sentence(take_in, tmp_path, content, more, word):
    (tmp_path / "a.csv").write_text(content.replace("{id}", items()[0].id))
    code, _, err = take_in(tmp_path / "a.csv", *ITEMS, "map=id:id,answer:said", "name=m", *WHOSE, *more)
    assert code == 1 and word in err and not take_in.runs()
