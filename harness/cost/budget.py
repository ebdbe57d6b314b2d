"""The budget of one run: what it has spent, and what is set aside for its calls under way.

A call goes out if what is spent, what is set aside and the most that it may take are within the limits. What the server
counts replaces the most once the call has ended; where it counts nothing, the most stays spent. So a limit is never
passed by more than the calls under way.

Several processes may share a budget: what each has taken stands in a file that all of them read. A process may end at
any moment: what a dead one had set aside counts as spent, since nobody knows what of it was billed; what a living one
has set aside is waited for.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.cost.price import dollars
from harness.errors import BudgetReached, StoreError
from harness.settings import Limits

_SILENT = 3600.0
"""Seconds after which a process of another machine that has written nothing is taken for dead."""


@dataclass
class Taken:
    """What has been taken from a budget: spent, and set aside for tries under way."""

    usd: float = 0.0
    requests: int = 0
    usd_aside: float = 0.0
    requests_aside: int = 0


class Accounts:
    """The accounts of a budget in an SQLite file, of which this process keeps one."""

    def __init__(self, file: Path, whose: str = " of all jobs together") -> None:
        """Open a new account: a job that Slurm or Ray begins once more does not forget what it has spent.

        `whose` is said of a limit that is reached.
        """
        self._file, self.whose = file, whose
        self._account = uuid4().hex

    @contextmanager
    def turn(self, mine: Taken) -> Iterator[Taken]:
        """Yield what the others have taken; write down what is `mine` at the end. One process at a time has a turn."""
        try:
            with closing(sqlite3.connect(self._file, timeout=60, isolation_level=None)) as connection:
                # What the system loses with the power was spent by jobs that are gone with it.
                connection.execute("PRAGMA synchronous=OFF")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS account (account TEXT PRIMARY KEY, host TEXT, process INTEGER, "
                    "written REAL, usd REAL, requests INTEGER, usd_aside REAL, requests_aside INTEGER)"
                )
                connection.execute("BEGIN IMMEDIATE")
                yield self._others(connection)
                row = (self._account, socket.gethostname(), os.getpid(), time.time(), *vars(mine).values())
                connection.execute("INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(
                f"the budget that the jobs share cannot be kept in {self._file} ({error}): choose another results=."
            ) from error

    def _others(self, connection: sqlite3.Connection) -> Taken:
        others = Taken()
        rows = connection.execute("SELECT * FROM account WHERE account != ?", (self._account,))
        for _, host, process, written, usd, requests, usd_aside, requests_aside in rows:
            alive = _is_running(process) if host == socket.gethostname() else time.time() - written < _SILENT
            others.usd += usd + usd_aside * (not alive)
            others.requests += requests + requests_aside * (not alive)
            others.usd_aside += usd_aside * alive
            others.requests_aside += requests_aside * alive
        return others


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # it may be there, and another's
    return True


class Budget:
    """What one run may take, its judge included; several processes may share one."""

    def __init__(self, limits: Limits, accounts: Accounts | None = None) -> None:
        """Open an account; `accounts` are those of all processes that take from the same limits."""
        self.limits = limits
        self._accounts = accounts if limits else None
        self._mine, self._others = Taken(), Taken()

    @property
    def spent(self) -> Taken:
        """What has been spent, by the others too where there are any."""
        return Taken(self._mine.usd + self._others.usd, self._mine.requests + self._others.requests)

    def take(self, usd: float, surprise: float = 0.0) -> bool:
        """Set aside what a try may take at most; return False where that and `surprise` might pass a limit."""
        with self._turn():
            if self.limit(usd + surprise) is not None:
                return False
            self._mine.usd_aside += usd
            self._mine.requests_aside += 1
            return True

    def settle(self, aside: float, spent: float, *, sent: bool = True) -> None:
        """Give back what was set aside for a try, and enter what it has taken: as the server counted, or the most."""
        with self._turn():
            self._mine.requests_aside -= 1
            # Exactly nothing once none is under way: the last digits of many sums do not add up.
            self._mine.usd_aside = self._mine.usd_aside - aside if self._mine.requests_aside else 0.0
            self._mine.usd += spent
            self._mine.requests += sent

    def raise_most(self, under_way: float, uncounted: float) -> None:
        """Enter that the tries under way, and those that nobody counted, may have taken so many USD more."""
        with self._turn():
            self._mine.usd_aside += under_way
            self._mine.usd += uncounted

    def limit(self, usd: float, *, alone: bool = False) -> str | None:
        """Return the limit that a try might pass, or None; `alone`: once nothing else is under way."""
        spent, asides = self.spent, () if alone else (self._mine, self._others)
        most, tries = self.limits.usd, self.limits.requests
        if tries is not None and spent.requests + 1 + sum(each.requests_aside for each in asides) > tries:
            return "requests"
        # Sums of cents are not exact: the last digits must not stop a run.
        if most is not None and spent.usd + usd + sum(each.usd_aside for each in asides) > most * (1 + 1e-9):
            return "usd"
        return None

    def wait(self) -> None:
        """Wait a moment for what other processes may give back."""
        time.sleep(0.1)
        with self._turn():
            pass

    def reached(self, limit: str, usd: float) -> BudgetReached:
        """Return the error for a limit that a next try of `usd` at most might pass."""
        reason = f"{self.spent.requests:,} asked"
        if limit == "usd":
            reason = f"{dollars(self.spent.usd)} spent, and the next call may cost {dollars(usd)}"
        whose = "" if self._accounts is None else self._accounts.whose
        return BudgetReached(
            f"budget.{limit}={getattr(self.limits, limit):g}{whose} is reached ({reason}): every answer so far is "
            "kept, and the same command with a new budget asks for the rest."
        )

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._accounts is None:
            yield
            return
        with self._accounts.turn(self._mine) as self._others:
            yield
