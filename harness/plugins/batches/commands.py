"""The commands about batches of python -m harness.cache: what they print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cache.requests import Taking, write
from harness.cache.store import Store
from harness.cli.composing import run_settings
from harness.errors import ConfigError
from harness.runtime.console import clean
from harness.runtime.progress import Progress
from harness.settings import Main
from harness.storage.atomic_write import check


def run_of(arguments: Sequence[str]) -> Main:
    """Return the settings of the run that is meant. Raises ConfigError where it is not said whom it asks."""
    if not any(argument.startswith("model=") for argument in arguments):
        raise ConfigError("say whose requests are meant, as for a run: model=… task=…, and whatever else it sets.")
    return run_settings(arguments)


def requests(cache: Path, out: str, run: Main, lines: int, megabytes: float) -> int:
    """Write what a run would ask as lines of a batch; say what is in them and what comes next."""
    check(out)
    source, outlet = write(cache, out, run, lines, megabytes)
    missing, name, stream = source.missing, source.endpoint.name, sys.stderr if out == "-" else sys.stdout
    written = sum(count for _, count, _ in outlet.files)
    for path, count, size in outlet.files:
        print(f"{clean(path)}: {count:,} request{'s' * (count != 1)} to {name}, {size / 1e6:,.1f} MB", file=stream)
    counts = {
        f"{missing.answered:,} answered in {cache} already": missing.answered,
        f"{missing.declined:,} longer than the model's context": missing.declined,
        f"{source.under_way:,} in a batch at the server, which model.batch=true collects": source.under_way,
    }
    if rest := [text for text, count in counts.items() if count]:
        print(f"Not written: {'; '.join(rest)}.", file=stream)
    if not written:
        print("Nothing is left to be written: no file was made.", file=stream)
    elif missing.turns:
        print(
            f"{missing.turns:,} of them are turns that the model writes before the question: with their answers "
            "imported, the same command writes what comes next.",
            file=stream,
        )
    if written:
        print(f"Answers: python -m harness.cache import OUTPUT.jsonl cache={cache}", file=stream)
    return 0


def take_in(store: Store, path: Path) -> None:
    """Store the answers in the output of a batch, and say what became of its lines."""
    progress, taking = Progress(f"import {clean(str(path))}"), Taking(store)
    for number in progress.watch(taking.file(path), ()):
        progress.done = number
    taken = taking.taken
    parts = [f"{clean(str(path))}: {taken.new:,} new, {taken.known:,} known already"]
    if taken.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(taken.failures.items()))
        parts.append(f"{taken.failures.total():,} failed ({kinds}) and are not stored: `requests` writes them again")
    if taken.strays:
        parts.append(
            f"{taken.strays:,} answer nothing that was written here and are set apart: with the settings of their run "
            "(import … model=… task=…) they are taken"
        )
    if taken.unreadable:
        parts.append(f"{taken.unreadable:,} lines are none of a batch")
    print("; ".join(parts))
    before = taken.new
    taking.strays()
    if taken.new > before:
        print(f"{taken.new - before:,} more of what was set apart before")
