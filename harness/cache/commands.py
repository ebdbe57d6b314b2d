"""The commands of python -m harness.cache: each one takes what the command line says and returns an exit code."""

from __future__ import annotations

import sqlite3
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from harness import terminal
from harness.board.table import Table
from harness.cache import damage, lines, upkeep
from harness.cache.merging import Merged, merge
from harness.cache.schema import for_reading
from harness.cache.store import Store
from harness.codec import canonical
from harness.errors import ConfigError, DataError, StoreError
from harness.progress import Progress
from harness.whole import written


def stats(chosen: Namespace) -> int:
    """What is in it."""
    with closing(Store(chosen.cache, readonly=True)) as store:
        found = upkeep.groups(store)
        terminal.show([_table(found)])
        for differing in _same_name(store, found):
            print(differing)
        texts = next(store.query("SELECT count(*) FROM texts"))[0]
    size = sum(part.stat().st_size for part in _parts(chosen.cache)) / 1e6
    print(f"\n{_answers(sum(group.answers for group in found))} and {texts:,} texts in {chosen.cache} ({size:,.1f} MB)")
    print("task: the one that asked first; the answer serves any other that sends the same request.")
    for aside in damage.earlier(chosen.cache):
        print(f"set aside as damaged: {aside}")
    return 0


def export(chosen: Namespace) -> int:
    """Every answer as a line."""
    progress = Progress(f"export {chosen.cache}")
    with closing(Store(chosen.cache, readonly=True)) as store:
        total = next(store.query("SELECT count(*) FROM answers"))[0]
        with written(chosen.out, "file") as file:
            try:
                for line in progress.watch(lines.read(store.connection), range(total)):
                    file.write(f"{canonical_line(line)}\n")
            except sqlite3.Error as error:
                raise store.trouble(error) from error
    if chosen.out != "-":
        progress.say(f"{_answers(progress.done)} in {chosen.out}")
    return 0


def canonical_line(line: dict[str, Any]) -> str:
    """The keys in the order in which people read them; ASCII only, so that half an emoji survives."""
    return "{" + ",".join(f"{canonical(name)}:{canonical(value)}" for name, value in line.items()) + "}"


def import_(chosen: Namespace) -> int:
    """Answers of other caches go into this one."""
    for path in chosen.files:
        if not path.is_file():
            raise DataError(f"there is no file {path}: give what export wrote, or another cache.")
        if chosen.cache.exists() and path.samefile(chosen.cache):
            raise ConfigError(f"{path} is the cache itself: give another --cache.")
    worst = 0
    with closing(Store(chosen.cache, beside_damaged=True)) as store:
        for path in chosen.files:
            worst = max(worst, _import(store, path, replace=chosen.replace))
    return worst


def _import(store: Store, path: Path, *, replace: bool) -> int:
    progress, merged = Progress(f"import {path}"), Merged()
    answers, damaged = _source(path)
    if damaged:
        progress.say(f"{path} is damaged: what can be read of it is taken")
    done = 0
    try:
        for done in progress.watch(merge(store, answers, merged, replace=replace, tolerant=damaged), ()):
            progress.done = done
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    said = [f"{path}: {merged.new:,} new, {merged.known:,} known already"]
    if merged.conflicts:
        stays = "the imported one has taken its place" if replace else "the first one stays (--replace takes the other)"
        said.append(f"{merged.conflicts:,} with another answer than the one stored: {stays}")
    if merged.wordless:
        said.append(f"{merged.wordless:,} without the words of their request")
    if merged.refused:
        said.append(f"{merged.refused:,} left out, because they are not what their key says")
    print("; ".join(said))
    return 0


