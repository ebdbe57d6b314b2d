"""The addresses that serve one model: which of them gets a request, and where it goes if one is down.

Consecutive requests share a prefix (a premise, a network). Blocks of them go to one address, so that each server
computes a prefix once. Each address has a gate of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass

from harness.models.api.client import Wire
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import PageError, message_of, status, timed_out
from harness.models.api.gate import Gate
from harness.models.api.replies import InvalidReplyError, LostError

BLOCK = 64
"""Consecutive requests that go to one address."""
IN_A_ROW = 3
"""Failures in a row after which an address counts as down; one is enough if it is unreachable or refuses every call."""
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 300.0
"""Seconds until an address that is down gets a request again, doubled each time that fails."""
_REFUSES_ALL = frozenset((401, 402, 403, 404))


@dataclass(eq=False)
class Address:
    """One address: its connections, its gate, and whether it is down."""

    url: str
    gate: Gate
    wire: Wire
    open: int = 0
    """Requests assigned to it without an outcome yet; most of a block waits at its gate."""
    unsent: int = 0
    """Those of them that have never gone out."""
    failures: int = 0
    """In a row."""
    pause: float = 0.0
    """Seconds of the latest pause; 0 while it is up."""
    down_until: float = 0.0

    def load(self) -> float:
        return self.open / max(1.0, self.gate.slots)

    @property
    def down(self) -> bool:
        """Whether it gets no requests for now."""
        return time.monotonic() < self.down_until

    @property
    def ready(self) -> bool:
        """Whether it can take another request; after a pause it gets a single one, to show that it is back."""
        if self.pause:
            return not self.down and self.open == 0
        return self.gate.has_room(self.open, self.unsent - self.gate.queued)


class Fleet:
    """All addresses of an endpoint, which to the event loop look like one gate."""

    def __init__(self, endpoint: Endpoint, say: Callable[[str], None] = lambda _: None) -> None:
        """Prepare the connections; `say` prints a line for the user."""
        self.addresses = [_address(endpoint, url) for url in endpoint.addresses]
        self._say = say
        self._current = self.addresses[0]
        self._left_of_block = BLOCK
        self._gates_of_outcomes: deque[Gate] = deque()
        self._reported_down: set[str] = set()

    @property
    def when_room(self) -> Callable[[], None]:
        """Called when a call has failed: while it waits for its retry there is room for another."""
        return self.addresses[0].gate.when_room

    @when_room.setter
    def when_room(self, call: Callable[[], None]) -> None:
        for address in self.addresses:
            address.gate.when_room = call

    def has_room(self, open_calls: int, waiting: int = 0) -> bool:
        """Test whether any address can take another request."""
        if len(self.addresses) == 1:
            return self.addresses[0].gate.has_room(open_calls, waiting)
        return not open_calls or any(address.ready for address in self.addresses)

    def look_ahead(self, calls_left: Callable[[], int]) -> None:
        """Tell each gate its share of the requests that are still to come."""
        for address in self.addresses:
            address.gate.look_ahead(lambda: -(-calls_left() // len(self.addresses)))

    def next_address(self) -> Address:
        """Return the address of the next request: that of its block, or of a new block if that is full."""
        if len(self.addresses) > 1 and (self._left_of_block <= 0 or self._current.down):
            self._begin_block()
        self._left_of_block -= 1
        return self._current

    def other(self, tried: Collection[Address]) -> Address | None:
        """Return the idlest address that is up and was not tried, or None."""
        up = [address for address in self.addresses if not address.pause and address not in tried]
        return min(up, key=Address.load) if up else None

    def note_answer(self, address: Address) -> None:
        address.failures = 0
        if address.pause:
            address.pause = address.down_until = 0.0

    def is_down(self, address: Address, error: Exception) -> bool:
        """Learn from a failed call; return whether its address is to be paused while others go on."""
        if len(self.addresses) == 1 or not _of_address(error):
            return False
        address.failures += 1
        at_once = isinstance(error, PageError) or status(error) in _REFUSES_ALL
        at_once = at_once or (isinstance(error, LostError) and not error.connected)
        if address.failures < IN_A_ROW and not at_once and not address.pause:
            return False
        if all(other.pause for other in self.addresses if other is not address):
            return False  # no other is left: the policy decides what the failure means
        if not address.down:  # else each of the calls under way would double the pause
            address.pause = min(max(2 * address.pause, FIRST_PAUSE), LONGEST_PAUSE)
            address.down_until = time.monotonic() + address.pause
        if address.url not in self._reported_down:
            self._reported_down.add(address.url)
            self._say(f"{address.url} is left alone for now ({message_of(error)}): its requests go to the others")
        return True

    def hold_slot(self, address: Address) -> None:
        """Keep a slot for an answer until it has been stored."""
        address.gate.hold_slot()
        self._gates_of_outcomes.append(address.gate)

    def release_slot(self) -> None:
        """Free the slot of a stored answer. Answers are stored in the order in which their slots were held."""
        self._gates_of_outcomes.popleft().release_slot()

    async def close(self) -> None:
        await asyncio.gather(*(address.wire.close() for address in self.addresses))

    def _begin_block(self) -> None:
        """Choose the idlest address with room for the next block; one that was down gets a block of one request."""
        with_room = [address for address in self.addresses if address.ready] or self.addresses
        self._current = min(with_room, key=Address.load)
        self._left_of_block = 1 if self._current.pause else BLOCK


def _address(endpoint: Endpoint, url: str) -> Address:
    gate = Gate(
        endpoint.max_concurrency,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
    )
    return Address(url, gate, Wire(url, endpoint.key, endpoint.timeout, gate, endpoint.speaks))


def _of_address(error: Exception) -> bool:
    """Test whether a failure may be due to the address, rather than to the request or a limit."""
    if isinstance(error, LostError | InvalidReplyError) or timed_out(error):
        return True
    http_status = status(error) or 0
    return http_status >= 500 or http_status in _REFUSES_ALL
