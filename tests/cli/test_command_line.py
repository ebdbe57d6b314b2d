"""`harness NAME`, `python -m harness NAME` and `python -m harness.NAME` are one command, and there is one for each."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import harness as package
from harness.cli import commands
from harness.cli.arguments import quoting_hint, ready_for_hydra
from harness.errors import ConfigError

HOME = Path(package.__file__).parent
SCRIPT = ["-P", "-c", "import sys; from harness.__main__ import main; sys.exit(main())"]
"""What pip's script does: the working directory is not on its path."""


def test_every_command_is_in_the_table_and_in_its_document():
    packages = {path.parent.name for path in HOME.glob("*/__main__.py")}
    files = {path.stem for path in HOME.glob("*.py") if re.search(r"^def main\(", path.read_text(), re.MULTILINE)}
    assert packages | files | {"run"} == {"recorded" if name == "import" else name for name in commands.COMMANDS} | {
        "__main__"
    }
    document = (HOME.parent / "docs/commands.md").read_text()
    assert not [name for name in commands.summaries() if name != "run" and f"| `harness {name}" not in document]


@pytest.mark.parametrize(
    ("arguments", "name", "rest"),
    [
        ([], "run", []),
        (["model=gpt4", "task.limit=5"], "run", ["model=gpt4", "task.limit=5"]),
        (["run", "model=gpt4"], "run", ["model=gpt4"]),
        (["-m", "model=gpt4,gpt35"], "run", ["-m", "model=gpt4,gpt35"]),
        (["leaderboard", "results", "by=relation"], "leaderboard", ["results", "by=relation"]),
        (["--help"], "run", ["--help"]),
        (["--help", "model=gpt4"], "run", ["--help", "model=gpt4"]),
        (["--help", "compare"], "compare", ["--help"]),
        (["help", "cache"], "cache", ["--help"]),
        (["help"], "run", ["--help"]),
        (["list", "models"], "run", ["--help", "model="]),
        (["compare", "--help"], "compare", ["--help"]),
    ],
)
def test_the_first_word_chooses_the_command(arguments, name, rest):
    assert commands.command_and_arguments(arguments) == (name, rest)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("leaderbord", "there is no command 'leaderbord' (did you mean 'leaderboard'?). There are run, leaderboard,"),
        ("gpt4", "to choose the model of that name write model=gpt4"),
        ("corr2cause", "write task=corr2cause"),
        ("os", "there is no command 'os'"),
    ],
)
def test_a_word_that_is_no_command_is_one_sentence(word, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        commands.command_and_arguments([word, "results"])


def test_all_ways_to_call_a_command_are_the_same(harness, tmp_path):
    def script(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *SCRIPT, *arguments], cwd=tmp_path, capture_output=True, text=True)

    (tmp_path / "folk.py").write_text(
        "from harness.types import Answer\n\ndef sceptic(response):\n    return Answer(label=0, span='folk')\n"
    )
    (tmp_path / "mine.yaml").write_text('source: mine\nmakes: [chat]\nuser: "{premise}"\nparser: folk:sceptic\n')
    run, items = ["model=always_yes", "prompt=mine.yaml", "task.limit=3"], ["--model", "gpt4"]
    for ways in (
        [harness(*run), harness("run", *run), script("run", *run)],
        [harness("items", *items), harness(*items, module="harness.items"), script("items", *items)],
    ):
        assert len({(process.returncode, process.stdout, process.stderr) for process in ways}) == 1, ways


@pytest.mark.parametrize("module", ["harness", "harness.leaderboard", "harness.cache"])
def test_the_version_is_the_projects(harness, module):
    for arguments in (["--version"], ["results", "--version"]):
        assert harness(*arguments, module=module).stdout == f"harness {package.__version__}\n"
        if module == "harness":
            break


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "gpt4"], "there is no option --model: settings are key=value, model=… (--help lists them)"),
        (["model=gpt4", "--dry-run=true"], "settings are key=value, dry_run=true (--help lists them)"),
        (["model=gpt4", "leaderboard"], "leaderboard is a command, which comes first: harness leaderboard …"),
        (["model=gpt4", "gpt35"], "'gpt35' is no setting: write key=value, such as model=gpt35"),
    ],
)
def test_what_is_no_setting_is_a_sentence_that_says_how_it_is_one(arguments, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        ready_for_hydra(arguments, "config")


def test_hydras_own_flags_pass():
    for arguments in (["-m", "a=1"], ["--cfg", "job"], ["-c=job"], ["--info"], ["-i", "plugins"], ["-cn", "other"]):
        assert ready_for_hydra(arguments, "config") == arguments


@pytest.mark.parametrize(
    ("argument", "ready"),
    [
        ("task.path=my data.csv", "task.path=my data.csv"),
        ("task.path=é/数.csv", 'task.path="é/数.csv"'),  # Hydra knows no letters beside those of ASCII
        ("task.path=my (data).csv", 'task.path="my (data).csv"'),
        ("task.path=C:/my data;1.csv", 'task.path="C:/my data;1.csv"'),
        ("task.path='my data.csv'", "task.path='my data.csv'"),
        ("task.networks=[asia,cancer]", "task.networks=[asia,cancer]"),
        *((f"model.name={word}", f'model.name="{word}"') for word in ("1e5", "nan", "true", "1_000", "1.0", "-3")),
        *((f"model.name={word}",) * 2 for word in ("null", "007", "yes", "gpt-4", "a,b", "2026-01-01")),
        *((f"{name}=1e5", f'{name}="1e5"') for name in ("task.path", "prompt", "results", "cache.path")),
        ("model.temperature=1e5", "model.temperature=1e5"),
        ("task.limit=range(1, 4)", "task.limit=range(1, 4)"),
        ("model=a,b c", "model=a,b c"),
    ],
)
def test_a_text_needs_no_quotes_of_hydras(argument, ready):
    assert ready_for_hydra([argument], "config") == [ready]


def test_what_hydra_cannot_read_says_where_the_quotes_go():
    assert quoting_hint(["model=gpt4", "task.path=a, b'c.csv"]).endswith("""'task.path="a, b'"'"'c.csv"'.""")


def test_the_shell_completes_by_hydra(harness):
    line = "harness model=gpt4o_"
    process = harness("-sc", "query=bash", COMP_LINE=line, COMP_POINT=str(len(line)))
    assert "model=gpt4o_mini" in process.stdout.split(), process.stderr