def _source(path: Path) -> tuple[Iterator[Any], bool]:
    """The answers of a file, and whether it is a damaged cache. Raises DataError."""
    with path.open("rb") as file:
        magic = file.read(1)
    if magic in (b"{", b""):
        return lines.of_file(path), False
    try:
        try:
            db = for_reading(path)
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok":
                return lines.read(db), False
            db.close()
        except sqlite3.DatabaseError as error:
            if not damage.is_damage(error):
                raise
        return lines.salvage(lines.damaged(path)), True
    except sqlite3.Error as error:
        raise DataError(
            f"{path} is neither what export writes nor a cache that SQLite can open ({error}). If it was a cache, "
            f"`sqlite3 {path} .recover | sqlite3 recovered.sqlite` may make one of it to import."
        ) from None


def prune(chosen: Namespace) -> int:
    """Removes what is chosen, once it has been shown and confirmed."""
    wanted = upkeep.Chosen(chosen.model, chosen.identity, chosen.task, chosen.before)
    if wanted == upkeep.Chosen():
        raise ConfigError("prune needs to be told what: --model, --identity, --task or --before.")
    with closing(Store(chosen.cache, readonly=not chosen.yes)) as store:
        found = upkeep.groups(store, wanted)
        if not found:
            names = sorted({group.name for group in upkeep.groups(store)})
            raise ConfigError(
                f"nothing in {chosen.cache} is meant by that. Its models are {', '.join(names) or 'none'}."
            )
        terminal.show([_table(found)])
        count = sum(group.answers for group in found)
        if not chosen.yes:
            print(f"\n{_answers(count)} would go. Nothing was removed: add --yes to remove them.")
            return 0
        print(f"\n{_answers(upkeep.prune(store, wanted))} removed.")
        if not upkeep.shrink(store):
            print("The file is in use or the disk is full: the room will be used again, but is not given back.")
    return 0


def verify(chosen: Namespace) -> int:
    """Whether everything is what it is said to be."""
    progress, found = Progress(f"verify {chosen.cache}"), upkeep.Findings()
    with closing(Store(chosen.cache, readonly=True)) as store:
        total = next(store.query("SELECT count(*) FROM answers"), (0,))[0]
        for _ in progress.watch(upkeep.verify(store, found), range(total)):
            pass
    if not found.counts:
        print(f"{chosen.cache}: {_answers(found.answers)}, every key, text and identity is what its digest says.")
        return 0
    for what, count in found.counts.items():
        print(f"{count:,} times: {what} (the first: {found.first[what]})")
    raise StoreError(
        f"{chosen.cache} is not sound: `python -m harness.cache import {chosen.cache} --cache NEW.sqlite` makes a new "
        "one of what is."
    )


def _table(found: Iterable[upkeep.Group]) -> Table:
    header = ["model", "identity", "task", "answers", "first", "last", "tokens in", "out"]
    rows = [
        [
            group.name or "–",
            group.identity[:8],
            group.task or "–",
            f"{group.answers:,}",
            *(f"{datetime.fromtimestamp(at):%Y-%m-%d}" for at in (group.first, group.last)),
            *("–" if count is None else f"{count:,}" for count in (group.input, group.output)),
        ]
        for group in found
    ]
    return Table.of(header, rows, text_columns=3, spare=("first", "last", "identity", "tokens in", "out"))


def _same_name(store: Store, found: list[upkeep.Group]) -> Iterator[str]:
    """In what models of one name differ."""
    from harness.cache.nearest import differences

    known = upkeep.identities(store)
    by_name: dict[str, list[str]] = {}
    for group in found:
        if group.identity not in by_name.setdefault(group.name, []):
            by_name[group.name].append(group.identity)
    for name, several in by_name.items():
        for other in several[1:]:
            said = differences(known[several[0]], known[other])
            told = "; ".join(said).replace(" there, ", f" in {several[0][:8]}, ").replace(" now", f" in {other[:8]}")
            yield f"{name}: {told}"


def _answers(count: int) -> str:
    return f"{count:,} answer{'' if count == 1 else 's'}"


def _parts(path: Path) -> list[Path]:
    return [part for end in ("", "-wal", "-shm") if (part := Path(f"{path}{end}")).exists()]
