"""The jobs that look after a cache: each prints what it finds and returns an exit code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.cache.store import Store
from harness.errors import ConfigError, StoreError
from harness.plugins.answers import maintenance
from harness.runtime.console import clean
from harness.runtime.progress import Progress
from harness.tables import terminal
from harness.tables.table import Table


def stats(cache: Path) -> int:
    """Print what is in the cache, by model and task."""
    with closing(Store(cache, readonly=True)) as store:
        groups = maintenance.groups(store)
        terminal.show([_table(groups)])
        for differing in _same_name(store, groups):
            print(differing)
        texts = next(store.query("SELECT count(*) FROM texts"))[0]
    size = sum(part.stat().st_size for part in _parts(cache)) / 1e6
    print(f"\n{in_words(sum(group.answers for group in groups))} and {texts:,} texts in {cache} ({size:,.1f} MB)")
    print("task: the one that asked first; the answer serves any other that sends the same request.")
    return 0


def prune(cache: Path, selection: maintenance.Selection, *, confirmed: bool) -> int:
    """Print the answers of a selection, and remove them if `confirmed`."""
    if selection == maintenance.Selection():
        raise ConfigError(
            "say which answers to remove: model=, identity=, task=, before= or errors=true (prune shows them first)."
        )
    with closing(Store(cache, readonly=not confirmed)) as store:
        groups = maintenance.groups(store, selection)
        if not groups:
            names = sorted({group.name for group in maintenance.groups(store)})
            raise ConfigError(
                f"{cache} holds no answer that all of the settings fit: nothing to remove. Its models are "
                f"{', '.join(map(printable, names)) or 'none'}."
            )
        terminal.show([_table(groups)])
        count = sum(group.answers for group in groups)
        if not confirmed:
            print(f"\n{in_words(count)} would go. Nothing was removed: add yes=true to remove them.")
            return 0
        print(f"\n{in_words(maintenance.prune(store, selection))} removed.")
        if not maintenance.shrink(store):
            print("The file is in use or the disk is full: the room will be used again, but is not given back.")
    return 0


def verify(cache: Path) -> int:
    """Check every digest and key of the cache. Raises StoreError where one is wrong."""
    progress, findings = Progress(f"verify {cache}"), maintenance.Findings()
    with closing(Store(cache, readonly=True)) as store:
        total = next(store.query("SELECT count(*) FROM answers"), (0,))[0]
        for _ in progress.watch(maintenance.verify(store, findings), range(total)):
            pass
        empty = maintenance.errors(store) if not findings.counts else 0
    if empty:
        raise StoreError(
            f"{cache}: {in_words(empty)} without a word and without a reason to finish, as replies are that tell of "
            f"an error of the server's: `python -m harness.cache prune errors=true cache={cache}` shows them, with "
            "yes=true it removes them, and the run's command asks again. Everything else is what its digest says."
        )
    if not findings.counts:
        sentence = "every response, key, text and identity is what its digest says"
        print(f"{cache}: {in_words(findings.answers)}, {sentence}.")
        return 0
    for what, count in findings.counts.items():
        more = ", …" if count > len(findings.places[what]) else ""
        print(f"{count:,} times: {what} ({', '.join(map(printable, findings.places[what]))}{more})")
    raise StoreError(
        f"{cache} is not sound: `python -m harness.cache import {cache} cache=NEW.sqlite` makes a new one of what is."
    )


def _table(groups: Iterable[maintenance.Group]) -> Table:
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


def _same_name(store: Store, groups: list[maintenance.Group]) -> Iterator[str]:
    """Yield, for models of one name, the settings in which they differ."""
    from harness.cache.explain_miss import differences

    identities = maintenance.identities(store)
    by_name: dict[str, list[str]] = {}
    for group in groups:
        if group.identity not in by_name.setdefault(group.name, []):
            by_name[group.name].append(group.identity)
    for name, several in by_name.items():
        for other in several[1:]:
            sentences = differences(identities[several[0]], identities[other])
            text = (
                "; ".join(sentences).replace(" there, ", f" in {several[0][:8]}, ").replace(" now", f" in {other[:8]}")
            )
            yield printable(f"{name}: {text}")


def printable(text: object) -> str:
    """Return a name on one line, without what a terminal would obey: a cache may come from somebody else."""
    return clean(str(text)).replace("\n", "\N{REPLACEMENT CHARACTER}")


def _day(at: Any) -> str:
    try:
        return f"{datetime.fromtimestamp(at):%Y-%m-%d}"
    except (TypeError, ValueError, OverflowError, OSError):
        return "–"


def in_words(count: int) -> str:
    """Return how many answers there are."""
    return f"{count:,} answer{'' if count == 1 else 's'}"


def _parts(path: Path) -> list[Path]:
    return [part for end in ("", "-wal", "-shm") if (part := Path(f"{path}{end}")).exists()]
