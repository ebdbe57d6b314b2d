"""The rounds of one command: in each, missing answers are dealt to workers, which are watched until they have ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path

from harness.cache import Store
from harness.cost.budget import Amounts
from harness.cost.price import dollars
from harness.engine import Engine, Started, State, Work
from harness.errors import BudgetReached, RunStopped
from harness.plugins.scale import folder
from harness.plugins.scale.dealing import Answers, Ranges, deal
from harness.plugins.scale.folder import Assignment, WorkerOutcome, WorkersProgress, place_of
from harness.prepare import Prepared
from harness.runtime.signals import STOP
from harness.settings import LOCAL
from harness.storage.atomic_write import json_round_trip
from harness.types import JSON, Failure

_LOOK = 0.2
"""Seconds between two looks at the workers."""
_FOR_ALL = "RunStopped"
"""The kind of error that every other worker would meet, too: a bad key, a quota, replies without an answer."""


_MOST = 30.0
"""Seconds between two questions to a cluster, at most; it is asked more often at first."""


class WorkWatch:
    """The state of each piece of work, from the engine's word and from the outcomes that pieces leave."""

    def __init__(self, started: Started, names: Iterable[str], has_left_its_outcome: Callable[[str], bool]) -> None:
        self._started, self._has_left = started, has_left_its_outcome
        self.open = set(names)
        self.states: Mapping[str, State] = dict.fromkeys(self.open, "waiting")
        self.lost: dict[str, str] = {}
        """How each piece ended that left no outcome."""
        self.answered = True
        """Whether the engine answered when it was last asked."""
        self._over: dict[str, float] = {}
        """When the engine first said that a piece has ended."""
        self._next, self._pause = 0.0, 1.0

    def look(self) -> list[str]:
        """Return the pieces that have ended since the last look."""
        now, remote = time.monotonic(), self._started.grace > 0
        ended = [name for name in sorted(self.open) if remote and self._has_left(name)]
        self.open -= {*ended}
        if self.open and now >= self._next:
            if remote:
                self._next, self._pause = now + self._pause, min(self._pause * 1.5, _MOST)
            states = self._started.states()
            self.answered = states is not None
            self.states = states or self.states
            more = [name for name in sorted(self.open) if states and self._is_over(name, states[name], now)]
            self.open -= {*more}
            ended += more
        self.states = {**self.states, **dict.fromkeys(ended, "ended")}
        return ended

    def _is_over(self, name: str, state: State, now: float) -> bool:
        if state != "ended":
            self._over.pop(name, None)  # it runs again
            return False
        if self._has_left(name):
            return True
        since = self._over.setdefault(name, now)
        self._next = min(self._next, since + self._started.grace)
        if now - since < self._started.grace:  # what it left on another node may not be seen here yet
            return False
        self.lost[name] = self._started.end_of(name)
        return True


