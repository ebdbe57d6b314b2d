"""harness bridges NAME: the path that another framework takes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.cli import key_value
from harness.cli.key_value import Choice
from harness.errors import ConfigError

_HERE = Path(__file__).parent
PATHS = {
    "lm-eval": _HERE / "lm_eval",
    "verifiers": _HERE / "environment",
    "nemo": _HERE / "nemo.py",
    "inspect-register": _HERE / "register" / "eval.yaml",
}

HELP = """\
Print where another framework finds the questions of this project (docs/bridges.md).

  harness bridges lm-eval            lm_eval run --include_path "$(harness bridges lm-eval)" --tasks corr2cause_audited
  harness bridges nemo               nel eval run --bench "$(harness bridges nemo)"
  harness bridges inspect-register   the eval.yaml for the register of Inspect Evals

Inspect finds them by itself, inspect eval harness/corr2cause; verifiers by vf-eval harness.plugins.bridges.taskset.
"""


@dataclass(frozen=True)
class BridgeSettings:
    """The command has none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the command and return the exit code."""
    choices = {name: Choice(BridgeSettings, partial(_print, path)) for name, path in PATHS.items()}
    return key_value.commands(HELP, choices, arguments)


def _print(path: Path, arguments: list[str], settings: BridgeSettings) -> int:
    if arguments:
        raise ConfigError(f"{' '.join(arguments)}: the path is all that there is to ask for.")
    print(path)  # whole, however narrow a terminal is
    return 0


if __name__ == "__main__":
    sys.exit(main())
