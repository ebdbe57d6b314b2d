"""The small commands' way from a command line to what is printed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from harness.cache import __main__ as cache
from harness.cli import key_value
from harness.leaderboard import __main__ as leaderboard
from harness.runtime.signals import INTERRUPTED
from harness.verify import __main__ as verify


@dataclass(frozen=True)
class Nothing:
    """No setting."""


@pytest.mark.parametrize(
    ("words", "message"), [((), "interrupted.\n"), (("nothing was written.",), "nothing was written.\n")]
)
def test_ctrl_c_is_one_sentence(words, message, capsys):
    def job(names, settings):
        raise KeyboardInterrupt(*words)

    assert key_value.command("help", Nothing, job, []) == INTERRUPTED
    assert capsys.readouterr() == ("", message)


def test_ctrl_c_while_results_are_verified_is_one_sentence(tmp_path, monkeypatch, capsys):
    def interrupted(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify, "find", interrupted)
    assert verify.main([str(tmp_path)]) == INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted.\n")


@pytest.mark.parametrize(
    ("main", "arguments", "sentence"),
    [
        (
            leaderboard.main,
            ["--out=board.md"],
            "there is no option --out: settings are key=value, out=board.md (",
        ),
        (
            cache.main,
            ["prune", "--dry-run", "model=gpt4"],
            "--dry-run: settings are key=value, dry_run",
        ),
        (cache.main, ["stats", "model=gpt4"], "There is cache."),
        (cache.main, ["stats", "answers.sqlite"], "stats takes settings only, not 'answers.sqlite'"),
        (cache.main, ["prune", "yes"], "prune takes settings only, not 'yes'"),
        (cache.main, ["prune", "model=a", "yes=perhaps"], "yes=perhaps: "),
        (cache.main, ["export", "a", "b"], "export takes one file to write"),
        (cache.main, ["import"], "import takes other caches"),
        (cache.main, ["exprot", "a"], "there is no command 'exprot' (did you mean 'export'?)"),
        (
            cache.main,
            ["cache=a.sqlite", "stats"],
            "the first word says what to do: stats, export, import, prune, verify",
        ),
        (cache.main, ["--model", "gpt4"], "the first word says what to do"),
    ],
)
def test_what_is_written_in_another_way_is_one_sentence_that_says_how(
    main, arguments, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    output, error = capsys.readouterr()
    assert output == "" and error.startswith("error: ") and sentence in error and error.count("\n") == 1
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("main", "command"),
    [(cache.main, "harness cache"), (leaderboard.main, "harness leaderboard"), (verify.main, "harness verify")],
)
def test_help_is_printed_wherever_it_is_asked_for(main, command, capsys):
    for arguments in (["--help"], ["stats", "-h"], ["out=x", "--help"]):
        assert main(arguments) == 0
        help_text = capsys.readouterr().out
        assert f"\n  {command} " in help_text and "python -m" not in help_text


def test_ctrl_c_in_a_command_of_the_cache_says_what_is_kept(monkeypatch, capsys):
    def interrupted(path, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "Store", interrupted)
    assert cache.main(["stats"]) == INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted: what was stored so far is kept.\n")
