"""Runs below folders: where they are, and which of them can be read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.errors import DataError
from harness.runtime.console import clean
from harness.storage.run_folder import RESULT
from harness.storage.runs import Run, load

SWEEPS = ".sweeps"
"""The folder below a results folder in which Hydra keeps what belongs to a sweep, and no run."""
SHIPPED = "shipped"
"""The folder of results/ that came with the project. It is read where it is named, so that `results` is one's own."""


def find(folders: Sequence[str], *, each: bool = True) -> dict[Path, str]:
    """Return the run folders in or below the folders, each once, with the argument under which it lies.

    Raises DataError for a folder that is not there, and where there is no run below `each` of them, else below any.
    Links are not followed, and what came with the project (SHIPPED) is read only where it is named.
    """
    places: dict[Path, tuple[Path, str]] = {}
    empty = []
    for name in folders:
        top = Path(name)
        if not top.is_dir():
            raise DataError(
                f"there is no folder {name}: give one that a run wrote to (results=… there), or one above it."
            )
        places_below = [(file.parent, file.relative_to(top).parts) for file in sorted(top.rglob(RESULT))]
        below = [folder for folder, parts in places_below if SWEEPS not in parts and parts[0] != SHIPPED]
        if not below:
            empty.append(name)
        for folder in below:
            places.setdefault(folder.resolve(), (folder, name))
    if empty and (each or not places):
        ours = [str(Path(name, SHIPPED)) for name in empty if Path(name, SHIPPED).is_dir()]
        raise DataError(
            f"no {RESULT} below {', '.join(empty)}: run something first, such as harness, or give the folder "
            f"of a run that has ended{f' ({ours[0]} holds those that came with the project)' if ours else ''}."
        )
    return dict(places.values())


def below(
    folders: Sequence[str], *, each: bool = True, check: Callable[[Run], None] = lambda run: None
) -> dict[Path, tuple[Run, str]]:
    """Return the runs in or below the folders, by run folder; each once, with the argument under which it lies.

    One that cannot be read, or for which `check` raises DataError, is left out and named on standard error, so that it
    does not stop the others. Raises DataError for it where it was asked for by its own folder, where all are so, and as
    `find` does.
    """
    loaded: dict[Path, tuple[Run, str]] = {}
    errors: list[DataError] = []
    for folder, name in find(folders, each=each).items():
        try:
            run = load(folder)
            check(run)
        except DataError as error:
            if Path(name).resolve() == folder.resolve():
                raise
            errors.append(error)
        else:
            loaded[folder] = run, name
    if errors and not loaded:
        raise errors[0]
    for problem in errors:  # on one line each: a folder's name may hold line breaks
        print(f"left out: {' '.join(clean(str(problem)).split())[:1000]}", file=sys.stderr)
    return loaded
