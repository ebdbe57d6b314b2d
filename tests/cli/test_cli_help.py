"""What --help says."""

from __future__ import annotations

from harness.cli.commands import summaries
from harness.export import targets


def test_help_names_every_command_and_every_target_of_the_export(harness):
    help = harness("--help").stdout
    assert not [name for name in summaries() if f"\n  {name} " not in help]
    (line,) = (line for line in help.splitlines() if line.startswith("  export "))
    assert all(target in line for target in targets())


def test_help_shows_what_there_is(harness):
    process = harness("--help")
    assert process.returncode == 0, process.stderr
    for name in (
        "roberta_mnli",
        "reasoner",
        "cot_two_step",
        "corr2cause",
        "task.perturbation",
        "cache.path",
        "refresh",
    ):
        assert name in process.stdout


def test_help_lists_the_prompts_of_a_family_with_each_of_its_tasks(harness):
    prompts = harness("--help").stdout.partition("prompt=  (task causalbench/causality)")[2]
    assert all(f"\n  {name}" in prompts.partition("\n\n")[0] for name in ("closed", "open", "pair"))
