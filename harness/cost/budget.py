"""The budget of one run: what it has spent, and what is set aside for its calls under way.

A call goes out if what is spent, what is set aside and the most that it may take are within the limits. What the server
counts replaces the most once the call has ended; where it counts nothing, the most stays spent. So a limit is never
passed by more than the calls under way.

Several processes may share a budget: what each has taken stands in a file that all of them read. A process may end at
any moment: what a dead one had set aside counts as spent, since nobody knows what of it was billed; what a living one
has set aside is waited for.
"""

from __future__ import annotations

import math
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.cost.price import Price, dollars
from harness.errors import BudgetReached, ConfigError, StoreError
from harness.protocols import Service
from harness.settings import Limits

_PATIENCE = 60.0
"""Seconds to wait for another process's turn, which takes a thousandth of one."""
_SILENT = 3600.0
"""Seconds after which a process of another machine that has written nothing is taken for dead."""
_WAIT = 0.1
"""Seconds between two looks at whether others have given back what they had set aside."""


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
            with closing(self._connection()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield self._others(connection)
                me = (self._account, socket.gethostname(), os.getpid(), time.time())
                amounts = (mine.usd, mine.requests, mine.usd_aside, mine.requests_aside)
                connection.execute("INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*me, *amounts))
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
            "usd REAL, requests INTEGER, usd_aside REAL, requests_aside INTEGER)"
        )
        connection.execute("CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY, began REAL)")
        return connection

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
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and another's
        return True
    return True


class Budget:
    """What one run may take, its judge included; several processes may share one."""

    def __init__(self, limits: Limits, accounts: Accounts | None = None) -> None:
        """Open an account; `accounts` are those of all processes that take from the same limits."""
        self.limits = limits
        self.uncounted_usd = 0.0
        """The part of what is spent that no server has counted."""
        self._accounts = accounts if limits else None
        self._mine, self._others = Taken(), Taken()
        self._began: float | None = None

    @property
    def spent(self) -> Taken:
        """What has been spent, by the others too where there are any."""
        return Taken(self._mine.usd + self._others.usd, self._mine.requests + self._others.requests)

    @property
    def left(self) -> float:
        """Seconds until the time is over; inf without a limit, and before the clock has begun: batches begin none."""
        if self.limits.minutes is None or self._began is None:
            return math.inf
        return 60 * self.limits.minutes - (time.monotonic() - self._began)

    def begin(self) -> None:
        """Start the clock, the first time: of processes that share a budget, that of the first."""
        if self._began is None:
            self._began = time.monotonic()
            if self._accounts is not None:
                self._began -= time.time() - self._accounts.began()

    def take(self, usd: float, requests: int, surprise: float = 0.0) -> bool:
        """Set aside what a try may take at most; return False where that and `surprise` might pass a limit."""
        with self._turn():
            if self.limit(usd + surprise, requests) is not None:
                return False
            self._mine.usd_aside += usd
            self._mine.requests_aside += requests
            return True

    def settle(self, aside: tuple[float, int], spent: tuple[float, int], *, counted: bool = True) -> None:
        """Give back what was set aside for a try, and enter what it has taken: as the server counted, or the most."""
        with self._turn():
            self._mine.usd_aside -= aside[0]
            self._mine.requests_aside -= aside[1]
            if not self._mine.requests_aside:  # so that the last digits of many sums do not add up
                self._mine.usd_aside = 0.0
            self._mine.usd += spent[0]
            self._mine.requests += spent[1]
            self.uncounted_usd += 0.0 if counted else spent[0]

    def raise_most(self, usd: float, *, under_way: int, uncounted: int) -> None:
        """Enter that each try under way, and each that nobody counted, may have taken so much more."""
        with self._turn():
            self._mine.usd_aside += usd * under_way
            self._mine.usd += usd * uncounted
            self.uncounted_usd += usd * uncounted

    def limit(self, usd: float, requests: int, *, alone: bool = False) -> str | None:
        """Return the limit that a try might pass, or None; `alone`: once nothing else is under way."""
        if self.left <= 0:
            return "minutes"
        spent, both = self.spent, (self._mine, self._others)
        aside = Taken() if alone else Taken(sum(t.usd_aside for t in both), sum(t.requests_aside for t in both))
        limits = self.limits
        if limits.requests is not None and spent.requests + aside.requests + requests > limits.requests:
            return "requests"
        # Sums of cents are not exact: the last digits must not stop a run.
        if limits.usd is not None and spent.usd + aside.usd + usd > limits.usd * (1 + 1e-9):
            return "usd"
        return None

    def wait(self) -> None:
        """Wait a moment for what other processes may give back."""
        time.sleep(min(_WAIT, max(self.left, 0)))
        with self._turn():
            pass

    def reached(self, limit: str, usd: float) -> BudgetReached:
        """Return the error for a limit that a next try of `usd` at most might pass."""
        spent = self.spent
        uncounted = f", {dollars(self.uncounted_usd)} of it the most of calls that nobody counted"
        reason = {
            "usd": f"{dollars(spent.usd)} spent{uncounted * (self.uncounted_usd > 0)}, and the next call may cost "
            f"{dollars(usd)}",
            "requests": f"{spent.requests:,} asked",
            "minutes": "the time is over",
        }[limit]
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


def needs_price(limits: Limits, price: Price | None, service: Service | None, group: str = "model") -> None:
    """Raise ConfigError for a limit in USD without a known price. `group` is the config group that sets the price.

    A server on this machine may stand before one that is paid for; who says that it costs nothing is believed.
    """
    if limits.usd is None or service is None:
        return
    if price is None:
        why = "which is unknown"
    elif price.free and all(usd is None for usd in (service.price or {}).values()):
        why = f"and what runs on this machine ({service.base_url}) is taken to cost nothing"
    else:
        return
    nothing = "" if price is None else f" ({group}.price.input=0 {group}.price.output=0 if it is free)"
    raise ConfigError(
        f"budget.usd needs the {group}'s price, {why}: give {group}.price.input=… and {group}.price.output=… in "
        f"USD per million tokens{nothing}, or set budget.requests instead."
    )
