"""harness cache stats|export|import|prune|verify: what is stored is shown, written out, merged, removed and checked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.cache import Store, upkeep
from harness.cache.upkeep import Merged, merge
from harness.cli import key_value
from harness.cli.key_value import Choice
from harness.errors import ConfigError, DataError, StoreError
from harness.runtime.console import clean
from harness.runtime.progress import Progress
from harness.storage.atomic_write import atomic_file
from harness.storage.runs import load
from harness.tables import terminal
from harness.tables.table import Table

CACHE = Path(".cache/answers.sqlite")
"""As in configs/cache/on.yaml."""
_MOST_PLACES = 3
"""Places that verify names of each kind of trouble."""
HELP = f"""\
The cache of answers: every one that was paid for, in one SQLite file.

  harness cache stats               what is in it, by model and task
  harness cache export FILE         every answer as a JSON line, for your own tools; - for standard output
  harness cache import CACHE …      take in the answers of other caches, as another machine left them; of two
                                    answers to one request the first stays
  harness cache prune model=gpt4    remove answers by model, task or date, once they have been shown
  harness cache verify              recompute every key and digest, read every answer, and run SQLite's own check

  cache={CACHE}    the file, with each of them

settings of prune
  model=                answers of the models of this name
  task=                 answers that this task asked for first
  unreadable=           answers that could not be read in the run of this folder: the run's command asks them again
  before=               answers stored before a date: 2026-01-31, or 2026-01-31T12:00:00
  yes=false             true: remove them; without it they are only shown
