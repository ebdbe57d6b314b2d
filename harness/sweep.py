"""Sweeps (-m): the outcome of each job, and one leaderboard at the end.

Every job leaves an outcome.json in its folder below results/.sweeps/, whichever launcher ran it and in
whichever process; when all have ended, the process that started the sweep reads them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from harness.cli.exit_code import ERROR
from harness.errors import HarnessError, Interrupted
from harness.runtime import console
from harness.runtime.secrets import mask_keys, refuse_config
from harness.settings import plain
from harness.storage.atomic_write import atomic_file
from harness.storage.run_folder import RESULT
from harness.tables import terminal

if TYPE_CHECKING:
    from harness.leaderboard.rows import Row
    from harness.tables.table import Part

OUTCOME = "outcome.json"
_started: list[Path] = []


class Remember(Callback):
    """A Hydra callback that remembers a sweep's folder: Hydra tells it to callbacks only."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Remember the folder; Hydra calls this once per sweep, in its own process, before anything is written."""
        try:
            settings = OmegaConf.to_container(config, resolve=False)
            assert isinstance(settings, dict)
            refuse_config({str(name): value for name, value in settings.items() if name != "hydra"})
        except HarnessError as error:
            raise SystemExit(ERROR) from error  # any other exception becomes a warning of Hydra's
        _started.append(Path(config.hydra.sweep.dir))


class RunOne(Protocol):
    """The function of a command that runs one composed config."""

    def __call__(self, config: DictConfig, *, brief: bool) -> Path:
        """Run it and print the scores, in half a line if `brief`; return the results folder."""


def job(config: DictConfig, run_one: RunOne) -> int:
    """Carry out one run of a command, or one job of a sweep; return the exit code."""
    hydra = HydraConfig.get()
    if hydra.mode != RunMode.MULTIRUN:
        refuse_config(plain(config))
        run_one(config, brief=False)
        return 0
    print(console.clean(f"[{hydra.job.num}] {mask_keys(' '.join(hydra.overrides.task))}"), file=sys.stderr)
    folder = Path(hydra.runtime.output_dir)
    try:
        refuse_config(plain(config))
        note(folder, run=run_one(config, brief=True), error=None)
    except Interrupted as stop:
        raise KeyboardInterrupt from stop  # ends the sweep too
    except HarnessError as error:
        if config.debug:
            raise
        console.complain(error)
        note(folder, run=None, error=mask_keys(str(error)))
        return ERROR
    return 0


def note(folder: Path, *, run: Path | None, error: str | None) -> None:
    """Write the outcome of a job: its results folder or its error."""
    with atomic_file(str(folder / OUTCOME), "results=", user_path=False) as file:
        json.dump({"run": str(run) if run else None, "error": error}, file)


def conclude(tables: Callable[[Sequence[Row]], Sequence[Part]] | None = None) -> int:
    """Print the tables of the sweep that has just ended, if any; return the exit code."""
    if not _started:
        return 0
    from harness.leaderboard import __main__ as leaderboard
    from harness.leaderboard.build import build
    from harness.leaderboard.rows import Row
    from harness.storage.runs import load
    from harness.tables.markdown_csv_json import markdown

    folder = _started[-1]
    outcomes = sorted(folder.glob(f"*/{OUTCOME}"), key=lambda file: (len(file.parent.name), file.parent.name))
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in outcomes]
    folders = dict.fromkeys(Path(content["run"]) for content in contents if content["run"])
    rows = [Row(load(folder)) for folder in folders if (folder / RESULT).exists()]
    if rows:
        parts = (tables or build)(rows)
        print()
        terminal.show(parts)
        print(flush=True)
        leaderboard.write(markdown(parts), folder / "LEADERBOARD.md")
    errors = [(file.parent.name, job["error"]) for file, job in zip(outcomes, contents, strict=True) if job["error"]]
    for number, error in errors:
        console.complain(error, f"error in job {number}")
    return 1 if errors or not outcomes else 0
