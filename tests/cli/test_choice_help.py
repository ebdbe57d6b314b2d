"""`--help model=gpt4` and its kind: the file of a choice and those it builds on; and what cannot be read."""

from __future__ import annotations

import re

import pytest

from harness.cli import help_text
from harness.config_files import CONFIGS, listed
from harness.errors import ConfigError


def line_of(text: str, beginning: str) -> str:
    (line,) = (line.strip() for line in text.splitlines() if line.strip().startswith(beginning))
    return " ".join(line.split())


def test_every_choice_has_a_help_with_its_file_and_those_that_it_builds_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs/model").mkdir(parents=True)
    (tmp_path / "configs/model/mine.yaml").write_text("# Mine\ndefaults: [gpt4, _self_]\nmodel: m  # theirs\n")
    text = help_text.help_of_choices([("model", "mine")])
    assert text.index("  model: m  # theirs") < text.index("  model: gpt-4") < text.index("  seed: auto ")
    for group in ("model", "task", "cache"):
        for name, file in listed(CONFIGS, group).items():
            assert str(file) in help_text.help_of_choices([(group, name)])


def test_a_tasks_help_has_its_prompts_and_a_prompts_help_its_words(harness):
    text = harness("--help", "task=corr2cause").stdout
    assert line_of(text, "cot ") == "cot Chain of thought in one call" and "  perturbation: none" in text
    text = help_text.help_of_choices([("prompt", "cot")])
    assert "  max_tokens: 1024\n" in text and "Let's think step by step." in text
    with pytest.raises(ConfigError, match=r"no prompt of task=corr2cause 'ct' \(did you mean 'cot'"):
        help_text.help_of_choices([("prompt", "ct"), ("task", "corr2cause")])


@pytest.mark.parametrize(("group", "name", "near"), [("model", "gtp4", "gpt4"), ("cache", "frozn", "frozen")])
def test_a_choice_that_is_not_there_is_one_sentence(group, name, near):
    with pytest.raises(ConfigError, match=f"there is no {group} '{name}' .did you mean '{near}'") as refused:
        help_text.help_of_choices([(group, name)])
    three = re.search(r"The nearest are \w+, \w+, \w+; harness --help models lists all \d+", str(refused.value))
    assert len(str(refused.value)) < 250 and bool(three) == (group == "model")


def test_help_of_a_group_that_is_not_there_is_one_sentence():
    for arguments in (["modle=gpt4"], ["task.limit=5", "modle=gpt4"]):
        with pytest.raises(ConfigError, match=r"^--help: there is no group 'modle' \(did you mean 'model'"):
            help_text.help_for("config", arguments)
    assert "settings of a run" in help_text.help_for("config", ["--help", "model.name=x", "samples=3", "budget.usd=1"])


def test_a_file_that_cannot_be_read_is_listed_as_such_and_the_rest_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place, content in (
        ("prompts/corr2cause/latin.yaml", b"# caf\xe9\n"),
        ("configs/model/latin.yaml", b"# caf\xe9\n"),
        ("configs/model/ragged.yaml", b"# Ragged\na: [\n"),
        ("configs/task/torn.yaml", b"# Torn\nname: [\n"),
        ("configs/task/word.yaml", b"word"),
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(content)
    (tmp_path / "prompts/corr2cause/folder.yaml").mkdir()
    text = "\n".join(map(help_text.help_of_group, ("model", "task", "prompt")))
    assert line_of(text, "ragged ").startswith("ragged (") and "ragged.yaml is not YAML" in text
    # The model, and the prompt in the list of each task of its family.
    tasks = [task for task in listed(CONFIGS, "task", own=False) if task.partition("/")[0] == "corr2cause"]
    assert text.count("latin  ") == text.count("latin.yaml is not UTF-8)") == 1 + len(tasks)
    assert (
        "folder.yaml cannot be read: Is a directory)" in text
        and line_of(text, "torn ").endswith(")")
        and "torn.yaml is not YAML" in text
    )
    assert line_of(text, "word ").endswith("word.yaml holds no settings: write `name: value`, one a line)")
    for group, name in (("model", "latin"), ("task", "torn"), ("prompt", "latin")):
        with pytest.raises(ConfigError, match=r"\.yaml is not"):
            help_text.help_of_choices([(group, name)])
