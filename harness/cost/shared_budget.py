"""One budget for several jobs: what each has spent and set aside stands in a file that all of them read.

A job's process may end at any moment. What a dead one had set aside counts as spent, since nobody knows what of it was
billed; what a living one has set aside is waited for.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple
from pathlib import Path
from uuid import uuid4

from harness.cost.budget import Amounts, Budget, Outlay
from harness.cost.price import Price, Size
from harness.cost.till import Till
from harness.errors import BudgetReached, StoreError
from harness.protocols import Model
from harness.types import Failure, Request, Response, Usage

_PATIENCE = 60.0
"""Seconds to wait for another process's turn, which takes a thousandth of one."""
_SILENT = 3600.0
"""Seconds after which a process of another machine that has written nothing is taken for dead."""
_WAIT = 0.1
"""Seconds between two looks at whether others have given back what they had set aside."""
_KINDS = tuple(f"{kind}_{unit}" for kind in ("spent", "aside", "unseen") for unit in ("usd", "requests"))


class Book:
    """The accounts of a budget in an SQLite file, of which this process keeps one."""

    def __init__(self, file: Path, name: str, whose: str = " of all jobs together") -> None:
        """Open an account in the file, which is made where it is not there.

        `name` says whose it is, for people: a job that Slurm or Ray begins once more opens another account, or it would
        forget what it has spent. `whose` is said of a limit that is reached.
        """
        self._file, self._name, self.whose = file, name, whose
        self._account = f"{name} ({uuid4().hex})"

    def of_judge(self) -> Book:
        """Return the same book, opened at the account of this job's judge."""
        return Book(self._file, f"{self._name}, judge", self.whose)

    @property
    def _host(self) -> str:
        return socket.gethostname()

    @contextmanager
    def turn(self, mine: Outlay) -> Iterator[Outlay]:
        """Yield what the others have taken; write down what is `mine` at the end. One process at a time has a turn."""
        try:
            with closing(self._connection()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield self._others(connection)
                amounts = [*astuple(mine.spent), *astuple(mine.aside), *astuple(mine.unseen)]
                names = ["account", "host", "process", "written", *_KINDS]
                row = [self._account, self._host, os.getpid(), time.time(), *amounts]
                values = ", ".join(f"{name}=excluded.{name}" for name in names[1:])
                connection.execute(
                    f"INSERT INTO account ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
                    f"ON CONFLICT (account) DO UPDATE SET {values}",
                    row,
                )
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(
                f"the budget that the jobs share cannot be kept in {self._file} ({error}): choose another results=."
            ) from error

    def began(self) -> float:
        """Return when the first job began to ask, in seconds of time.time(); now if none has."""
        with closing(self._connection()) as connection:
            connection.execute("INSERT OR IGNORE INTO clock VALUES (1, ?)", (time.time(),))
            return float(connection.execute("SELECT began FROM clock").fetchone()[0])

    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=_PATIENCE, isolation_level=None)
        # What the system loses with the power was spent by jobs that are gone with it.
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS account (account TEXT PRIMARY KEY, host TEXT, process INTEGER, written REAL, "
            f"{', '.join(f'{kind} REAL' for kind in _KINDS)})"
        )
        connection.execute("CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY, began REAL)")
        return connection

    def _others(self, connection: sqlite3.Connection) -> Outlay:
        others = Outlay()
        rows = connection.execute(
            f"SELECT host, process, written, {', '.join(_KINDS)} FROM account WHERE account != ?", (self._account,)
        )
        for host, process, written, *amounts in rows:
            spent, aside, unseen = (Amounts(*amounts[k : k + 2]) for k in (0, 2, 4))
            others.spent.add(spent)
            if self._alive(host, process, written):
                others.aside.add(aside)
                others.unseen.add(unseen)
            else:
                others.spent.add(aside)
        return others

    def _alive(self, host: str, process: int, written: float) -> bool:
        if host != self._host:
            return time.time() - written < _SILENT
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except OSError:  # it is there, and another's
            return True
        return True


class SharedTill(Till):
    """A till of a budget that other jobs take from as well: each decision is made with the book in hand."""

    def __init__(
        self, book: Book, budget: Budget, price: Price | None, model: Model, discard: Callable[[Usage], None]
    ) -> None:
        """Open an account that stands in a book."""
        super().__init__(budget, price, model, discard)
        self._book, self.whose = book, book.whose
        self._mine = Outlay()
        self._reserved: Size | None = None

    def follow(self, other: Till) -> None:
        """Take over the clock; what the other till has spent stands in the book."""

    def begin(self) -> None:
        """Start the clock of all jobs, the first time."""
        if self._began is None:
            super().begin()
            assert self._began is not None
            self._began -= time.time() - self._book.began()

    def room(self, size: Size) -> bool:
        """Return whether a first try may go out; room for it is kept until it does."""
        if self._reserved is None:
            with self._turn():
                self._reserved = size if super().room(size) else None
        return self._reserved is not None

    def take(self, request: Request, size: Size) -> None:
        """Set aside what a try may take that goes out now."""
        with self._turn():
            self._reserved = None
            super().take(request, size)

    def failed(self, request: Request, usage: Usage | None) -> None:
        """Enter what a try without an answer took, and set aside what another try may take, if there is room."""
        with self._turn():
            super().failed(request, usage)

    def again(self, request: Request) -> bool:
        """Return whether a try may be repeated now. Raises BudgetReached where it never may."""
        with self._turn():
            return super().again(request)

    def settle(self, request: Request, outcome: Response | Failure) -> None:
        """Enter what the last try of a request took, where `failed` has not."""
        with self._turn():
            super().settle(request, outcome)

    def enter(self, amounts: Amounts) -> None:
        with self._turn():
            super().enter(amounts)

    def forfeit(self) -> None:
        """Count as spent what is set aside for requests that a model has left without an outcome."""
        with self._turn():
            self._reserved = None
            super().forfeit()

    def stopped(self, size: Size) -> BudgetReached | None:
        """Return the error of a try that may not go out once nothing of any job is under way; None where it may."""
        with self._turn():
            return super().stopped(size)

    def wait(self) -> None:
        """Wait a moment where other jobs hold what a try needs."""
        if any(astuple(self._others.aside)):
            time.sleep(min(_WAIT, max(self.left, 0)))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._book.turn(self._mine) as self._others:
            try:
                yield
            finally:
                reserved = Amounts() if self._reserved is None else self._most(self._reserved)
                self._mine.spent, self._mine.aside = self.own, self._aside_sum + reserved
                self._mine.unseen = self.unseen


def till_of(
    budget: Budget, price: Price | None, model: Model, discard: Callable[[Usage], None], book: Book | None
) -> Till:
    """Return the till of a budget; a shared one only if there is a book and a limit."""
    if book is None or not budget:
        return Till(budget, price, model, discard)
    return SharedTill(book, budget, price, model, discard)
