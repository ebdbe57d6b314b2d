"""What docs/adding.md has, from its page: a benchmark from outside through every command, and a model."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from support.openai_server import chat_reply
from support.page_help import Page

TEXT = Path(__file__).resolve().parents[2].joinpath("docs", "adding.md").read_text(encoding="utf-8")
PAGE, _, AFTER = TEXT.partition("\n## A model\n")
MODEL = AFTER.partition("\n## ")[0]
BLOCKS = re.findall(r"`([\w/]+\.\w+)`[^`\n]*(?:`[^`\n]*`[^`\n]*)*:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
"""The files of the page: each name stands in the line before its block."""
OTHERS = re.compile(r"corr2cause|causalbench|bnlearn|jin et al|zhou et al|convention|data v2", re.IGNORECASE)
"""What only another benchmark's views say."""
ITEMS = 20


@pytest.fixture(autouse=True)
def put(tmp_path):
    """Write the files of the page to the directory."""
    for name, text in BLOCKS:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture
def ended(harness):
    """Runs a command that has to end well, and says nothing of another benchmark; what it printed."""

    def call(*arguments: str, module: str = "harness") -> str:
        process = harness(*arguments, module=module)
        assert process.returncode == 0, process.stderr
        assert not OTHERS.search(process.stdout), process.stdout
        return process.stdout

    return call


def exported(ended, tmp_path) -> Page:
    """Export the runs and make their page."""
    for to in ("csv", "inspect"):
        ended("results", f"to={to}", f"out=out/{to}", module="harness.export")
    ended("results", module="harness.report")
    return Page(tmp_path / "report.html")


def test_the_page_has_the_files_that_it_speaks_of():
    assert [name for name, _ in BLOCKS] == [
        "mine.csv", "prompts/questions/doctor.yaml",
        "arrows.py", "configs/task/arrows.yaml", "prompts/arrows/plain.yaml",
        "prompts/arrows/steps.yaml", "arrows_verdict.py",
    ]  # fmt: skip
    assert PAGE.count("```") == 2 * len(BLOCKS)


def test_a_file_of_questions_goes_through_every_command_without_python(ended, tmp_path):
    for file in tmp_path.rglob("*.py"):
        file.unlink()
    task = ("task=questions", "task.path=mine.csv", "task.name=mine")
    assert "topic: health" in ended(*task, "model=random_uniform")
    assert "You are a doctor. About health: Does smoking cause" in ended(
        *task, "prompt=doctor", "model=always_yes", "dry_run=true"
    )
    ended(*task, "prompt=doctor", "model=always_yes")
    ended(*task, "model=always_yes", "prompt=plain")
    assert "3 of 3 runs hold" in ended("results", module="harness.verify")
    assert "F1 health" in ended("results", "by=topic", "out=-", module="harness.leaderboard")
    (variant,) = (tmp_path / "results/questions/mine").iterdir()
    runs = [f"{variant}/plain/{model}" for model in ("random_uniform", "always_yes")]
    assert "6 items of questions/mine" in ended(*runs, module="harness.compare")
    page = exported(ended, tmp_path)
    items = page.chunk(page.runs[f"questions/mine/{variant.name}/plain/always_yes"]["answers"]["items"])
    assert items["words"][0] == "Does smoking cause lung cancer?" and "answers" not in items
    command = re.search(r"`(harness [^`]*task=questions[^`]*)`", PAGE)
    assert command and set(command[1].split()[2:]) == {"task.path=mine.csv", "model=random_uniform"}


def test_a_benchmark_of_a_folder_goes_through_every_command(ended, harness, tmp_path):
    for model in ("random_uniform", "always_yes"):
        assert f"{ITEMS} items in 3 clusters" in ended("task=arrows", f"model={model}")
    runs = [f"results/arrows/default/plain/{model}" for model in ("random_uniform", "always_yes")]
    (table,) = json.loads(ended("results", "format=json", module="harness.leaderboard"))["tables"]
    assert table["task"] == "arrows" and [row["model"] for row in table["rows"]] == ["always_yes", "random_uniform"]
    assert table["rows"][0]["recall"]["value"] == 1.0 and table["rows"][0]["accuracy"]["value"] == 0.5
    assert "|  F1 2 |" in ended("results", "by=length", "out=-", module="harness.leaderboard")
    assert f"{ITEMS} items" in ended(*runs, "by=length", module="harness.compare")
    verified = harness("results", module="harness.verify").stdout
    assert verified.count("NOT CHECKED") == 2 and "arrows.Arrows, which no installed package has" in verified
    page = exported(ended, tmp_path)
    assert (tmp_path / "out/csv").read_text(encoding="utf-8").count("Does A cause B?") == 2 * 3
    assert len(page.runs) == 2 and page.data["published"] == [] and not OTHERS.search(json.dumps(page.data))
    assert {chart["kind"] for chart in page.data["charts"]} == {"scores", "heat", "confusion"}
    assert [run["graphs"] for run in page.runs.values()] == [None, None]
    items = page.chunk(page.runs["arrows/default/plain/always_yes"]["answers"]["items"])
    assert "Does A cause B?" in items["words"][0] and len(items["ids"]) == ITEMS and items["classes"] is None
    # A run whose benchmark is nowhere is shown.
    for name in ("arrows.py", "configs/task/arrows.yaml"):
        (tmp_path / name).unlink()
    assert json.loads(ended("results", "format=json", module="harness.leaderboard"))["tables"] == [table]
    ended("results", module="harness.report")
    assert len(Page(tmp_path / "report.html").runs) == 2


def test_a_prompt_with_a_parser_of_its_own_reads_the_replies(ended, key, serve):
    server = serve(lambda path, body, number: chat_reply("A comes first.\nVerdict: Yes"))
    output = ended("task=arrows", "prompt=steps", "model=gpt4", f"model.base_url={server.url}", "task.longest=2")
    assert re.search(r"\| all +\| +66\.67 \| +50\.00 \| +100\.00 \| +50\.00 \|", output), output
    assert "reply could not be read" not in output and "replies could not be read" not in output
    assert [call["messages"][-1]["content"].splitlines()[0] for call in server.calls] == ["A causes B."] * 2


def test_a_model_of_a_folder_answers_as_its_rule_says_and_its_answers_are_stored(harness, tmp_path):
    parts = [part.partition("\n") for part in MODEL.split("```")[1::2]]
    blocks = {language: text for language, _, text in parts}
    tmp_path.joinpath("my_models.py").write_text(blocks["python"])
    config = tmp_path / "configs" / "model" / "keyword.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(blocks["yaml"])
    command, *arguments = shlex.split(blocks["console"])
    assert command == "harness"
    harness(*arguments)
    (file,) = tmp_path.rglob("records.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    texts = [("confounder" in line["request"]["messages"][0]["text"], line["response"]["text"]) for line in lines]
    assert len(texts) == 40 and {*texts} == {(True, "Yes"), (False, "No")}
    assert "40 answers came from the cache, 0 were asked now" in harness(*arguments, "model.window=1").stdout
    assert "from the cache" not in harness(*arguments, "model.phrase=collider", "model.name=other").stdout
