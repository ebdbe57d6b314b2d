"""Runs commands given as JSON on stdin, each in a fork, so that each has the streams that this process began with.

Its last argument is the file that gets their exit codes.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib import import_module
from pathlib import Path

from harness.plugin import CommandFinder

NEEDED = (
    "numpy",
    "hydra",
    "harness.leaderboard.__main__",
    "harness.plugins.compare.command",
    "harness.items",
    "harness.sweep",
)


def end_of(module: str, arguments: list[str]) -> int:
    """Return the exit code of a command."""
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.argv = [module, *arguments]
    sys.modules.pop(f"{module}.__main__", None)  # runpy warns of a module that was imported
    sys.modules.pop(module if module != "harness" else "", None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit("a command has ended without an exit code")


if __name__ == "__main__":
    sys.meta_path.append(CommandFinder())
    for name in NEEDED:
        import_module(name)
    lines = json.load(sys.stdin)
    codes = {name: end_of("harness" if name == "run" else f"harness.{name}", lines[name]) for name in lines}
    Path(sys.argv[-1]).write_text(json.dumps(codes))