"""


@dataclass(frozen=True)
class CacheSettings:
    """HELP says what each one means."""

    cache: Path = CACHE


@dataclass(frozen=True)
class PruneSettings(CacheSettings):
    """HELP says what each one means."""

    model: str | None = None
    task: str | None = None
    unreadable: Path | None = None
    before: datetime | None = None
    yes: bool = False

    @property
    def conditions(self) -> dict[str, Any]:
        """Those that are given, in SQL."""
        before = self.before and self.before.timestamp()
        every_condition = {"i.name = ?": self.model, "a.task = ?": self.task, "a.stored < ?": before}
        return {condition: value for condition, value in every_condition.items() if value is not None}


def main(arguments: Sequence[str] | None = None) -> int:
    message = "interrupted: what was stored so far is kept."
    words = sys.argv[1:] if arguments is None else arguments
    # A run calls the file cache.path, and its settings are given here as they are there.
    words = [f"cache={word.removeprefix('cache.path=')}" if word.startswith("cache.path=") else word for word in words]
    return key_value.commands(HELP, COMMANDS, words, interrupted=message)


def stats(names: list[str], settings: CacheSettings) -> int:
    """Print what is in the cache, by model and task."""
    _no_names("stats", names)
    with closing(Store(settings.cache, readonly=True)) as store:
        terminal.show([_table(upkeep.groups(store, {}))])
        print(f"\n{_in_words(store.count())} and {store.count('texts'):,} texts in {settings.cache}")
    print("task: the one that asked first; the answer serves any other that sends the same request.")
    return 0


def export(names: list[str], settings: CacheSettings) -> int:
    """Write every answer as a JSON line."""
    if len(names) != 1:
        raise ConfigError("export takes one file to write, or - for standard output: export answers.jsonl")
    progress, left_out = Progress(f"export {settings.cache}"), 0
    with closing(Store(settings.cache, readonly=True)) as store, atomic_file(names[0], "file") as file:
        for line in progress.watch(upkeep.lines(store), range(store.count())):
            if line is None:
                left_out += 1
            else:
                file.write(f"{line}\n")
    if left_out:
        progress.say(f"{_in_words(left_out)} left out, because they cannot be read as stored")
    return 0


def import_(names: list[str], settings: CacheSettings) -> int:
    """Store the sound answers of other caches."""
    if not names:
        raise ConfigError("import takes other caches, the files that runs wrote to: import node1/answers.sqlite")
    with closing(Store(settings.cache)) as store:
        for path in map(Path, names):
            if not path.is_file():
                raise DataError(f"there is no file {path}: give another cache.")
            if path.samefile(settings.cache):
                raise ConfigError(f"{path} is the cache itself: give another cache=.")
            merged, progress = Merged(), Progress(f"import {_printable(path)}")
            with closing(Store(path, readonly=True)) as other:
                for _ in progress.watch(merge(store, other, merged), range(other.count())):
                    pass
            said = f"{_printable(path)}: {merged.new:,} new, {merged.known:,} known already"
            left_out = f"; {merged.left_out:,} left out, because they are not what was stored"
            print(said + left_out * bool(merged.left_out))
    return 0


def prune(names: list[str], settings: PruneSettings) -> int:
    """Print the chosen answers, and remove them if `yes`."""
    _no_names("prune", names)
    conditions = settings.conditions
    if not conditions and settings.unreadable is None:
        raise ConfigError("say which answers to remove: model=, task=, before= or unreadable= (prune shows them).")
    with closing(Store(settings.cache, readonly=not settings.yes)) as store:
        if settings.unreadable is not None:
            conditions |= upkeep.unread_in(store, load(settings.unreadable))
        groups = upkeep.groups(store, conditions)
        if not groups:
            raise ConfigError(f"{settings.cache} holds no answer that all of the settings fit: nothing to remove.")
        terminal.show([_table(groups)])
        if not settings.yes:
            count = sum(count for _, _, count, *_ in groups)
            print(f"\n{_in_words(count)} would go. Nothing was removed: add yes=true to remove them.")
            return 0
        print(f"\n{_in_words(upkeep.prune(store, conditions))} removed.")
    return 0


def verify(names: list[str], settings: CacheSettings) -> int:
    """Check every digest and key of the cache. Raises StoreError where one is wrong."""
    _no_names("verify", names)
    cache = settings.cache
    progress, findings, count = Progress(f"verify {cache}"), upkeep.Findings(list), 0
    with closing(Store(cache, readonly=True)) as store:
        for _ in progress.watch(upkeep.verify(store, findings), range(store.count())):
            count += 1
    if not findings:
        print(f"{cache}: {_in_words(count)}; every response, key, text and identity is what its digest says.")
        return 0
    for what, places in findings.items():
        more = ", …" if len(places) > _MOST_PLACES else ""
        print(f"{len(places):,} times: {what} ({', '.join(map(_printable, places[:_MOST_PLACES]))}{more})")
    raise StoreError(
        f"{cache} is not sound: `harness cache import {cache} cache=NEW.sqlite` makes a new one of what is."
    )


def _no_names(command: str, names: Sequence[str]) -> None:
    if names:
        raise ConfigError(
            f"{command} takes settings only, not {names[0]!r}: the file is cache={CACHE}, or another one."
        )


def _table(groups: Iterable[tuple[Any, ...]]) -> Table:
    rows = [
        [_printable(model) or "–", _printable(task) or "–", f"{count:,}", first or "–", last or "–"]
        for model, task, count, first, last in groups
    ]
    return Table.of(["model", "task", "answers", "first", "last"], rows, text_columns=2, spare=("first", "last"))


def _printable(text: object) -> str:
    """Return a name on one line, without what a terminal would obey: a cache may come from somebody else."""
    return clean(str(text)).replace("\n", "\N{REPLACEMENT CHARACTER}")


def _in_words(count: int) -> str:
    return f"{count:,} answer{'' if count == 1 else 's'}"


COMMANDS = {
    "stats": Choice(CacheSettings, stats),
    "export": Choice(CacheSettings, export),
    "import": Choice(CacheSettings, import_),
    "prune": Choice(PruneSettings, prune),
    "verify": Choice(CacheSettings, verify),
}


if __name__ == "__main__":
    sys.exit(main())
