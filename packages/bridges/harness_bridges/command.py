"""harness bridges NAME: the path that another framework takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.cli import key_value
from harness.errors import ConfigError, unknown

PATHS = {"lm-eval": Path(__file__).parent / "lm_eval", "verifiers": Path(__file__).parent / "environment"}
HELP = """\
Print where another framework finds the questions of this project.

  harness bridges lm-eval     lm_eval run --include_path "$(harness bridges lm-eval)" --tasks corr2cause_audited
  harness bridges verifiers   pip install "$(harness bridges verifiers)", then vf-eval corr2cause-fresh

Inspect finds them by itself: inspect eval harness/corr2cause.
"""


@dataclass(frozen=True)
class NoSettings:
    """The command has none."""


def main(arguments: list[str] | None = None) -> int:
    """Carry out the command and return the exit code."""
    return key_value.command(HELP, NoSettings, _print, arguments)


def _print(names: list[str], settings: NoSettings) -> int:
    if len(names) != 1 or names[0] not in PATHS:
        raise ConfigError(unknown("framework", " ".join(names), PATHS))
    print(PATHS[names[0]])  # whole, however narrow a terminal is
    return 0
