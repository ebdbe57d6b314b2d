"""The Python API: `evaluate` runs what the command would, `tables` shows what runs have come to (docs/python.md)."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import fields, is_dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from harness.cli import commands, hydra_app, setting_lines
from harness.errors import ConfigError, DataError, StoreError, unknown
from harness.prepare import carry_out, prepare
from harness.runtime import secrets, signals
from harness.runtime.progress import Progress
from harness.settings import Main, validated
from harness.storage.run_folder import RESULT
from harness.storage.runs import Run, load
from harness.tables.write import Tables

T = TypeVar("T")
_COMPOSING = threading.Lock()
"""Hydra composes one config at a time in a process."""
_ABANDONED: list[Future[Any]] = []
"""Runs in threads that a second Ctrl-C has left behind: they ask nothing more, and store what was under way."""


def evaluate(
    model: str | None = None,
    task: str | None = None,
    *,
    cache: str | None = None,
    judge: str | None = None,
    overrides: Sequence[str] = (),
    **settings: Any,
) -> Run:
    """Run what `harness model=… task=…` would, and return the run.

    `model`, `task`, `cache` and `judge` name a file of configs/ (a judge's is that of a model). A setting is given by
    its full name (`**{"model.temperature": 0.7}`), or by its last word where that is enough: what the command has
    (`prompt=`, `samples=`, `results=`) comes first, then what either the task or the model has (`limit=100`,
    `temperature=0.7`).
    `overrides` are settings as the command takes them, `["+model.extra.service_tier=flex"]`.

    Progress is shown on stderr. Raises ConfigError for what cannot run, RunStopped for what stopped it early
    (Interrupted after Ctrl-C): what was answered is kept, and the same call goes on from there.
    """
    _await_abandoned()
    config = _composed({"model": model, "task": task, "cache": cache, "judge": judge}, overrides, settings)
    if config.get("dry_run") is True:
        raise ConfigError("dry_run shows a plan and leaves no run to return: harness … dry_run=true does it.")
    prepared = _as_harness_error(partial(prepare, config))
    outcome = _as_harness_error(partial(_called, partial(carry_out, prepared), prepared.progress))
    if outcome.stopped is not None:
        if (prepared.folder.path / RESULT).exists():
            outcome.stopped.add_note(f"What was answered so far is in {prepared.folder.path} (load_run reads it).")
        raise outcome.stopped
    return load_run(prepared.folder.path)


def load_run(folder: str | PathLike[str]) -> Run:
    """Return the run in a folder. Raises DataError for a folder without a run, or with a damaged one."""
    if not (path := Path(folder)).is_dir():
        raise DataError(f"there is no folder {folder}: give the one that a run left.")
    if not (path / RESULT).exists():
        raise DataError(f"{path} holds no {RESULT}: give the folder of a run that has ended.")
    return load(path.resolve())


def tables(command: str, *folders: str | PathLike[str] | Run, **settings: Any) -> Tables:
    """Return what a command prints of runs: `tables("leaderboard", by="perturbation")`, `tables("compare", a, b)`.

    `command` is any that takes folders and prints tables, of plug-ins too (`harness --help` lists them); `settings` are
    its own, as numbers, texts and lists. A file is written where the command writes one. Raises ConfigError for what is
    none of its settings, DataError for folders without runs.
    """
    if command not in commands.summaries():
        raise ConfigError(unknown("command", command, commands.summaries()))
    job = getattr(commands.module_of(command), "job", None)
    form: Any = get_type_hints(job).get("settings") if job else None
    if job is None or not isinstance(form, type) or not is_dataclass(form):
        raise ConfigError(f"{command} prints no tables of folders: from Python there are leaderboard, compare, ….")
    paths = [str(folder.folder if isinstance(folder, Run) else folder) for folder in folders]
    output = job(paths, validated(form, {name: _plain(value) for name, value in settings.items()}))
    if isinstance(output, int):
        raise ConfigError(f"{command} prints no tables that could be returned: call harness {command} in a shell.")
    return Tables([output] if isinstance(output, str) else output)


def verify(*folders: str | PathLike[str] | Run) -> bool:
    """Print a line for each run below the folders (results/ where none is given); return whether all of them hold."""
    from harness.verify.__main__ import VerifySettings, job

    paths = [str(folder.folder if isinstance(folder, Run) else folder) for folder in folders]
    return job(paths, VerifySettings()) == 0


def _composed(
    groups: Mapping[str, str | None], overrides: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the config that a command composes of the same settings. Raises ConfigError."""
    if isinstance(overrides, str) or not all(isinstance(setting, str) for setting in overrides):
        raise ConfigError('overrides= takes a list of settings, such as overrides=["task.limit=100"].')
    choices = [f"{group}={name}" for group, name in groups.items() if name is not None]
    arguments = [*choices, *overrides]
    secrets.refuse_arguments([*arguments, *(f"{name}={value}" for name, value in settings.items())])
    with _COMPOSING:
        # By force: unknown names are refused when the part is built, with the nearest known one.
        full = {_full_name(name, arguments): _plain(value) for name, value in settings.items()}
        own = [f"++{name}={_written(value, name)}" for name, value in full.items()]
        return hydra_app.run_config([*arguments, *own])


def _full_name(name: str, arguments: Sequence[str]) -> str:
    """Return the setting that a keyword means: one of the command, else of the task or of the model."""
    commands = [field.name for field in fields(Main)]
    if "." in name or name in commands:
        return name
    names = setting_lines.settings("config", arguments)
    parts = [full for part in ("task", "model") for full in names if full.rpartition(".")[0] == part]
    candidates = [full for full in parts if full.rpartition(".")[2] == name]
    if len(candidates) > 1:
        raise ConfigError(f'{name}= may be {" or ".join(candidates)}: write **{{"{candidates[0]}": …}}.')
    if not candidates:
        raise ConfigError(unknown("setting", name, {*commands, *(full.rpartition(".")[2] for full in parts)}))
    return candidates[0]


def _written(value: Any, name: str) -> str:
    """Return a setting's value as a command line has it. Raises ConfigError for what is none."""
    from hydra.core.override_parser.types import Quote, QuotedString

    if value is None or isinstance(value, bool | int | float):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return str(QuotedString(value, Quote.double).with_quotes())
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{_written(below, name)}' for key, below in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(_written(below, name) for below in value)}]"
    raise ConfigError(f"{name}={value!r} is no setting: text, numbers, True, False, None, lists and dicts of them are.")


def _plain(value: Any) -> Any:
    if isinstance(value, PathLike):
        return str(value)
    return list(value) if isinstance(value, tuple | range) else value


def _as_harness_error(action: Callable[[], T]) -> T:
    """Return what the action returns; a package that is missing and a file that fails are errors of the harness."""
    try:
        return action()
    except ModuleNotFoundError as error:
        raise ConfigError(hydra_app.sentence(error, "config", ())) from error
    except OSError as error:
        raise StoreError(hydra_app.sentence(error, "config", ())) from error


def _called(work: Callable[[], T], progress: Progress) -> T:
    """Return what `work` returns, or raise what it raises; in a thread of its own where this one runs an event loop."""
    asyncio = sys.modules.get("asyncio")  # where nobody has imported it, no loop is running
    if asyncio is None or asyncio._get_running_loop() is None:
        return work()
    outcome: Future[T] = Future()
    context = contextvars.copy_context()  # a notebook finds the cell that is printing by it

    def fulfil() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    # The future is waited for, not the thread: join() takes a thread for ended when Ctrl-C breaks it off (Python 3.11).
    with signals.interruptible(progress.say, ended=outcome.done):
        threading.Thread(target=fulfil, name="run", daemon=True).start()
        try:
            return outcome.result()
        finally:
            if not outcome.done():
                signals.STOP.requested = True  # whatever has ended the wait
                _ABANDONED.append(outcome)


def _await_abandoned() -> None:
    """Wait for runs that were left behind: a stop is one flag for the whole process, so two runs cannot share it."""
    while _ABANDONED:
        _ABANDONED[-1].exception()  # waits; the error itself is of a run that was given up
        _ABANDONED.pop()
        signals.STOP.requested = False
