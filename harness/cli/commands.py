"""Every command, a line each, and what the shell completes of them.

`harness NAME …` and `python -m harness NAME …` are the same, and `python -m harness.NAME …` for the core's own.

Completion in bash, zsh and fish is installed as with any Hydra program: `eval "$(harness -sc install=bash)"`. Hydra's
own would know neither the commands nor the prompts, and would compose the configuration for each Tab.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

from harness import plugin
from harness.cli import setting_lines
from harness.config_files import CONFIGS, listed, prompt_files
from harness.errors import ConfigError, HarnessError, unknown
from harness.runtime import console

RUN = "run"
COMMANDS = {
    RUN: "ask a model, record and score its answers; the word may be left out",
    "leaderboard": "tables of runs: of everything below results/, or of what you choose, also as LaTeX",
    "compare": "two runs or more item by item: difference, interval, tests",
    "report": "one page for people: scores, charts, and the answers behind them",
    "verify": "every score made again from its records, every digest checked",
    "reread": "stored replies read again by today's rules, no model asked",
    "export": "for other programs: csv, parquet, hf, inspect, mlflow, wandb",
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

    `help NAME` and `--help NAME` are `NAME --help`, and `--help models` is `--help model=`. Raises ConfigError for a
    word that is no command.
    """
    rest = list(arguments)
    asks_for_help = rest[:1] in (["help"], ["--help"], ["-h"])
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


_BASH = """\
_harness_completion() {
    local IFS=$'\\n'
    COMPREPLY=($(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" "$1" -sc query=bash 2>/dev/null))
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
complete -o nospace -F _harness_completion harness
"""
_ZSH = """\
autoload -Uz compinit; (( $+functions[compdef] )) || compinit
_harness_completion() {
    local -a found
    found=("${(@f)$(COMP_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" harness -sc query=zsh 2>/dev/null)}")
    compadd -Q -S '' -- $found
}
compdef _harness_completion harness
"""
_FISH = """\
complete -c harness -f -a '(COMP_LINE=(commandline -cp) harness -sc query=fish 2>/dev/null)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_COMPLETION_FLAGS = ("-sc", "--shell-completion")


def asks_for_completion(arguments: Sequence[str]) -> bool:
    return bool(set(_COMPLETION_FLAGS) & set(arguments))


def complete() -> int:
    """Print what a shell runs to complete the command, or what may follow at the cursor; return the exit code."""
    for argument in sys.argv[1:]:
        what, _, shell = argument.partition("=")
        if what in ("install", "uninstall", "query") and shell in SCRIPTS:
            if what == "query":
                line = os.environ.get("COMP_LINE", "")
                point = os.environ.get("COMP_POINT", "")
                # The shell puts them into the line as they are, where a file's name would be run.
                found = completions(line[: int(point)] if point.isdecimal() else line)
                words = [word for word in found if not set("$`;&|<>\n") & set(word)]
                print(*(words if shell == "bash" else [word.rstrip(" ") for word in words]), sep="\n")
            elif what == "install":
                print(SCRIPTS[shell], end="")
            else:
                print("complete -c harness -e" if shell == "fish" else "complete -r harness")
            return 0
    console.complain(f'say for which shell: eval "$(harness -sc install=bash)", or {", ".join([*SCRIPTS][1:])}.')
    return 1


def completions(line: str) -> list[str]:
    """Return what the last word of a command line may become, up to the next thing to choose."""
    *before, word = (part.replace("\\ ", " ") for part in re.split(r"(?<!\\)\s+", line.lstrip()))
    while before and "=" in before[0]:  # NAME=value harness …
        before.pop(0)
    names = [name for name in before[1:] if not name.startswith("-")]
    command = names[0] if names and names[0] in summaries() else RUN
    if len(before) == 1 and "=" not in word:
        return _fitting([*(f"{name} " for name in summaries()), *_keys(command, before, word)], word)
    key, equals, value = word.partition("=")
    if not equals:
        return _fitting(_keys(command, before, word), word) or _files(word)
    *chosen, last = value.split(",")
    begin = f"{key}={''.join(f'{name},' for name in chosen)}"
    of_runs = _of_runs(command, before, key)
    known = _values(command, before, key) if of_runs is None else of_runs
    found = _fitting(known, last) or (_files(last) if of_runs is None else [])
    return [f"{begin}{name}" for name in found]


def _fitting(names: Iterable[str], beginning: str) -> list[str]:
    return sorted({name for name in names if name.startswith(beginning)})


def _keys(command: str, before: Sequence[str], word: str) -> Iterator[str]:
    """Yield what a setting may be called, with its =; those of a part once its dot is there."""
    if word.startswith("-"):
        yield from ("--help", "--version", *(["--multirun"] if command in ("run", "discover", "finetune") else []))
        return
    if command not in _configs():
        if len(before) == 2:
            yield from (f"{name} " for name in getattr(module_of(command), "COMMANDS", ()))
        yield from (f"{name}=" for name in _own_settings(command, before))
        return
    if "." not in word:
        yield from (f"{group}=" for group in setting_lines.groups(_configs()[command]))
        yield from (f"{group}." for group in setting_lines.groups(_configs()[command]))
    for setting in setting_lines.settings(_configs()[command], before):
        if setting.value and ("." in word or "." not in setting.name):
            yield f"{setting.name}="
        elif "." not in word and "." not in setting.name:
            yield f"{setting.name}."


def _values(command: str, before: Sequence[str], key: str) -> Iterator[str]:
    """Yield what a setting may be set to, as far as that is known."""
    if command not in _configs():
        yield from _own_settings(command, before).get(key, ())
    elif key in setting_lines.groups(_configs()[command]):
        yield from listed(CONFIGS, key)
    elif key == "prompt":
        yield from prompt_files(setting_lines.choice_of("task", _configs()[command], before))
    else:
        yield from next(
            (setting.choices for setting in setting_lines.settings(_configs()[command], before) if setting.name == key),
            (),
        )


def _of_runs(command: str, before: Sequence[str], key: str) -> set[str] | None:
    """Return what the runs that a command reads have for a setting such as by=; None where it is not about them."""
    suggested = None if command in _configs() else getattr(module_of(command), "suggested", None)
    if suggested is None:
        return None
    try:
        names: set[str] | None = suggested(key, before[1:])
    except HarnessError:
        return set()
    return names


def _own_settings(command: str, before: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the settings of a small command with the values that each may have, () for any."""
    module = module_of(command)
    jobs = getattr(module, "COMMANDS", {})
    named = [jobs[name] for name in before if name in jobs]
    if jobs and not named:
        return {}
    form = named[0].settings if named else _settings_class(module)
    if not is_dataclass(form):
        return {}
    hints: dict[str, Any] = get_type_hints(form)
    return {f.name: ("true", "false") if hints[f.name] is bool else tuple(_words(hints[f.name])) for f in fields(form)}


