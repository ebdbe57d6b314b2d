"""The process that carries out one piece of work, whichever engine has started it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import harness
from harness.cli.key_value import exit_code
from harness.engine import Work
from harness.plugin import load
from harness.runtime import signals, streams


def command(work: Work) -> Sequence[str]:
    """Return the command that carries out a piece of work, and ends in order when its standard input is closed."""
    # -P: no package is looked for in the working directory first, where anything may lie.
    arguments = [work.name, work.function, json.dumps(work.argument)]
    return [sys.executable, "-P", "-m", "harness.plugins.scale.child", *arguments]


def python_path() -> str:
    """Return the PYTHONPATH of a process that is to find this harness, installed or not."""
    home = str(Path(harness.__file__).resolve().parent.parent)
    return os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])


@contextmanager
def handed_on() -> Iterator[None]:
    """Set what the processes of submitit inherit, within the context."""
    before = dict(os.environ)
    os.environ.update(PYTHONPATH=python_path(), PYTHONSAFEPATH="1")
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
            os.environ.pop(name, None)
            os.environ |= {name: before[name]} if name in before else {}


class Requeueable:
    """A piece of work in the form in which submitit has it done again after its time limit."""

    def __call__(self, function: str, argument: Any) -> int:
        return int(load(function)(argument))

    def checkpoint(self, function: str, argument: Any) -> Any:
        """Return what is done when the task is begun again: the same, which finds its answers in the cache."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, function, argument)


def main() -> None:
    """Carry out the work that the command line describes."""
    streams.prepare()
    threading.Thread(target=_end_with_input, daemon=True).start()
    _, function, argument = sys.argv[1:]
    signals.leave(exit_code(lambda: Requeueable()(function, json.loads(argument)), interrupted=""))


def _end_with_input() -> None:
    """Wait for the end of standard input, then ask this process to end: who began it wants that, or is gone."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