@dataclass
class Rounds:
    """The rounds of one command, and the results of its workers so far."""

    prepared: Prepared
    config: Mapping[str, JSON]
    engine: Engine
    at_once: int
    store: Store
    place: Path
    failures: dict[str, Failure] = field(default_factory=dict)
    """Failed calls of the workers, by the digests of their requests."""
    stopped: RunStopped | None = None
    """Why no further round is worth starting."""
    gained: int = 0
    """Answers and failures of all rounds."""
    discarded: float = 0.0
    """USD for replies that were no answer."""
    unreadable: bool = False
    """Whether a worker's cache could not be read."""
    ended: list[WorkerOutcome | None] = field(default_factory=list)
    """How the workers of all rounds ended; None for one that was lost."""
    rounds: int = 0

    def __post_init__(self) -> None:
        """Show all workers as one run, and start the clock of budget.minutes."""
        self.progress = WorkersProgress(self.prepared.progress.title)
        self._began = time.monotonic()
        self._errors_shown: set[str] = set()

    @property
    def provenance(self) -> dict[str, JSON]:
        """Engine, numbers and machines of the workers, for the manifest; {} if there was nothing to ask."""
        if not self.ended:
            return {}
        outcomes = [outcome for outcome in self.ended if outcome is not None]
        machines = {str(outcome.machine): outcome.machine for outcome in outcomes}
        facts = {"engine": self.engine.name, "at_a_time": self.at_once, "started": len(self.ended)}
        facts |= {"rounds": self.rounds, "lost": len(self.ended) - len(outcomes)}
        return {"workers": {**facts, "machines": list(machines.values())}}

    def ask(self) -> None:
        """Deal and watch until nothing is missing, or a round has brought nothing."""
        again = True
        while again and self.stopped is None and not STOP.requested:
            before = self.gained
            reasons = self._round()
            again = bool(reasons) and self.gained > before
            if reasons and not again and self.stopped is None:
                more = f" ({len(reasons) - 1} more ended early, too.)" * (len(reasons) > 1)
                self.stopped = RunStopped(
                    f"{reasons[0]}{more} Every answer so far is stored, and the same command asks for the rest."
                )

    def _round(self) -> list[str]:
        """Have missing answers asked for once; return sentences on why some may still be missing."""
        limits = self._limits()
        if self.stopped is not None:
            return []
        parts = self.prepared.settings.shards if self.prepared.settings.shards > 1 else self.at_once
        if (requests := limits.get("requests")) is not None:
            parts = min(parts, int(requests))
        places = [self.place / f"{self.rounds + 1}-{number}.json" for number in range(parts)]
        seeded: Counter[Path] = Counter()

        def seed(worker: int, answers: Answers) -> None:
            model = self.prepared.model
            seeded[places[worker]] += len(answers)
            with closing(Store(place_of(places[worker], "sqlite"))) as cache:
                cache.put(model.identity, answers, name=model.name, task=self.prepared.task.name)

        dealt = deal(self.prepared, self.store, parts, self.failures, seed)
        places = places[: len(dealt.runs)]
        if not places:
            return []
        if self.rounds:
            self.progress.say(f"{dealt.missing:,} answers that are missing are dealt again, to {len(places)} workers")
        self.rounds += 1
        for number, (place, runs) in enumerate(zip(places, dealt.runs, strict=True)):
            self._order(place, runs, number, len(places), limits).write(place)
        total = dealt.items * self.prepared.settings.samples
        self.progress.begin(total, dealt.missing, seeded)
        keys = tuple(filter(None, [self.config["model"].get("api_key_env")]))
        work = [Work(place.stem, "harness.plugins.scale.shard:work", str(place), keys) for place in places]
        started = self.engine.start(work, self.place)
        folder.note_names(self.place, self.engine, started.names)
        reasons: dict[str, None] = {}
        for states in self.progress.watch(self._watched(started, places, reasons), range(total)):
            self.progress.look(states)
        return list(reasons)

    def _watched(
        self, started: Started, places: Sequence[Path], reasons: dict[str, None]
    ) -> Iterator[Mapping[Path, State]]:
        """Yield the workers' states until all have ended; take in the answers of each as it ends."""
        assignments, cancelled = {place.stem: place for place in places}, False
        watch = WorkWatch(started, assignments, lambda name: place_of(assignments[name], "outcome.json").exists())
        try:
            while watch.open:
                if (STOP.requested or self.stopped is not None) and not cancelled:
                    started.cancel()
                    cancelled = True
                ended = watch.look()
                states = {assignments[name]: state for name, state in watch.states.items()}
                for name in ended:
                    for new in folder.take_in(self.store, assignments[name], self.progress.say):
                        self.unreadable |= new < 0
                        self.gained += max(new, 0)
                        yield states
                    if reason := self._ended(assignments[name], watch.lost.get(name, "")):
                        reasons[reason] = None
                yield states
                if watch.open:
                    time.sleep(_LOOK)
        finally:
            if watch.open and not cancelled:  # the disk is full, say
                started.cancel()

    def _ended(self, assignment: Path, how: str) -> str:
        """Record how a worker has ended; return why its items may lack answers, as a sentence."""
        status, outcome = folder.status_of(assignment), folder.outcome_of(assignment)
        before = len(self.failures)
        self.failures |= folder.failures_of(assignment)
        self.gained += len(self.failures) - before
        self.discarded += status.discarded
        self.prepared.spending.till.enter(Amounts(**status.taken))
        if outcome is None and (STOP.requested or self.stopped is not None):
            return ""  # it was cancelled
        self.ended.append(outcome)
        if outcome is None:
            how = how or "killed, out of memory, or its node has gone"
            seen = place_of(assignment, "status.json").exists()
            unseen = "" if seen else "; it had not begun: is that on a disk that all workers share?"
            log = place_of(assignment, "log")
            seen_in = log if log.exists() else self.place
            reason = f"worker {assignment.stem} ended without a word ({how}); see {seen_in}{unseen}"
            reason = reason if reason.endswith("?") else f"{reason}."
            self.progress.say(reason)
            return reason
        if outcome.error is None:
            return ""
        words = "it was told to end." if outcome.kind == "Interrupted" else outcome.error
        reason = f"worker {assignment.stem} on {outcome.host}: {words}"
        if outcome.error not in self._errors_shown and outcome.kind != "BudgetReached" and not STOP.requested:
            self._errors_shown.add(outcome.error)
            self.progress.say(reason)
        if outcome.kind == _FOR_ALL:
            self.stopped = self.stopped or RunStopped(outcome.error)
        return reason

    def _limits(self) -> dict[str, float | None]:
        """Return what is left of the budget, and set `stopped` if nothing is."""
        budget, spent = self.prepared.spending.budget, self.prepared.spending.till.spent
        left: dict[str, float | None] = {}
        for limit in ("usd", "tokens", "requests", "minutes"):
            amount = getattr(budget, limit)
            taken = (time.monotonic() - self._began) / 60 if limit == "minutes" else getattr(spent, limit)
            left[limit] = None if amount is None else amount - taken
            if amount is not None and amount - taken < (1 if limit == "requests" else 1e-9):
                spent_words = {"usd": dollars(spent.usd), "minutes": "the time is over"}.get(
                    limit, f"{taken:,.0f} taken"
                )
                self.stopped = BudgetReached(
                    f"budget.{limit}={amount:g} of all workers together is reached ({spent_words}): every answer "
                    "so far is kept, and the same command with a new budget asks for the rest."
                )
        return left

    def _order(
        self, place: Path, runs: Ranges, number: int, workers: int, limits: Mapping[str, float | None]
    ) -> Assignment:
        """Return the assignment of worker `number` of `workers`, with an equal part of the limits."""
        parts = {name: amount for name, amount in limits.items() if amount is not None}
        parts = {name: amount if name == "minutes" else amount / workers for name, amount in parts.items()}
        if "requests" in parts:
            parts["requests"] = float(int(parts["requests"]))
        settings = self.prepared.settings
        own: dict[str, JSON] = {
            "cache": {"mode": "on", "path": str(place_of(place, "sqlite"))},
            "budget": {**parts, "of": "job"},
            "pause": settings.pause and settings.judge is None,
            "workers": None,
            "shards": 1,
            "shard": None,
            "judge": None,
            "dry_run": False,
            "parallel": 1,
        }
        identity = json_round_trip(dict(self.prepared.model.identity))
        paths = {**_paths(self.prepared.model, "model"), **_paths(self.prepared.task, "task")}
        return Assignment({**self.config, **own}, identity, tuple(runs), number, workers, str(Path.cwd()), paths)


def _paths(part: object, group: str) -> dict[str, str]:
    """Return the settings of a part that name existing files or folders."""
    found = {}
    for setting in fields(part):  # type: ignore[arg-type]
        value = getattr(part, setting.name)
        if isinstance(value, Path) or (isinstance(value, str) and LOCAL.keys() & setting.metadata.keys()):
            path = Path(value).expanduser()
            if path.exists():
                found[f"{group}.{setting.name}"] = str(path.absolute())
    return found
