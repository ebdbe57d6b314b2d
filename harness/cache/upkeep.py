"""What is in a cache, whether it is sound, and what may go."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.cache.schema import (
    UNREADABLE,
    is_damage,
    key_of,
    moment,
    oddities,
    response_of,
    tables_with_requests,
    words_of,
)
from harness.cache.store import Store, text_of
from harness.codec import MOST_TOKENS, canonical, digest, text_digest
from harness.runtime.console import clean

_MOST_PLACES = 3
"""Places that are named of each kind."""


@dataclass(frozen=True)
class Group:
    """The answers of one model that one task asked for first."""

    name: str
    """The model's, when it asked first."""
    identity: str
    """The digest of its identity."""
    task: str
    answers: int
    first: float
    """Seconds since 1970, of the oldest answer; `last` of the newest."""
    last: float
    input: int | None
    """Tokens, where they were counted; `output` likewise."""
    output: int | None


@dataclass(frozen=True)
class Selection:
    """The answers for which every given condition holds."""

    model: str | None = None
    identity: str | None = None
    """The beginning of its digest."""
    task: str | None = None
    before: float | None = None
    """Seconds since 1970."""

    @property
    def where(self) -> tuple[str, list[Any]]:
        """The condition on answers `a` and identities `i`, and its parameters."""
        every_condition = {
            "i.name = ?": self.model,
            "instr(i.digest, ?) = 1": self.identity,
            "a.task = ?": self.task,
            "a.stored < ?": self.before,
        }
        conditions = {condition: value for condition, value in every_condition.items() if value is not None}
        return " AND ".join(conditions) or "1", list(conditions.values())


_TOKENS = (
    "CASE WHEN json_valid(a.response) AND json_type(a.response, '$.usage.{0}') = 'integer' "
    f"AND json_extract(a.response, '$.usage.{{0}}') BETWEEN 0 AND {MOST_TOKENS} "
    "THEN json_extract(a.response, '$.usage.{0}') END"
)
"""SQL for a token count: NULL where the value is no such count."""
_FROM = "FROM answers a JOIN identities i ON i.digest = a.identity"


def groups(store: Store, selection: Selection | None = None) -> list[Group]:
    """Return the answers by model and task. `task` is the one that asked first; any other may use the answer."""
    where, values = (selection or Selection()).where
    tokens = ", ".join(f"sum({_TOKENS.format(name)})" for name in ("input", "output"))
    select = (
        f"SELECT i.name, i.digest, a.task, count(*), min(a.stored), max(a.stored), {tokens} {_FROM} WHERE {where} "
        "GROUP BY i.digest, a.task"
    )
    return [Group(*row) for row in store.query(f"{select} ORDER BY 1, 2, 3", *values)]


def prune(store: Store, selection: Selection) -> int:
    """Remove the selected answers, with identities and words that no other answer needs; return their number."""
    where, values = selection.where
    with store.transaction() as db:
        db.execute("CREATE TEMP TABLE IF NOT EXISTS needed (key TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM temp.needed")
        count = db.execute(f"DELETE FROM answers WHERE key IN (SELECT a.key {_FROM} WHERE {where})", values).rowcount
        for table in tables_with_requests(db):
            _need(db, db.execute(f'SELECT request FROM "{table}"'))
        db.execute("DELETE FROM identities WHERE digest NOT IN (SELECT identity FROM answers)")
        db.execute("DELETE FROM texts WHERE digest NOT IN (SELECT key FROM temp.needed)")
    return count


def _need(db: sqlite3.Connection, requests: Iterable[tuple[Any]]) -> None:
    """Note the words of requests in the table of what stays."""
    for (request,) in requests:
        try:
            names = [(str(place["sha256"]),) for place in words_of(json.loads(request))]
        except UNREADABLE:  # its words cannot be told either
            continue
        db.executemany("INSERT OR IGNORE INTO temp.needed VALUES (?)", names)


def shrink(store: Store) -> bool:
    """Return the room of what was removed to the disk; False where another process or a full disk prevents it."""
    try:
        store.connection.execute("VACUUM")
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError:
        return False
    return True


@dataclass
class Findings:
    """What is wrong in a cache, by kind: how many, and the first few of each."""

    answers: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, where: object) -> None:
        """Count a finding of kind `what`, and keep the first few places."""
        self.counts[what] = self.counts.get(what, 0) + 1
        if len(places := self.places.setdefault(what, [])) < _MOST_PLACES:
            places.append(str(where))


def verify(store: Store, findings: Findings) -> Iterator[None]:
    """Run SQLite's own check, then check every text, identity and answer; yield once an answer."""
    try:
        yield from _verify(store, findings)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise store.trouble(error) from error
        findings.add("SQLite cannot read the file to its end", error)


def _verify(store: Store, findings: Findings) -> Iterator[None]:
    for (sentence,) in store.connection.execute("PRAGMA integrity_check(20)"):
        if sentence != "ok":
            findings.add("SQLite's integrity check fails", sentence)
    for name, text in store.query("SELECT digest, text FROM texts"):
        if _digest(lambda text: text_digest(text_of(text)), text) != name:
            findings.add("a text is not the one its digest names", name)
    models = dict(store.connection.execute("SELECT digest, identity FROM identities"))
    for name, identity in models.items():
        if _digest(lambda identity: digest(json.loads(identity)), identity) != name:
            findings.add("an identity is not the one its digest names", name)
    for row in store.connection.execute("SELECT key, identity, request, response, digest, stored FROM answers"):
        findings.answers += 1
        _verify_answer(store, models, row, findings)
        yield


def _verify_answer(store: Store, models: Mapping[str, str], row: tuple[Any, ...], findings: Findings) -> None:
    key, identity, request, response, expected_digest, stored = row
    try:
        request_json = json.loads(request)
        if identity not in models:
            findings.add("the identity of an answer is missing", key)
        elif key_of(models[identity], canonical(request_json)) != key:
            findings.add("a key is not that of what stands beside it", key)
        if not all(store.has_text(str(place["sha256"])) for place in words_of(request_json)):
            findings.add("the words of a request are missing (its answer can be replayed, not read)", key)
        moment(stored)
    except (*UNREADABLE, OSError):
        findings.add("what was asked, or when, cannot be read", key)
    try:
        response_of(key, response, expected_digest)
        for name in oddities(response):
            findings.add(f"{name} of an answer is of another type than its own, and counts as not told", key)
    except UNREADABLE as error:
        findings.add(f"an answer cannot be read and counts as missing, since {str(error)[:60]}", key)


def _digest(of: Callable[[Any], str], stored: Any) -> str | None:
    try:
        return of(stored)
    except UNREADABLE:
        return None


def printable(text: object) -> str:
    """Return a name on one line, without what a terminal would obey: a cache may come from somebody else."""
    return clean(str(text)).replace("\n", "\N{REPLACEMENT CHARACTER}")


def in_words(count: int) -> str:
    return f"{count:,} answer{'' if count == 1 else 's'}"
