"""Every command, a line each.

`harness NAME …` and `python -m harness NAME …` are the same, and `python -m harness.NAME …` for the core's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from harness import plugin
from harness.config_files import CONFIGS, listed
from harness.errors import ConfigError, unknown

RUN = "run"
COMMANDS = {
    RUN: "ask a model, record and score its answers; the word may be left out",
    "leaderboard": "tables of runs: of everything below results/, or of what you choose, also as LaTeX",
    "compare": "two runs or more item by item: difference, interval, tests",
    "show": "a run's answers, ten at a time: show RUN wrong",
    "report": "one page for people: scores, charts, and the answers behind them",
    "verify": "every score made again from its records, every digest checked",
    "reread": "stored replies read again by today's rules, no model asked",
    "export": "for other programs: csv, parquet, inspect",
    "plot": "figures for a paper: PDF, SVG, PNG",
    "import": "answers that others have recorded, as runs",
    "cache": "the stored answers: stats, export, import, prune, verify",
    "items": "the items of a task as JSON lines, for your own tools",
}
"""What each of the core's commands does. Its module is harness.NAME, with a function `main`."""
_LISTS = ("models", "tasks", "prompts")


def summaries() -> dict[str, str]:
    """Return what every command does, those of plug-ins after the core's own."""
    return COMMANDS | {name: command.summary for name, command in plugin.commands().items() if name not in COMMANDS}


def command_and_arguments(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that a command line names (run by default), and the remaining arguments.

    `help NAME` and `--help NAME` are `NAME --help`, and `--help models` and `list models` are `--help model=`. Raises
    ConfigError for a word that is no command.
    """
    rest = list(arguments)
    asks_for_help = rest[:1] in (["help"], ["--help"], ["-h"], ["list"])
    if asks_for_help:
        del rest[0]
        rest[:1] = [f"{word[:-1]}=" if word in _LISTS else word for word in rest[:1]]
    is_run = not rest or rest[0].startswith(("-", "~", "+")) or "=" in rest[0]
    name = RUN if is_run else rest.pop(0)
    if name not in COMMANDS and name not in plugin.commands():
        raise ConfigError(_unknown(name, rest))
    return name, [*(["--help"] if asks_for_help else []), *rest]


def module_of(name: str) -> ModuleType:
    """Return the module of a command; its `main` returns the exit code or exits with it."""
    if name not in COMMANDS:
        return import_module(plugin.commands()[name].module)
    name = "recorded" if name == "import" else name  # which is a word of Python's
    spec = find_spec(f"harness.{name}")
    package = spec is not None and spec.submodule_search_locations is not None
    return import_module(f"harness.{name}.__main__" if package else f"harness.{name}")


def _unknown(name: str, following: Sequence[str]) -> str:
    """Return the error for a first word that is not a command, with a hint if it is the value of a setting."""
    if following[:1] == ["="]:
        value = following[1] if len(following) > 1 else "…"
        return f"there is no command {name!r}: a setting is written without spaces, {name}={value}."
    if name == "version":
        return f"there is no command {name!r}: write harness --version."
    for group in ("model", "task"):
        if name in listed(CONFIGS, group):
            return f"there is no command {name!r}: to choose the {group} of that name write {group}={name}."
    names = [*summaries()]
    return unknown("command", name, names, key=names.index)
