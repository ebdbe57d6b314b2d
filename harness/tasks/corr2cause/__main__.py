"""python -m harness.tasks.corr2cause stats"""

from __future__ import annotations

import argparse

from harness.tables import terminal
from harness.tasks.corr2cause import stats


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m harness.tasks.corr2cause", description="What Corr2Cause consists of."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("stats", help="Tables 1 and 3 of the paper, measured (some seconds)")
    parser.parse_args()
    terminal.show(stats.parts())


if __name__ == "__main__":
    main()
