"""python -m harness.cache stats|export|import|prune|verify: what is in the cache, and moving it between machines."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from harness.errors import HarnessError

CACHE = Path(".cache/answers.sqlite")
"""As in configs/cache/on.yaml."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code."""
    from harness.cache import commands

    chosen = _parser().parse_args(arguments)
    try:
        return int(getattr(commands, chosen.does)(chosen))
    except HarnessError as error:
        from harness.runtime.console import clean

        print(f"error: {clean(str(error))}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("interrupted: what was stored so far is kept.", file=sys.stderr)
        return 130


class _Parser(argparse.ArgumentParser):
    """argparse, with the nearest name for a wrong one."""

    def error(self, message: str) -> NoReturn:
        given = message.partition("invalid choice: '")[2].partition("'")[0]
        near = difflib.get_close_matches(given, COMMANDS, n=1, cutoff=0.5)
        hint = f" (did you mean {near[0]}?)" if near else ""
        print(f"error: {message}{hint}. {self.prog} --help lists what there is.", file=sys.stderr)
        sys.exit(2)


COMMANDS = {
    "stats": ("stats", "what is in it, by model and task"),
    "export": ("export", "every answer as a JSON line, for another machine or for your own tools"),
    "import": ("import_", "take in what export wrote, or another cache, also a damaged one"),
    "prune": ("prune", "remove answers by model, identity, task or date; shows them first"),
    "verify": ("verify", "recompute every key and digest, read every answer, and run SQLite's own check"),
}
_EXAMPLES = """\
examples:
  python -m harness.cache stats
  python -m harness.cache export node1.jsonl                    on a compute node, then at home:
  python -m harness.cache import node1.jsonl node2.jsonl
  python -m harness.cache import backup/answers.sqlite --replace
  python -m harness.cache prune --model gpt4 --before 2026-01-31
  python -m harness.cache verify --cache shared/answers.sqlite

A line of an export: schema, key, model, task, stored, identity, request, response, digest. Its words stand in full
where they come first in the file, by sha256 after that.
"""


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m harness.cache",
        description="The cache of answers: every one that was paid for, in one SQLite file.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    made = {}
    for name, (does, what) in COMMANDS.items():
        made[name] = command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        command.set_defaults(does=does)
        command.add_argument("--cache", type=Path, default=CACHE, metavar="PATH", help=f"the file (default: {CACHE})")
    made["export"].add_argument("out", metavar="FILE", help="the file to write; - for standard output")
    made["import"].add_argument("files", metavar="FILE", nargs="+", type=Path, help="exported files or other caches")
    made["import"].add_argument(
        "--replace", action="store_true", help="where another answer is stored, take the imported one"
    )
    prune = made["prune"]
    prune.add_argument("--model", metavar="NAME", help="answers of the models of this name")
    prune.add_argument("--identity", metavar="DIGEST", help="answers of this identity, by the beginning of its digest")
    prune.add_argument("--task", metavar="NAME", help="answers that this task asked for first")
    prune.add_argument("--before", metavar="DATE", type=_date, help="answers stored before 2026-01-31 (or …T12:00:00)")
    prune.add_argument("--yes", action="store_true", help="remove them; without it they are only shown")
    return parser


def _date(text: str) -> float:
    """Seconds since 1970; in local time where no zone is given."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date: write it as 2026-01-31") from None


if __name__ == "__main__":
    sys.exit(main())
