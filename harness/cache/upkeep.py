"""What is in a cache, whether it is sound, and what may go."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.cache import damage
from harness.cache.lines import words_of
from harness.cache.schema import key_of
from harness.cache.store import Store, text_of
from harness.codec import canonical, digest, response_from_json, text_digest


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
class Chosen:
    """Which answers are meant: those that every given condition holds for."""

    model: str | None = None
    identity: str | None = None
    """The beginning of its digest."""
    task: str | None = None
    before: float | None = None
    """Seconds since 1970."""

    @property
    def where(self) -> tuple[str, list[Any]]:
        """The condition on answers `a` and identities `i`, and its parameters."""
        given = {
            "i.name = ?": self.model,
            "instr(i.digest, ?) = 1": self.identity,
            "a.task = ?": self.task,
            "a.stored < ?": self.before,
        }
        conditions = {said: value for said, value in given.items() if value is not None}
        return " AND ".join(conditions) or "1", list(conditions.values())


_FROM = "FROM answers a JOIN identities i ON i.digest = a.identity"


def groups(store: Store, chosen: Chosen | None = None) -> list[Group]:
    """The answers by model and task. `task` is the one that asked first: an answer is nobody's own."""
    where, values = (chosen or Chosen()).where
    tokens = ", ".join(f"sum(json_extract(a.response, '$.usage.{name}'))" for name in ("input", "output"))
    rows = store.query(
        f"SELECT i.name, i.digest, a.task, count(*), min(a.stored), max(a.stored), {tokens} {_FROM} WHERE {where} "
        "GROUP BY i.digest, a.task ORDER BY i.name, i.digest, a.task",
        *values,
    )
    return [Group(*row) for row in rows]


def identities(store: Store) -> dict[str, Any]:
    """The models' identities by their digests."""
    return {name: json.loads(text) for name, text in store.query("SELECT digest, identity FROM identities")}


def prune(store: Store, chosen: Chosen) -> int:
    """Removes the answers that are chosen, and identities and words that no other answer needs; how many answers."""
    where, values = chosen.where
    with store.transaction() as db:
        gone = db.execute(f"DELETE FROM answers WHERE key IN (SELECT a.key {_FROM} WHERE {where})", values).rowcount
        db.execute("DELETE FROM identities WHERE digest NOT IN (SELECT identity FROM answers)")
        db.execute("CREATE TEMP TABLE IF NOT EXISTS needed (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM temp.needed")
        for (request,) in db.execute("SELECT request FROM answers"):
            names = [(place["sha256"],) for place in words_of(json.loads(request))]
            db.executemany("INSERT OR IGNORE INTO temp.needed VALUES (?)", names)
        db.execute("DELETE FROM texts WHERE digest NOT IN (SELECT digest FROM temp.needed)")
    return gone


def shrink(store: Store) -> bool:
    """Gives back the room of what was removed; False where another process or a full disk is in the way."""
    try:
        store.connection.execute("VACUUM")
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError:
        return False
    return True


@dataclass
class Findings:
    """What verify has found, by kind: how many, and the first of each."""

    answers: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, where: str) -> None:
        """Counts one."""
        self.counts[what] = self.counts.get(what, 0) + 1
        self.first.setdefault(what, where)


def verify(store: Store, found: Findings) -> Iterator[None]:
    """SQLite's own check, then every text, identity and answer against its digest; one step an answer."""
    try:
        yield from _verify(store.connection, found)
    except sqlite3.DatabaseError as error:
        if not damage.is_damage(error):
            raise store.trouble(error) from error
        found.add("SQLite cannot read the file to its end", str(error))


def _verify(db: sqlite3.Connection, found: Findings) -> Iterator[None]:
    for (said,) in db.execute("PRAGMA integrity_check(20)"):
        if said != "ok":
            found.add("SQLite's integrity check fails", said)
    for name, text in db.execute("SELECT digest, text FROM texts"):
        if text_digest(text_of(text)) != name:
            found.add("a text is not the one its digest names", name)
    models = dict(db.execute("SELECT digest, identity FROM identities"))
    for name, identity in models.items():
        if digest(json.loads(identity)) != name:
            found.add("an identity is not the one its digest names", name)
    known = "SELECT 1 FROM texts WHERE digest = ?"
    for key, identity, request, response in db.execute("SELECT key, identity, request, response FROM answers"):
        found.answers += 1
        try:
            asked = json.loads(request)
            if identity not in models:
                found.add("the identity of an answer is missing", key)
            elif key_of(models[identity], canonical(asked)) != key:
                found.add("a key is not that of what stands beside it", key)
            if not all(db.execute(known, (place["sha256"],)).fetchone() for place in words_of(asked)):
                found.add("the words of a request are missing (its answer can be replayed, not read)", key)
            response_from_json(json.loads(response), cached=True)
        except (ValueError, TypeError, KeyError, AttributeError):
            found.add("an answer cannot be read", key)
        yield
