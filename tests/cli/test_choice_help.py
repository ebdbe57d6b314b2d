"""`--help model=gpt4` and its kind: the settings of a choice, with values and comments; and what cannot be read."""

from __future__ import annotations

import re

import pytest

from harness.cli import help_text
from harness.cli.setting_lines import settings_of
from harness.config_files import CONFIGS, listed
from harness.errors import ConfigError

SEED = "auto: 0 where the server is known to understand one (harness/data/model_families.yaml); null: none"


def no_task(name):
    raise ConfigError("task.path has to be given")


def line_of(text: str, beginning: str) -> str:
    (line,) = (line.strip() for line in text.splitlines() if line.strip().startswith(beginning))
    return " ".join(line.split())


def test_a_models_settings_have_its_values_and_the_comments_of_what_it_builds_on():
    text = help_text.help_of_choices([("model", "gpt4")], no_task)
    assert line_of(text, "model.seed=") == f"model.seed=auto {SEED}"
    assert line_of(text, "model.constrain=").startswith("model.constrain=tool how the server is asked")
    assert line_of(text, "tool: a call of a tool") and line_of(text, "gpt4: it came before response_format")
    assert line_of(text, "model.price.cached_input=") == "model.price.cached_input=null null: as input"
    assert "which begins with model=openai" in text


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.slow)])  # a tenth of a second each
def test_every_choice_has_a_help_with_all_settings_of_its_file(step):
    for group in ("model", "task", "cache", "algorithm"):
        for name in [*listed(CONFIGS, group)][::step]:
            text = help_text.help_of_choices([(group, name)], no_task)
            for setting in settings_of(group, name):
                assert f"{group}.{setting.name}" in text, (group, name)


def test_a_file_of_ones_own_is_followed_through_its_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs/model").mkdir(parents=True)
    (tmp_path / "configs/model/mine.yaml").write_text(
        "# Mine\ndefaults:\n  - gpt4\n  - _self_\nmodel: m  # 'quoted' # twice\nseed: null\nextra: {a: [1, 2]}\n"
    )
    text = help_text.help_of_choices([("model", "mine"), ("judge", "mine")], no_task)
    assert text.startswith("model=mine  Mine\n")
    assert line_of(text, "model.model=") == "model.model=m the name that the server knows"
    assert line_of(text, "model.seed=") == f"model.seed=null {SEED}"
    assert line_of(text, "model.extra=").startswith("model.extra={a: [1, 2]} further parameters")
    assert line_of(text, "judge.seed=").startswith("judge.seed=null")


def test_a_tasks_help_has_its_prompts_and_the_fields_that_they_may_name(harness):
    text = harness("--help", "task=corr2cause", "task.relations=[collider]").stdout
    assert line_of(text, "{premise}").startswith("{premise} Suppose there is a closed system")
    assert line_of(text, "{relation}") == "{relation} collider"
    assert line_of(text, "cot ") == "cot Chain of thought in one call"
    assert line_of(text, "task.labels=").startswith("task.labels=null published | audited")
    assert "they depend on its settings: task.path" in help_text.help_of_choices([("task", "corr2cause")], no_task)


def test_a_prompts_help_shows_its_words_and_what_a_file_may_hold():
    text = help_text.help_of_choices([("prompt", "cot")], no_task)
    assert "  max_tokens: 1024\n" in text and "Let's think step by step." in text
    assert line_of(text, "opening_reply").startswith("opening_reply: null What the assistant is made to have said")
    assert line_of(text, "max_tokens: 16")
    with pytest.raises(ConfigError, match=r"no prompt of task=corr2cause 'ct' \(did you mean 'cot'"):
        help_text.help_of_choices([("prompt", "ct"), ("task", "corr2cause")], no_task)


@pytest.mark.parametrize(("group", "name", "near"), [("model", "gtp4", "gpt4"), ("cache", "frozn", "frozen")])
def test_a_choice_that_is_not_there_is_one_sentence(group, name, near):
    with pytest.raises(ConfigError, match=f"there is no {group} '{name}' .did you mean '{near}'") as refused:
        help_text.help_of_choices([(group, name)], no_task)
    three = re.search(r"The nearest of \d+ are \w+, \w+, \w+\. --help models lists all", str(refused.value))
    assert len(str(refused.value)) < 250 and bool(three) == (group == "model")


def test_help_of_a_group_that_is_not_there_is_one_sentence():
    for arguments in (["modle=gpt4"], ["task.limit=5", "modle=gpt4"]):
        with pytest.raises(ConfigError, match=r"^--help: there is no group 'modle' \(did you mean 'model'"):
            help_text.refuse_other_groups(arguments, ["model", "task"], "config")
    help_text.refuse_other_groups(["--help", "model.name=x", "samples=3", "budget.usd=1"], ["model", "task"], "config")


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
    assert line_of(text, "ragged ").startswith("ragged (cannot be read: it is not YAML")
    # The model, and the prompt in the list of each task of its family.
    tasks = [task for task in listed(CONFIGS, "task", own=False) if task.partition("/")[0] == "corr2cause"]
    assert text.count("latin  ") == text.count("(cannot be read: it is not UTF-8)") == 1 + len(tasks)
    assert (
        "folder        (cannot be read: Is a directory)" in text and "torn.yaml cannot be read: it is not YAML" in text
    )
    assert "word.yaml cannot be read: it holds no settings" in text and "task.perturbation=none" in text
    for group, name in (("model", "latin"), ("task", "torn"), ("prompt", "latin")):
        with pytest.raises(ConfigError, match=r"\.yaml cannot be read: it is not"):
            help_text.help_of_choices([(group, name)], no_task)