def _settings_class(module: ModuleType) -> Any:
    """Return the class that a command's module defines for its settings, such as ReportSettings; None without one."""
    named = (value for name, value in vars(module).items() if name.endswith("Settings"))
    return next((value for value in named if value.__module__ == module.__name__), None)


def _words(kind: Any) -> Iterator[str]:
    """Yield the texts that a type such as Literal["pm", "none"] | None allows."""
    for part in get_args(kind):
        if isinstance(part, str):
            yield part
        elif get_args(part):
            yield from _words(part)


@cache
def _configs() -> dict[str, str]:
    added = {name: command.config for name, command in plugin.commands().items() if command.config}
    return {RUN: "config", "items": "items"} | added


def _files(beginning: str) -> list[str]:
    """Return the files and folders whose paths begin so."""
    folder, _, name = beginning.rpartition("/")
    with suppress(OSError, RuntimeError):  # RuntimeError: of a ~ that is no home
        place = Path(f"{folder}/" if folder or beginning.startswith("/") else ".").expanduser()
        there = [path for path in place.iterdir() if path.name.startswith(name) and (name or path.name[0] != ".")]
        paths = (f"{folder}/{path.name}" if "/" in beginning else path.name for path in there)
        ends = ((path, "/" if Path(path).expanduser().is_dir() else "") for path in paths)
        return sorted(f"{path}{end}".replace(" ", "\\ ") for path, end in ends)
    return []
