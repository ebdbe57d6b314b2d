"""`from harness import questions`: what other programs ask and score with, against what a run of this project says."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import asdict
from itertools import islice

import pytest

from harness import questions
from harness.api import evaluate
from harness.errors import ConfigError
from harness.storage.records import read
from harness.tasks.corr2cause.fresh.task import Fresh
from harness.tasks.question import Question, summarize
from harness.types import Response

PROGRAM = """
import json, sys, time
from harness import questions
for task, settings in json.loads(sys.argv[1]):
    question = next(iter(questions(task, **settings)))
    question.score("Yes", "stop"), question.score("", "length")
tops = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(json.dumps([sorted(name for name in tops if not name.startswith("_")), time.process_time()]))
"""
LIGHT = {"annotated_types", "harness", "msgspec", "numpy", "pydantic", "pydantic_core", "typing_extensions",
         "typing_inspection",
         "yaml", "cython_runtime"}  # fmt: skip


def light_imports(*tasks: tuple[str, dict]) -> tuple[set[str], float]:
    """Return the packages that are imported when a question of each task has been scored, and the processor time."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(tasks)]
    names, seconds = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return set(names), seconds


def test_a_question_needs_msgspec_pydantic_yaml_and_numpy_and_no_more_than_a_moment():
    names, seconds = light_imports(("corr2cause", {"limit": 3}))
    assert names <= LIGHT - {"numpy"}
    assert seconds < 3, "processor time, of which a third of a second is usual"


@pytest.mark.slow
def test_no_task_that_ships_needs_more():
    tasks = [("corr2cause/fresh", {"num_nodes": [5], "limit": 3}), ("corr2cause/pairs", {}), ("cladder", {"limit": 3}),
             ("causalbench/causality", {"limit": 3}), ("causalbench/cot", {})]  # fmt: skip
    assert light_imports(*tasks)[0] <= LIGHT


def test_a_question_says_what_a_run_would_ask_and_holds_the_right_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = evaluate("always_yes", "corr2cause", limit=40, prompt="cot", perturbation="permutation", cache="off")
    asked = {record.item: record for record in read(run.folder / "records.jsonl")}
    made = list(questions("corr2cause", "cot", limit=40, perturbation="permutation"))
    assert [question.id for question in made] == list(asked)
    for question in made:
        record = asked[question.id]
        assert (question.metadata["cluster"], question.metadata["labels"]) == (record.cluster, record.labels)
        assert question.metadata["relation"] == record.groups["relation"]
        assert question.answer == ("No", "Yes")[record.labels["published"]]
        assert (
            question.text.startswith("Question: ") and "step by step" in question.text and question.max_tokens == 1024
        )
    assert {question.answer for question in made} == {"Yes", "No"}


def test_the_scores_are_those_of_a_run_of_the_same_replies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = evaluate("random_uniform", "corr2cause", limit=60, cache="off")
    replies = {record.item: record.outcome for record in read(run.folder / "records.jsonl")}
    rows = []
    for question in questions("corr2cause", limit=60):
        outcome = replies[question.id]
        assert isinstance(outcome, Response)
        rows.append((question.metadata, question.score(outcome.text, outcome.finish_reason)))
    assert summarize(rows).scores == run.result.scores


def test_what_cannot_be_read_is_told_apart():
    question = next(iter(questions("corr2cause", "cot", limit=1)))
    assert question.score("Let us see. Answer: Yes").answer == "Yes"
    assert [question.score(*reply).reason for reply in (
        ("It is hard to tell.",), ("A and B correlate, so", "length"), ("A and B correlate, so", "max_tokens"),
        ("<think>It could be", "stop"), ("Yes", "content_filter"), (None, "refusal"), ("", None),
    )] == ["unreadable", "cut off", "cut off", "cut off", "refused", "refused", "unreadable"]  # fmt: skip
    assert not any(question.score(text).correct for text in ("", "Well."))
    correct = [question.score(f"Answer: {word}").correct for word in ("Yes", "No")]
    assert correct == [question.answer == "Yes", question.answer == "No"]


def test_an_unreadable_reply_scores_as_the_task_says():
    scored = [(q.answer, q.score("Well.").correct) for q in questions("corr2cause", limit=30, unreadable="no")]
    assert {("No", True), ("Yes", False)} == set(scored)


def test_a_question_travels_as_json_and_is_scored_elsewhere():
    question = next(iter(questions("cladder", limit=1)))
    for copy in (Question(**json.loads(json.dumps(asdict(question)))), pickle.loads(pickle.dumps(question))):
        assert copy == question
        assert copy.score(f"{question.answer}.").correct


def test_choices_of_a_question_of_ones_own(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("question,choices,label\nWhat melts ice?,heat|cold|salt water,heat\nWhat falls?,rain|sun|fog,0\n")
    first, *_ = questions("questions", path=str(file))
    assert (first.answer, first.choices, first.metadata["label"]) == ("A", ["A", "B", "C"], 0)
    assert first.score("A").correct and first.score("heat").correct and first.score("B").answer == "B"
    assert not first.score("B").correct


def test_fresh_questions_never_end_and_never_come_twice(monkeypatch):
    items = Fresh.items
    monkeypatch.setattr(Fresh, "items", lambda self: islice(items(self), 12))  # as if there were no more premises
    made = list(islice(questions("corr2cause/fresh", num_nodes=[5]), 40))
    assert len({question.id for question in made}) == len({question.text for question in made}) == 40
    assert len(list(questions("corr2cause/fresh", num_nodes=[5], limit=12))) == 12


@pytest.mark.parametrize(
    ("arguments", "settings", "sentence"),
    [
        (("corr2cuase",), {}, "corr2cause"),
        (("corr2cause", "plian"), {}, "plain"),
        (("corr2cause",), {"perturbatoin": "none"}, "task.perturbation"),
        (("corr2cause", "pair"), {}, "with it a model writes nothing"),
        (
            ("causalbench/causality", "closed"),
            {"format": "data", "networks": ["asia"]},
            "its opening is a conversation",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_question(arguments, settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        questions(*arguments, **settings)


def test_a_file_of_the_working_directory_takes_no_place_of_one_that_ships(tmp_path, monkeypatch):
    folder = tmp_path / "configs" / "task"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("defaults: [corr2cause, _self_]\nname: mine\nprompts: [plain]\nlimit: 7\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="prompt"):  # it has a name of its own, and no prompts of that name
        questions("mine")
    (folder / "mine.yaml").write_text("defaults: [corr2cause, _self_]\nlimit: 7\n")
    assert len(list(questions("mine"))) == 7
