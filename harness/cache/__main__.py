"""harness cache stats|export|import|prune|verify: what is stored is shown, moved, checked and removed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from harness.cache import Store, transfer, upkeep
from harness.cache.upkeep import Selection, in_words, printable
from harness.cli import key_value
from harness.cli.key_value import Choice
from harness.errors import ConfigError, StoreError
from harness.runtime.progress import Progress
from harness.tables import terminal
from harness.tables.table import Table

CACHE = Path(".cache/answers.sqlite")
"""As in configs/cache/on.yaml."""

HELP = f"""\
The cache of answers: every one that was paid for, in one SQLite file.

  harness cache stats                         what is in it, by model and task
  harness cache export FILE                   every answer as a JSON line, for another machine or for your own
                                              tools; - for standard output
  harness cache import FILE FILE              take in what export wrote, or another cache
  harness cache prune model=gpt4              remove answers by model, identity, task or date, once
                                              they have been shown
  harness cache verify                        recompute every key and digest, read every answer, and run
                                              SQLite's own check

  cache={CACHE}   the file, with each of them

settings of import
  replace=false         true: where another answer is stored, take the imported one

settings of prune
  model=                answers of the models of this name
  identity=             answers of this identity, by the beginning of its digest
  task=                 answers that this task asked for first
  before=               answers stored before a date: 2026-01-31, or 2026-01-31T12:00:00
  yes=false             true: remove them; without it they are only shown

examples:
  harness cache export node1.jsonl                    on a compute node, then at home:
  harness cache import node1.jsonl node2.jsonl
  harness cache import backup/answers.sqlite replace=true
  harness cache prune model=gpt4 before=2026-01-31
  harness cache verify cache=shared/answers.sqlite

A line of an export: schema, key, model, task, stored, identity, request, response, digest. Its words stand in full
where they come first in the file, by sha256 after that.
"""


def _date(text: str) -> float:
    """Return a date as seconds since 1970; a date without a zone is in local time."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ConfigError(f"before={text}: it is no date; write it as 2026-01-31.") from None


@dataclass(frozen=True)
class AnswersSettings:
    """HELP says what each one means."""

    cache: Path = CACHE


@dataclass(frozen=True)
class ImportSettings(AnswersSettings):
    """HELP says what each one means."""

    replace: bool = False


@dataclass(frozen=True)
class PruneSettings(AnswersSettings):
    """HELP says what each one means."""

    model: str | None = None
    identity: Annotated[str, Field(min_length=1)] | None = None
    task: str | None = None
    before: Annotated[float | None, BeforeValidator(_date)] = None
    yes: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    message = "interrupted: what was stored so far is kept."
    words = sys.argv[1:] if arguments is None else arguments
    # A run calls the file cache.path, and its settings are given here as they are there.
    words = [f"cache={word.removeprefix('cache.path=')}" if word.startswith("cache.path=") else word for word in words]
    return key_value.commands(HELP, COMMANDS, words, interrupted=message)


def stats(names: list[str], settings: AnswersSettings) -> int:
    """Print what is in the cache, by model and task."""
    _no_names("stats", names)
    with closing(Store(settings.cache, readonly=True)) as store:
        groups = upkeep.groups(store)
        terminal.show([_table(groups)])
        texts = store.count_texts()
    size = sum(file.stat().st_size for end in ("", "-wal") if (file := Path(f"{settings.cache}{end}")).exists()) / 1e6
    print(
        f"\n{in_words(sum(group.answers for group in groups))} and {texts:,} texts in {settings.cache} ({size:,.1f} MB)"
    )
    print("task: the one that asked first; the answer serves any other that sends the same request.")
    return 0


def export(names: list[str], settings: AnswersSettings) -> int:
    if len(names) != 1:
        raise ConfigError("export takes one file to write, or - for standard output: export answers.jsonl")
    return transfer.export(settings.cache, names[0])


def import_(names: list[str], settings: ImportSettings) -> int:
    if not names:
        raise ConfigError("import takes the files that export wrote, or other caches: import answers.jsonl")
    return transfer.import_(settings.cache, [*map(Path, names)], replace=settings.replace)


def prune(names: list[str], settings: PruneSettings) -> int:
    """Print the chosen answers, and remove them if `yes`."""
    _no_names("prune", names)
    selection = Selection(settings.model, settings.identity, settings.task, settings.before)
    if selection == Selection():
        raise ConfigError("say which answers to remove: model=, identity=, task= or before= (prune shows them first).")
    with closing(Store(settings.cache, readonly=not settings.yes)) as store:
        groups = upkeep.groups(store, selection)
        if not groups:
            names = sorted({group.name for group in upkeep.groups(store)})
            raise ConfigError(
                f"{settings.cache} holds no answer that all of the settings fit: nothing to remove. Its models are "
                f"{', '.join(map(printable, names)) or 'none'}."
            )
        terminal.show([_table(groups)])
        count = sum(group.answers for group in groups)
        if not settings.yes:
            print(f"\n{in_words(count)} would go. Nothing was removed: add yes=true to remove them.")
            return 0
        print(f"\n{in_words(upkeep.prune(store, selection))} removed.")
        if not upkeep.shrink(store):
            print("The file is in use or the disk is full: the room will be used again, but is not given back.")
    return 0


def verify(names: list[str], settings: AnswersSettings) -> int:
    """Check every digest and key of the cache. Raises StoreError where one is wrong."""
    _no_names("verify", names)
    cache = settings.cache
    progress, findings = Progress(f"verify {cache}"), upkeep.Findings()
    with closing(Store(cache, readonly=True)) as store:
        total = store.count()
        for _ in progress.watch(upkeep.verify(store, findings), range(total)):
            pass
    if not findings.counts:
        sentence = "every response, key, text and identity is what its digest says"
        print(f"{cache}: {in_words(findings.answers)}, {sentence}.")
        return 0
    for what, count in findings.counts.items():
        more = ", …" if count > len(findings.places[what]) else ""
        print(f"{count:,} times: {what} ({', '.join(map(printable, findings.places[what]))}{more})")
    raise StoreError(
        f"{cache} is not sound: `harness cache import {cache} cache=NEW.sqlite` makes a new one of what is."
    )


def _no_names(command: str, names: Sequence[str]) -> None:
    if names:
        raise ConfigError(
            f"{command} takes settings only, not {names[0]!r}: the file is cache={CACHE}, or another one."
        )


def _table(groups: Iterable[upkeep.Group]) -> Table:
    header = ["model", "identity", "task", "answers", "first", "last", "tokens in", "out"]
    rows = [
        [
            printable(group.name) or "–",
            printable(group.identity[:8]),
            printable(group.task) or "–",
            f"{group.answers:,}",
            *map(_day, (group.first, group.last)),
            *("–" if count is None else f"{count:,}" for count in (group.input, group.output)),
        ]
        for group in groups
    ]
    return Table.of(header, rows, text_columns=3, spare=("first", "last", "identity", "tokens in", "out"))


def _day(at: Any) -> str:
    try:
        return f"{datetime.fromtimestamp(at):%Y-%m-%d}"
    except (TypeError, ValueError, OverflowError, OSError):
        return "–"


COMMANDS = {
    "stats": Choice(AnswersSettings, stats),
    "export": Choice(AnswersSettings, export),
    "import": Choice(ImportSettings, import_),
    "prune": Choice(PruneSettings, prune),
    "verify": Choice(AnswersSettings, verify),
}


if __name__ == "__main__":
    sys.exit(main())
