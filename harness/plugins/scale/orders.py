"""What a worker is told, and what it leaves: files in one folder that it shares with the command that started it.

N.json           the order: the run's settings, the items, the model that it has to be
N.sqlite         the answers, as they land; no other process writes to it
N.failures.jsonl the calls that failed, by the digests of their requests
N.status.json    how far it is, once a second
N.outcome.json   how it ended; one that was killed leaves none
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.storage.json_files import beside, format_json, object_in
from harness.types import JSON, Failure


@dataclass(frozen=True)
class Order:
    """What one worker asks."""

    config: Mapping[str, JSON]
    """Of the run, with its own cache and its part of the budget."""
    identity: Mapping[str, JSON]
    """Of the model, as the command that scores the answers sees it."""
    runs: tuple[tuple[int, int], ...]
    """The items: from a place to before another one."""
    shard: int
    shards: int
    folder: str
    """The working directory of the command."""
    paths: Mapping[str, str]
    """Settings that name a file or a folder, which has to be there for the worker, too."""

    def write(self, place: Path) -> None:
        """Write the order."""
        place.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read(place: Path) -> Order:
    """Return the order of a file."""
    content = json.loads(place.read_text(encoding="utf-8"))
    return Order(**content | {"runs": tuple((start, end) for start, end in content["runs"])})


@dataclass(frozen=True)
class Status:
    """How far a worker is."""

    done: int = 0
    cached: int = 0
    failed: int = 0
    usd: float = 0.0
    """Spent, as its prices have it."""
    discarded: float = 0.0
    """USD of that for replies that were no answer."""
    taken: Mapping[str, float] = field(default_factory=dict)
    """What its budget has lost, those of earlier lives of the worker included."""


@dataclass(frozen=True)
class Outcome:
    """How a worker ended."""

    error: str | None
    kind: str
    """The class of the error; "" where there is none."""
    host: str
    machine: Mapping[str, JSON]


def place_of(order: Path, what: str) -> Path:
    """Return a file that belongs to an order: its sqlite, failures.jsonl, status.json or outcome.json."""
    return order.with_name(f"{order.stem}.{what}")


def write(place: Path, value: Status | Outcome) -> None:
    """Write a file all at once: a reader never sees half of it."""
    temporary = beside(place)
    temporary.write_text(format_json(asdict(value)), encoding="utf-8")
    temporary.replace(place)


def status_of(order: Path) -> Status:
    """Return how far a worker is; nothing where it has not begun."""
    with suppress(TypeError):
        return Status(**object_in(place_of(order, "status.json")))
    return Status()


def outcome_of(order: Path) -> Outcome | None:
    """Return how a worker ended; None where it left nothing."""
    content = object_in(place_of(order, "outcome.json"))
    return Outcome(**content) if content else None


def failures_of(order: Path) -> Iterator[tuple[str, Failure]]:
    """Yield the failed calls of a worker by the digests of their requests; what is no whole line is left out."""
    with suppress(OSError):
        for line in place_of(order, "failures.jsonl").read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                content: Any = json.loads(line)
                yield content["request"], Failure(content["kind"], content["detail"])
