"""The jobs of `harness cache` that are about batches: what each takes, and what it prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.cache.store import Store
from harness.cli.hydra_app import run_settings
from harness.cli.key_value import Choice
from harness.errors import ConfigError
from harness.plugins.batches import admin
from harness.plugins.batches.requests import Taking, is_output, note, write
from harness.runtime.console import clean
from harness.runtime.progress import Progress
from harness.settings import Main
from harness.storage.atomic_write import check

_CACHE = Path(".cache/answers.sqlite")
"""As in configs/cache/on.yaml."""


@dataclass(frozen=True)
class RequestsSettings:
    """_REQUESTS_HELP says what each one means."""

    cache: Path = _CACHE
    lines: Annotated[int, Field(ge=1)] = 50_000
    megabytes: Annotated[float, Field(gt=0)] = 190.0
    run: tuple[str, ...] = ()


@dataclass(frozen=True)
class BatchesSettings:
    """_BATCHES_HELP says what each one means."""

    cache: Path = _CACHE
    base_url: str | None = None


_REQUESTS_HELP = """\
  python -m harness.cache requests FILE model=gpt4      write what that run would ask as lines of a batch, for vLLM's
                                                        run-batch, a server's web form or somebody else's account; takes
                                                        the settings of `python -m harness`
  python -m harness.cache import DONE                   take in the output of such a batch, too

settings of requests
  lines=50000           at most in a file; more go into FILE-2, FILE-3, …
  megabytes=190         at most in a file

settings of import
  model= task= prompt=  of a batch whose requests were written elsewhere: the run that they are of

examples:
  python -m harness.cache requests todo.jsonl model=openai model.model=my-model task=corr2cause
  vllm run-batch -i todo.jsonl -o done.jsonl --model path/to/my-model --served-model-name my-model
  python -m harness.cache import done.jsonl
"""

_BATCHES_HELP = """\
  python -m harness.cache batches                       what is at servers (model.batch=true); `batches collect` takes
                                                        in what has ended, `batches cancel DIGEST` ends one, and
                                                        `batches forget DIGEST` gives one up that its server lost

settings of batches
  base_url=             where they are, if not at OpenAI: the key goes nowhere that a file alone names
"""


def run_of(arguments: Sequence[str]) -> Main:
    """Return the settings of the run that is meant. Raises ConfigError where it is not said whom it asks."""
    if not any(argument.startswith("model=") for argument in arguments):
        raise ConfigError("say whose requests are meant, as for a run: model=… task=…, and whatever else it sets.")
    return run_settings(arguments)


def write_requests(cache: Path, out: str, run: Main, lines: int, megabytes: float) -> int:
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


def take_in(store: Store, files: Sequence[Path], run: Sequence[str]) -> list[Path]:
    """Store the answers of those files that are outputs of batches; return the others.

    run: settings of the run that the answers belong to, where its requests were not written here.
    """
    if run:
        note(store, run_of(run))
    left = []
    for path in files:
        if is_output(path):
            _take_in(store, path)
        else:
            left.append(path)
    return left


def _take_in(store: Store, path: Path) -> None:
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


def _requests(names: list[str], settings: RequestsSettings) -> int:
    if len(names) != 1:
        raise ConfigError("requests takes one file to write, and the settings of a run: requests out.jsonl model=gpt4")
    return write_requests(settings.cache, names[0], run_of(settings.run), settings.lines, settings.megabytes)


def _batches(names: list[str], settings: BatchesSettings) -> int:
    return admin.batches(settings.cache, names, settings.base_url)


REQUESTS = Choice(RequestsSettings, _requests, composed=True, help=_REQUESTS_HELP)
BATCHES = Choice(BatchesSettings, _batches, help=_BATCHES_HELP)
