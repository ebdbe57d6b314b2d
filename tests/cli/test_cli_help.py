"""What --help says."""

from __future__ import annotations

from harness.cli import help_text
from harness.cli.commands import command_and_arguments, summaries
from harness.cli.setting_lines import models_by_kind
from harness.config_files import CONFIGS, listed
from harness.export import TARGETS


def test_help_is_a_screen_with_every_command_and_every_setting_of_a_run(harness):
    process = harness("--help")
    assert process.returncode == 0 and len(process.stdout.splitlines()) <= 60, process.stderr
    assert not [name for name in summaries() if f"\n  {name} " not in process.stdout]
    (line,) = (line for line in process.stdout.splitlines() if line.startswith("  export "))
    assert all(target in line for target in TARGETS)
    assert all(f"\n  {setting}" in process.stdout for setting in ("prompt: null", "  usd: null", "refresh"))


def test_what_there_is_to_choose_is_a_list_of_its_own():
    for group in ("model", "task", "cache", "judge"):
        text = help_text.help_of_group(group)
        assert not [name for name in listed(CONFIGS, group) if f"\n  {name} " not in text], group
    prompts = help_text.help_of_group("prompt").partition("prompt=  (task causalbench/causality)")[2]
    assert all(f"\n  {name}" in prompts.partition("\n\n")[0] for name in ("closed", "open", "pair"))


def test_a_list_is_asked_for_by_its_word_or_by_its_group(harness):
    assert command_and_arguments(["--help", "models"]) == ("run", ["--help", "model="])
    assert (
        harness("--help", "tasks").stdout == harness("task=", "--help").stdout == help_text.help_of_group("task") + "\n"
    )


def test_every_model_is_in_one_group(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "configs" / "model" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("# Mine\ndefaults: [mine, _self_]\nname: mine\n")
    files = listed(CONFIGS, "model")
    groups = models_by_kind(files)
    assert sorted(name for _, members in groups for name in members) == sorted(files)
    place = {name: number for number, (_, members) in enumerate(groups) for name in members}
    assert [place[name] for name in ("mine", "claude", "llama_3_1_8b", "reasoner")] == list(range(len(groups)))
    for same in (["claude", "gpt4", "azure", "ollama"], ["causal_lm", "vllm"], ["reasoner", "shortcut", "always_no"]):
        assert len({place[name] for name in same}) == 1
