"""The search for how many calls at once a server is best asked with, by how long its answers take.

More calls at once bring more answers a second, or as many, each of which waits longer; but some servers work more
slowly the more they have to do. Where answers take longer than they did with few calls, fewer are tried for a while,
and kept if more comes through; later a few more are.
"""

from __future__ import annotations

import math

from harness.models.api.sent_calls import Sent

START = 8
"""Calls at once to begin with."""
FEWER, FAR_FEWER = 0.75, 0.5
"""The slots of a trial, as a share of those before, or the other way round; and where answers take far longer."""
BETTER = 1.05
"""How many times as much has to come through in a trial."""
SLOWER, FAR_SLOWER = 1.5, 3.0
"""How many times as long as at best answers have to take for fewer slots to be tried, and for far fewer."""
WORSE = 0.4
"""The same for all slots, as a share of how many times as many they are as at the beginning: a server that works on
many at once takes longer, and answers more."""
REST, LONGEST_REST = 8, 128
"""Rounds between trials, twice as many after each that was of no use."""


class SlotSearch:
    """`slots` calls at once, `most` at most: they become more with every answer, and fewer by trials and timeouts."""

    def __init__(self, most: int) -> None:
        """Begin with a few."""
        self.most = most
        self.slots = float(min(START, most))
        self._slowly = False  # after a timeout
        self._held = False  # a trial has shown that fewer are better
        self._rest = self._pause = 0
        self._up = False  # the last trial was of more
        self._before: tuple[float, float] | None = None  # slots and answers a second before a trial, while it lasts
        self._shortest = math.inf
        self._counts_from = -math.inf  # calls that went out earlier say nothing about this round
        self._answers, self._seconds = 0, 0.0
        self._began_at, self._slots_then = math.nan, self.slots
        self._most_came = (0.0, self.slots)  # answers a second while slots became more, and how many there were

    def add_answer(self, sent: Sent, at: float, under_way: int, *, grow: bool = True) -> None:
        """Learn from an answer, while so many calls are under way, and use more slots where they may `grow`."""
        if under_way < int(self.slots) - 1:  # more would be of no use
            self._began_at = math.nan
            return
        if grow and not self._held and self._before is None:
            self.slots = min(self.most, self.slots + (1 / self.slots if self._slowly else 1.0))
        if sent.at >= self._counts_from:
            if math.isnan(self._began_at):
                self._began_at = sent.at
            self._answers += 1
            self._seconds += at - sent.at
            if self._answers >= max(self._slots_then, 2 * START):
                self._end_round(self._seconds / self._answers, at)

    def add_refusal(self) -> None:
        """Use a slot less where a call was refused and nobody knows why, or the next would be refused in its place."""
        self.slots = max(float(min(START, self.most)), self.slots - 1)

    def add_timeout(self) -> None:
        """Halve the slots where the server took a call and did not answer in time."""
        self._slowly, self._held, self._before = True, False, None
        self.slots = max(1.0, self.slots / 2)

    def _end_round(self, latency: float, at: float) -> None:
        """Judge the slots that were tried, or try others."""
        came, slots_then = self._answers / max(at - self._began_at, 1e-6), self._slots_then
        self._answers, self._seconds, self._began_at, self._slots_then = 0, 0.0, at, self.slots
        self._shortest = min(self._shortest, latency)
        through = self.slots / max(latency, 1e-6)
        if slots_then < self.slots and not self._held and self._before is None:
            if came > self._most_came[0]:
                self._most_came = (came, slots_then)
            elif came < FEWER * self._most_came[0] and latency > SLOWER * self._shortest:
                self._held, self._rest, self._up = True, 0, False
                self.slots, self._counts_from = self._most_came[1], at + latency
                return
        if self._before is not None and through < BETTER * self._before[1]:
            self.slots, self._rest = self._before[0], self._pause
            self._pause = max(REST, min(2 * self._pause, LONGEST_REST))
            self._before, self._counts_from = None, at + latency
        elif self._before is None and self._rest > 0:
            self._rest -= 1
        else:
            self._held = self._held or self._before is not None
            up = self._held and (self._up if self._before is not None else not self._up)
            slower = latency / self._shortest
            fewer = FEWER**0.5 if self._pause else FEWER
            less = FAR_FEWER if slower > FAR_SLOWER else fewer
            slots = min(self.slots / fewer, self.most) if up else max(less * self.slots, 1.0)
            self._up, before, self._before = up, self.slots, None
            if (
                slots != before
                and (self._held or before == self.most)
                and (up or slower > (SLOWER**0.5 if self._held else max(SLOWER, WORSE * before / START)))
            ):
                self._before = (before, through)
                self.slots, self._counts_from = slots, at + 1.2 * latency
