"""Questions of one's own through the commands that run and read them, with a server that answers."""

from __future__ import annotations

import json

import pytest
from question_files import written
from support.openai_server import chat_reply
from support.page_help import Page

ROWS = [
    {"premise": f"Event {k}.", "ask-for": ("cause", "effect")[k % 2], "label": k % 2}
    | {"hypothesis1": "It rained.", "hypothesis2": "It fell."}
    for k in range(8)
]  # fmt: skip
PLACE = "results/questions/mine/{}/cause_or_effect/{}"


@pytest.fixture
def ended(harness):
    """Runs a command that has to end well, and returns what it printed."""

    def call(*arguments: str, module: str = "harness") -> str:
        process = harness(*arguments, module=module)
        assert process.returncode == 0, process.stderr
        return process.stdout

    return call


@pytest.mark.slow
def test_choices_go_through_every_command(ended, key, serve, tmp_path):
    written(tmp_path / "mine.jsonl", ROWS)
    server = serve(lambda path, body, number: chat_reply("Well, the answer is **B**." if number % 3 else "Hm."))
    task = ("task=questions", "task.name=mine", "task.path=mine.jsonl")
    output = ended(*task, "model=gpt4", f"model.base_url={server.url}")
    assert "A choice drawn at random is right in 50.00% of them." in output and "choice: It fell." in output
    assert "could not be read and count" in output and len(server.calls) == 8
    assert "C or" not in server.calls[0]["messages"][-1]["content"]
    ended(*task, "model=random_uniform")
    again = ended(*task, "model=gpt4", f"model.base_url={server.url}")
    assert len(server.calls) == 8 and "8 answers came from the cache" in again
    (variant,) = (tmp_path / "results/questions/mine").iterdir()
    runs = [PLACE.format(variant.name, model) for model in ("gpt4", "random_uniform")]
    assert "2 of 2 runs hold" in ended("results", module="harness.verify")
    (table,) = json.loads(ended("results", "by=ask_for", "format=json", module="harness.leaderboard"))["tables"]
    assert {row["model"] for row in table["rows"]} == {"gpt4", "random_uniform"}
    compared = ended(*runs, module="harness.compare")
    assert ("| accuracy |" in compared and "| unreadable |" in compared.replace("  ", " ")) or "unreadable" in compared
    for to in ("csv", "inspect"):
        ended("results", f"to={to}", f"out=out/{to}", module="harness.export")
    ended("results", module="harness.report")
    page = Page(tmp_path / "report.html")
    items = page.chunk(page.runs[f"questions/mine/{variant.name}/cause_or_effect/gpt4"]["answers"]["items"])
    assert items["answers"] == ["It rained.", "It fell."] and items["labels"]["gold"] == [0, 1] * 4


def test_several_answers_to_each_question_are_voted_on(ended, key, serve, tmp_path):
    written(tmp_path / "mine.jsonl", ROWS)
    server = serve(lambda path, body, number: chat_reply("AB"[number % 2]))
    task = ("task=questions", "task.path=mine.jsonl", "model=gpt4", "model.temperature=1", "samples=3")
    output = ended(*task, f"model.base_url={server.url}")
    assert "majority of 3 answers an item" in output and "accuracy" in output and "F1 –" not in output


def test_yes_and_no_with_a_dry_run_that_tells_of_a_prompt_that_forgets_the_question(ended, harness, tmp_path):
    written(tmp_path / "mine.csv", [{"question": f"Q{k // 4}?", "detail": f"d{k}", "label": k % 2} for k in range(8)])
    (tmp_path / "mine.yaml").write_text('source: mine\nmakes: [chat]\nuser: "{question}"\n', encoding="utf-8")
    arguments = ("task=questions", "task.path=mine.csv", "prompt=mine.yaml", "model=always_yes")
    plan = ended(*arguments, "dry_run=true")
    assert "2 distinct prompts for 8 items: items of one prompt share one answer (does the prompt" in plan
    assert "2 distinct prompts for 8 items" in ended(*arguments)
    refused = harness("task=questions", "task.path=mine.jsonl", "model=always_yes")
    assert refused.returncode == 1 and "mine.jsonl does not exist" in refused.stderr
    judged = harness("task=questions", "task.path=mine.csv", "task.choices=[yes,no]", "model=always_yes", "judge=gpt4")
    assert judged.returncode == 1 and "Traceback" not in judged.stderr
