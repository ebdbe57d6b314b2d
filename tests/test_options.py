"""The small commands' way from a command line to what is printed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from harness.cli import key_value
from harness.runtime.signals import INTERRUPTED
from harness.verify import __main__ as verify


@dataclass(frozen=True)
class Nothing:
    """No setting."""


@pytest.mark.parametrize(
    ("words", "said"), [((), "interrupted.\n"), (("nothing was written.",), "nothing was written.\n")]
)
def test_ctrl_c_is_one_sentence(words, said, capsys):
    def job(given, settings):
        raise KeyboardInterrupt(*words)

    assert key_value.command("help", Nothing, job, []) == INTERRUPTED
    assert capsys.readouterr() == ("", said)


def test_ctrl_c_while_results_are_verified_is_one_sentence(tmp_path, monkeypatch, capsys):
    def interrupted(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify.runs, "find", interrupted)
    assert verify.main([str(tmp_path)]) == INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted.\n")
