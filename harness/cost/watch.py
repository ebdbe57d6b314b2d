"""A run under a rule (`until=`): which items it gives out, which records count, what it has come to."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from harness.cost.ledger import Ledger
from harness.cost.until import Until
from harness.errors import RunStopped
from harness.runtime.signals import STOP
from harness.scoring.definitions import definition
from harness.scoring.samples import votes
from harness.storage.manifest import TracedItems
from harness.storage.run_folder import Account
from harness.types import JSON, Item, Record, Request, Response

Landing = Iterator[tuple[Record, Request | None]]
FIRST_ROUND = 64
"""Items of the first batches of a run that is to be decided: nobody knows how many it takes."""


class Watch:
    """A run under way, of which each draw is looked at when all its answers are there."""

    def __init__(self, until: Until, samples: int) -> None:
        self.until, self._samples = until, samples
        self.estimate = until.estimate()
        self.decision = ""
        self.draws = self.items = 0
        """Looked at."""
        self.left_over: list[tuple[Record, Request | None]] = []
        """What landed and is of no draw that counted."""
        self._open: deque[Sequence[Item]] = deque()
        """Draws that have been given out."""
        self._waiting: dict[str, list[tuple[Record, Request | None]]] = defaultdict(list)
        self._requests: set[str] = set()
        self._stopping = False

    def rounds(self, *, at_once: bool) -> Iterator[Iterable[Item]]:
        """Yield the items in the order in which they are asked: in one go, or as many at a time as are likely to do.

        In batches nothing is known before a whole round has landed. Nothing is given out after the decision.
        """
        draws = self.until.order.draws()
        while not self.decided:
            least = None if at_once else self._half_of_the_rest()
            if (first := next(draws, None)) is None:
                return
            yield self._given_out(chain([first], draws), least)

    def _given_out(self, draws: Iterator[Sequence[Item]], least: int | None) -> Iterator[Item]:
        count = 0
        for draw in draws:
            if self.decided:
                return
            self._open.append(draw)
            yield from draw
            count += len(draw)
            if least is not None and count >= least:
                return

    def _half_of_the_rest(self) -> int:
        """Return half of the items that the rule is likely to need still; of a decision as many as there were."""
        aim = self.until.rule.width
        if aim is None:
            return max(FIRST_ROUND, self.items)
        rest = max(sequence.needed() for sequence in self.estimate.sequences)
        of_a_draw = self.items / self.draws if self.draws else 1.0
        return max(FIRST_ROUND // 4, int(rest * of_a_draw / 2))

    @property
    def decided(self) -> bool:
        """Whether nothing more is to be asked."""
        return bool(self.decision) and (self.decision == "worse" or not self.until.beaten_only)

    def settled(self, landing: Landing) -> Landing:
        """Yield the records of draws that count, in the order of the items; after the decision none.

        Where something else ends the run, whatever has landed. The end is asked for as Ctrl-C asks for it.
        """
        try:
            for record, request in landing:
                self._waiting[record.item].append((record, request))
                while not self.decided and self._open and self._whole(self._open[0]):
                    yield from self._look(self._open.popleft())
                if self.decided and not self._stopping and not STOP.requested:
                    self._stopping = STOP.requested = True
        except RunStopped:
            if not self.decided:
                yield from chain.from_iterable(self._waiting.values())
                raise
        finally:
            if self._stopping:
                STOP.requested = False
        self.left_over = list(chain.from_iterable(self._waiting.values()))

    def _whole(self, draw: Sequence[Item]) -> bool:
        return all(len(self._waiting.get(item.id, ())) == self._samples for item in draw)

    def _look(self, draw: Sequence[Item]) -> Landing:
        pairs = [pair for item in draw for pair in sorted(self._waiting.pop(item.id), key=lambda pair: pair[0].sample)]
        yield from pairs
        self.enter(draw, [record for record, _ in pairs])

    def enter(self, draw: Sequence[Item], records: Sequence[Record]) -> None:
        """Look at a draw whose answers are all there."""
        self.draws += 1
        self.items += len(draw)
        self._requests.update(record.request for record in records if record.request is not None)
        self.estimate.add(draw, list(votes(records, self._samples)))
        self.decision = self.estimate.decision

    def trace(self, ledger: Account | None) -> TracedItems:
        """Return the items of the records; take the answers that no record holds out of the sums of the ledger.

        Of a run that something else has ended, the items that were given out.
        """
        under_way = 0 if self.decided else sum(map(len, self._open))
        asked = TracedItems(islice(self.until.order.items(), self.items + under_way))
        for _ in asked:
            pass
        kept = {None, *self._requests}
        for record, _ in self.left_over:
            if isinstance(record.outcome, Response) and record.request not in kept and isinstance(ledger, Ledger):
                kept.add(record.request)
                ledger.leave_out(record.outcome)
        return asked

    @property
    def asked_beyond(self) -> int:
        """How many answers were asked for now and are of no draw that counted: they were under way at the decision."""
        outcomes = [record.outcome for record, _ in self.left_over]
        return sum(not (isinstance(outcome, Response) and outcome.cached) for outcome in outcomes)

    @property
    def found(self) -> dict[str, JSON]:
        """What the manifest says of it."""
        until, order = self.until, self.until.order
        value = self.estimate.value
        return {
            **until.configuration,
            **({} if until.against is None or not until.beaten_only else {"against": dict(until.against.identity)}),
            **({} if until.target is None else {"target": round(until.target, 6)}),
            "level": round(1 - until.alpha, 6),
            "decision": self.decision or "not decided",
            "value": value,
            "interval": list(self.estimate.interval),
            "draws": self.draws,
            "of_draws": order.number,
            "items": self.items,
            "calls": len(self._requests),
        }

    def fact(self) -> str:
        """Return the width so far, for the bar; "" before the first draw."""
        return f"{100 * self.estimate.width:.1f} points wide" if self.draws else ""


def verdict(found: Mapping[str, Any]) -> str:
    """Return what a rule has come to, in half a line."""
    against = (found.get("against") or {}).get("name", "")
    decision = {
        "narrow enough": "the interval is narrow enough",
        "better": f"better than {against}",
        "worse": f"beaten by {against}",
        "equal": f"equal to {against}",
    }.get(found["decision"], "not decided")
    return f"until={found['rule']}: {decision} after {found['calls']:,} calls"


def sentence(found: Mapping[str, Any]) -> str:
    """Return what a run has found by its rule, for people."""
    against = (found.get("against") or {}).get("name", "")
    number, (low, high) = definition(found["metric"]).title, found["interval"]
    number = f"difference of {number}" if against and "target" not in found else number
    target = f" ({against} has {100 * found['target']:.2f})" if "target" in found else ""
    by_looks = (
        f" This interval holds with {100 * found['level']:.3g}% however often one looks; those in the table do not, "
        "where a run has stopped by what it saw."
    )
    return (
        f"{verdict(found)} ({found['items']:,} items in {found['draws']:,} draws): {number} "
        f"[{100 * low:.2f}, {100 * high:.2f}]{target}."
        f"{' All items were asked.' if found['draws'] == found['of_draws'] else by_looks}"
    )


def caution(found: Mapping[str, Any] | None) -> str:
    """Return the sentence that belongs below a table with a run that its rule has stopped; "" for all other runs."""
    try:
        return "" if found is None or found["draws"] == found["of_draws"] else sentence(found)
    except (KeyError, TypeError, ValueError):  # a manifest that this program has not written
        return ""


def replayed(until: Until, samples: int, records: Iterable[Record]) -> Watch | None:
    """Return the watch over a run after all its records; None where these are of other items, or go on too long."""
    watch, rest = Watch(until, samples), iter(records)
    for draw in until.order.draws():
        landed = list(islice(rest, samples * len(draw)))
        if not landed:
            return watch
        if watch.decided or [record.item for record in landed] != [i.id for i in draw for _ in range(samples)]:
            return None
        watch.enter(draw, landed)
    return None if next(rest, None) is not None else watch
