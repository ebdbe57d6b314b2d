"""`until=`: a run that stops when it knows enough, however often it has looked (harness.scoring.sequences).

Items are asked in an order in which whole draws come at random. A draw counts when the answers to all its items and to
those of all draws before it are there: fast answers would be no random sample. The records of a run that has stopped so
are those of the draws that counted, no others, so that the same answers always make the same run.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from operator import length_hint
from pathlib import Path
from random import Random
from typing import Any, Literal

from harness.codec import uniform
from harness.config_files import CONFIGS, listed, read_yaml
from harness.cost.ledger import Ledger
from harness.errors import ConfigError, DataError, RunStopped, nearest
from harness.prompting.fit import choose_prompt, fitting
from harness.protocols import Drawn, Model, Task
from harness.runtime.signals import STOP
from harness.scoring import sequences
from harness.scoring.definitions import definition, definitions, main_metrics
from harness.scoring.samples import Votes
from harness.scoring.sequences import ALPHA, DIFFERENCES, RatioSequence
from harness.scoring.summary import count_field
from harness.settings import Main, build, validated
from harness.settings import Until as Setting
from harness.storage.configuration import folder_of
from harness.storage.manifest import Manifest, TracedItems
from harness.storage.run_folder import MANIFEST, Account
from harness.storage.runs import load
from harness.tasks.check import CheckedItems
from harness.types import JSON, Item, Record, Request, Response, Unreadable

Landing = Iterator[tuple[Record, Request | None]]
Ask = Callable[..., Iterable[tuple[Record, Request | None]]]
"""`harness.run.ask`."""
Outcome = int | None
"""Of an item: the place among true and false positives, false and true negatives; None for a failed call."""
_PLACES = {"tp": 0, "fp": 1, "fn": 2, "tn": 3, "unreadable_positive": 2}
_RULE = re.compile(r"width:(\d+(?:\.\d+)?)|decided")
LEAST_WIDTH, MOST_WIDTH = 0.2, 90.0
"""Percentage points; the grid on which an interval is computed has steps of 0.1."""
MOST_ITEMS = 1_000_000
FIRST_ROUND = 64
"""Items of the first batches of a run that is to be decided: nobody knows how many it takes."""


@dataclass(frozen=True)
class Rule:
    """When a run knows enough."""

    kind: Literal["width", "decided"]
    width: float | None = None
    """As a fraction."""

    @classmethod
    def of(cls, words: str) -> Rule:
        """Return the rule in the words of the setting. Raises ConfigError for any others."""
        match = _RULE.fullmatch(words.strip())
        if match is None:
            raise ConfigError(
                f"until={words}: write until=width:5 (stop when the interval is at most 5 points wide), or "
                "until=decided until.against=RUN (stop when it is better or worse than a run, or than always_no)."
            )
        if match[1] is None:
            return cls("decided")
        if not LEAST_WIDTH <= (points := float(match[1])) <= MOST_WIDTH:
            raise ConfigError(
                f"until={words}: a width is {LEAST_WIDTH:g} to {MOST_WIDTH:g} percentage points, such as until=width:5."
            )
        return cls("width", points / 100)

    def __str__(self) -> str:
        return self.kind if self.width is None else f"width:{100 * self.width:g}"


@dataclass(frozen=True)
class Against:
    """What a run is to be better or worse than."""

    name: str
    identity: Mapping[str, JSON]
    records: Callable[[Sequence[Item]], Sequence[Record]]
    """Returns its records of some items. Raises DataError where it has none."""


BEST = Against("the best run before it", {"best": "of its sweep"}, lambda items: ())
"""In a sweep, until the run begins: which one it is, nobody knows before."""


class Order:
    """The items of a task as independent draws in random order."""

    def __init__(self, task: Task, seed: int) -> None:
        """Take the items of a task. Raises ConfigError for more than can be held."""
        self.task, self._seed = task, seed
        self.drawn = task.draw_size if isinstance(task, Drawn) else None
        """How many items a draw has where the task gives them in independent draws of a large population."""

    @cached_property
    def _clusters(self) -> Sequence[Sequence[Item]]:
        if length_hint(self.task.items()) > MOST_ITEMS:
            raise ConfigError(f"until= asks in random order, and holds {MOST_ITEMS:,} items at most: add task.limit=….")
        by_name: dict[str, list[Item]] = defaultdict(list)
        for item in CheckedItems(self.task):
            by_name[item.cluster].append(item)
        return [by_name[name] for name in sorted(by_name, key=lambda name: (uniform(self._seed, "until", name), name))]

    def draws(self) -> Iterator[Sequence[Item]]:
        """Yield the items draw by draw, in the same order at every call."""
        if self.drawn is None:
            yield from self._clusters
            return
        items = iter(CheckedItems(self.task))
        while draw := tuple(islice(items, self.drawn)):
            yield draw

    def items(self) -> Iterator[Item]:
        return chain.from_iterable(self.draws())

    @property
    def number(self) -> int | None:
        """How many draws there are; None where they do not use up what they are drawn from."""
        return len(self._clusters) if self.drawn is None else None

    @property
    def size(self) -> int:
        """How many items the largest draw has."""
        return self.drawn or max(map(len, self._clusters))

    def __iter__(self) -> Iterator[Item]:
        return self.items()

    def __length_hint__(self) -> int:
        return length_hint(self.task.items()) if self.drawn is not None else sum(map(len, self._clusters))


@dataclass(frozen=True)
class Until:
    """The rule of a run: what stops it, and by which number."""

    rule: Rule
    metric: str
    order: Order
    unreadable: Unreadable
    against: Against | None = None
    alpha: float = ALPHA
    beaten_only: bool = False
    """Whether only a run that is worse stops: in a sweep, the best one is asked everything."""
    by: str = ""
    """The metric, where it is not the task's first."""

    @property
    def configuration(self) -> dict[str, JSON]:
        """What of it decides which items are asked."""
        against = {} if self.against is None else {"against": dict(self.against.identity)}
        against = {"against": dict(BEST.identity)} if self.beaten_only else against
        return {"rule": str(self.rule), "metric": self.metric, **against}

    @property
    def words(self) -> str:
        """It in a name of a variant."""
        against = ""
        if self.against is not None and not self.beaten_only:
            identity = self.against.identity
            against = f"-{self.against.name}{'-' * ('result' in identity)}{identity.get('result', '')[:8]}"
        return f"{self.rule}{against}{f'-{self.by}' if self.by else ''}"

    @property
    def paired(self) -> bool:
        """Whether it is decided by the differences of single items, rather than by a number known beforehand."""
        return self.against not in (None, BEST) and self.metric in DIFFERENCES

    def outcomes(self, records: Sequence[Record]) -> list[Outcome]:
        """Return how each record counts, as the headline counts it."""
        fields = [count_field(record, record.labels[self.order.task.headline]) for record in records]
        places = {**_PLACES, "unreadable_negative": 3 if self.unreadable == "no" else 1}
        outcomes = [places.get(name) for name in fields]
        if self.metric != "pair_accuracy":
            return outcomes
        return [None if None in outcomes else 0 if all(place in (0, 3) for place in outcomes) else 1]

    @cached_property
    def target(self) -> float | None:
        """The other run's own number, where the decision is not by differences."""
        if self.against is None or self.paired or self.against is BEST:
            return None
        sums = [0.0, 0.0]
        (ratio,) = sequences.components(self.metric)
        for draw in self.order.draws():
            for place in self.outcomes(self.against.records(draw)):
                if place is not None:
                    sums = [total + part for total, part in zip(sums, ratio[place], strict=True)]
        return sums[0] / sums[1] if sums[1] else 0.0

    def estimate(self, grid: int = sequences.GRID) -> Estimate:
        return Estimate(self, grid)


class Estimate:
    """What is known after some draws: the interval of the number, or of the difference, and the decision."""

    def __init__(self, until: Until, grid: int = sequences.GRID) -> None:
        self._until = until
        ratios = sequences.components(until.metric)
        self._ratios, order = ratios, until.order
        aim = None if until.rule.width is None else until.rule.width / 2
        size = 1 if until.metric == "pair_accuracy" else order.size
        self.sequences = [
            RatioSequence(
                sequences.PAIRED if until.paired else ratio,
                size,
                alpha=until.alpha / len(ratios),
                aim=aim,
                draws=order.number,
                at=0.5 if until.target is None else min(max(until.target, 0.0), 1.0),
                grid=grid,
            )
            for ratio in ratios
        ]

    def add(self, draw: Sequence[Item], records: Sequence[Record]) -> None:
        """Enter the records of a draw's items."""
        against = self._until.against
        others = against.records(draw) if against is not None and self._until.paired else None
        self.enter(self._until.outcomes(records), None if others is None else self._until.outcomes(others))

    def enter(self, own: Sequence[Outcome], others: Sequence[Outcome] | None) -> None:
        """Enter a draw by its outcomes, and those of the run that it is compared with."""
        for ratio, sequence in zip(self._ratios, self.sequences, strict=True):
            a = b = 0.0
            for place, other in zip(own, others or [0] * len(own), strict=True):
                if place is None or other is None:
                    continue  # a failed call: in no metric, and in no difference
                a += ratio[place][0] if others is None else (ratio[place][1] + ratio[place][0] - ratio[other][0]) / 2
                b += ratio[place][1]
            sequence.add(a, b)

    def _mean(self, values: Iterable[float]) -> float:
        mean = sum(values) / len(self.sequences)
        return 2 * mean - 1 if self._until.paired else mean

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that holds the number, or the difference, at all times at once."""
        low, high = self._mean(s.low for s in self.sequences), self._mean(s.high for s in self.sequences)
        return round(low, 6), round(high, 6)

    @property
    def width(self) -> float:
        low, high = self.interval
        return high - low

    @property
    def value(self) -> float | None:
        """The number, or the difference, of the draws so far."""
        values = [sequence.value for sequence in self.sequences]
        return None if None in values else round(self._mean(value for value in values if value is not None), 6)

    @property
    def exhausted(self) -> bool:
        return self.sequences[0].exhausted

    @property
    def decision(self) -> str:
        """What is known: "narrow enough", "better", "worse", "equal" of all that there is, or ""."""
        low, high = self.interval
        if self._until.rule.width is not None:
            return "narrow enough" if high - low <= self._until.rule.width + 1e-9 else ""
        if self._until.against is BEST:
            return ""  # the first of a sweep
        bar = self._until.target or 0.0
        if self.exhausted:
            value = self.value or 0.0
            return "equal" if abs(value - bar) < 1e-6 else "better" if value > bar else "worse"
        if low >= bar and any(sequence.raised for sequence in self.sequences):
            return "better"
        return "worse" if high <= bar and any(sequence.lowered for sequence in self.sequences) else ""


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
        if self._samples > 1:
            records = list(Votes(self.until.order.task.headline, self._samples).votes(records))
        self.estimate.add(draw, records)
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


@dataclass(frozen=True)
class Race:
    """What a job of a sweep knows of those before it."""

    earlier: Sequence[Path]
    """The folders of their runs."""
    jobs: int
    """In all."""


def until_of(settings: Main, task: Task, ask: Ask, race: Race | None = None) -> Until | None:
    """Return the rule that the settings ask for, or None. Raises ConfigError where it cannot be kept.

    `ask` has a model answer items; `race`: for a job of a sweep that is compared with the best run before it.
    """
    own = settings.until
    if own.rule is None:
        if own.against is not None or own.metric is not None:
            raise ConfigError("until.against= and until.metric= are parts of a rule: until=decided or until=width:5.")
        return None
    rule = Rule.of(own.rule)
    _refuse(settings, rule)
    order = Order(task, int(settings.task.get("seed") or 0))
    metric, unreadable = _metric(own.metric, order)
    until = Until(rule, metric, order, unreadable, by=own.metric or "")
    if rule.kind == "width":
        return until
    if order.drawn is not None and metric not in DIFFERENCES:
        raise ConfigError(
            f"until=decided by {definition(metric).title}: what the other one has of it on all items is not known "
            f"where they are drawn without end. until.metric={' or '.join(DIFFERENCES)} is decided item by item."
        )
    if own.against is not None:
        return replace(until, against=against_of(own.against, settings.task, order, ask))
    alpha = ALPHA / max(race.jobs - 1, 1) if race is not None else ALPHA
    best = _best(race.earlier, order, metric) if race is not None else None
    return replace(until, against=best or BEST, alpha=alpha, beaten_only=True)


def _refuse(settings: Main, rule: Rule) -> None:
    """Raise ConfigError for settings that do not go together with a rule."""
    words = f"until={rule}"
    if settings.workers is not None or settings.shard is not None or settings.shards > 1:
        raise ConfigError(
            f"{words}: workers and shards ask everything before anybody looks. Leave them out: one process asks "
            "model.max_concurrency calls at a time."
        )
    if settings.judge is not None:
        raise ConfigError(
            f"{words}: a judge reads replies when all are there, too late for the rule. Leave one of them out."
        )
    if rule.kind == "width" and settings.until.against is not None:
        raise ConfigError(f"{words} needs no until.against=, which is what until=decided compares with.")


def _metric(name: str | None, order: Order) -> tuple[str, Unreadable]:
    """Return the number that the rule looks at, and how unreadable replies count. Raises ConfigError."""
    can = [metric.name for metric in definitions().values() if sequences.components(metric.name)]
    can = list(dict.fromkeys([*can, *DIFFERENCES]))
    empty = order.task.summarize(())
    metric = name or main_metrics(empty.overall)[0]
    has = {metric.name for metric in empty.overall.metrics} | {*DIFFERENCES} - {"accuracy"}
    if not sequences.components(metric) or metric not in has:
        raise ConfigError(
            f"until= looks at ratios of counts, and {definition(metric).title} is none of this task: until.metric="
            f"{' | '.join(each for each in can if each in has)} are."
        )
    several = order.drawn is None and any(label > 1 for item in order.items() for label in item.labels.values())
    if several and metric not in ("accuracy", "pair_accuracy"):
        raise ConfigError(
            f"until= by {definition(metric).title}: these questions have choices: add until.metric=accuracy."
        )
    return metric, empty.unreadable


def against_of(name: str, task_settings: Mapping[str, Any], order: Order, ask: Ask) -> Against:
    """Return what a run is compared with: the run in a folder, or a baseline by its name. Raises ConfigError."""
    if (folder := Path(name).expanduser()).is_dir():
        return run_at(folder, order.task.headline)
    name = "always_no" if name == "floor" else name
    if (file := listed(CONFIGS, "model").get(name)) is None:
        raise ConfigError(
            f"until.against={name} is neither the folder of a run nor a baseline, such as always_no"
            f"{nearest(name, listed(CONFIGS, 'model'))}."
        )
    return _baseline(name, file, task_settings, order.task, ask)


def _baseline(name: str, file: Path, task_settings: Mapping[str, Any], task: Task, ask: Ask) -> Against:
    """Return a baseline that answers as the items come."""
    from omegaconf import OmegaConf

    config = OmegaConf.create({"model": read_yaml(file), "task": dict(task_settings)})
    section = OmegaConf.to_container(config.model, resolve=True)
    if not isinstance(section, dict) or "defaults" in section:
        raise ConfigError(f"until.against={name} is a model that has to be asked: give the folder of its run instead.")
    model: Model = build({str(key): value for key, value in section.items()}, "model")
    if not model.traits.instant:
        raise ConfigError(f"until.against={name} is a model that has to be asked: give the folder of its run instead.")
    prompt = choose_prompt(task, model, None)
    kind = fitting(prompt, model)
    identity = {"name": model.name, "model": dict(model.identity), "prompt": prompt.name}
    return Against(model.name, identity, lambda items: [record for record, _ in ask(items, prompt, model, kind)])


def run_at(folder: Path, headline: str) -> Against:
    """Return the run in a folder. Raises ConfigError for one that is not whole, DataError for items that it lacks."""
    run = load(folder)
    if not run.sound or run.records_file is None:
        raise ConfigError(f"until.against={folder} is no complete run with its records.")
    records: dict[str, list[Record]] = defaultdict(list)
    for record in run.records():
        records[record.item].append(record)
    samples = run.samples
    votes = {name: next(iter(Votes(headline, samples).votes(each))) for name, each in records.items()}

    def of(items: Sequence[Item]) -> list[Record]:
        missing = [item.id for item in items if item.id not in votes or votes[item.id].labels != item.labels]
        if missing:
            raise DataError(f"{folder} has no answer to the item {missing[0]}: it is of other items, or stopped early.")
        return [votes[item.id] for item in items]

    identity = {"name": run.model, "run": dict(run.place), "result": run.manifest.result}
    return Against(run.model, identity, of)


def _best(folders: Sequence[Path], order: Order, metric: str) -> Against | None:
    """Return the best of the runs that have been asked all these items; None where there is none."""
    items = TracedItems(order.items())
    asked = sum(1 for _ in items)
    best: tuple[float, Path] | None = None
    for folder in folders:
        run = load(folder)
        score = run.result.overall[metric] if run.result.overall[metric] is not None else run.result.overall["accuracy"]
        if asked and run.sound and run.items == items.summary["sha256"] and score is not None:
            best = max(best or (score, folder), (score, folder), key=lambda pair: pair[0])
    return None if best is None else run_at(best[1], order.task.headline)


def recorded(manifest: Manifest, task: Task, folder: Path, ask: Ask) -> Until | None:
    """Return the rule that a run's manifest records; None for a run without one. Raises DataError where it cannot be.

    `folder` is the run's: another run that it was compared with is looked for by its place, in the same results.
    """
    settings = (manifest.config or {}).get("until") or {}
    if settings.get("rule") is None:
        return None
    try:
        return _recorded(validated(Setting, settings), manifest, task, load(folder).results_folder, ask)
    except (ConfigError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{MANIFEST}: what it says of until= is no rule ({error}).") from None


def _recorded(settings: Setting, manifest: Manifest, task: Task, results: str, ask: Ask) -> Until:
    task_settings, found = (manifest.config or {}).get("task") or {}, manifest.until or {}
    order = Order(task, int(task_settings.get("seed") or 0))
    rule = Rule.of(str(settings.rule))
    metric, unreadable = _metric(settings.metric, order)
    until = Until(rule, metric, order, unreadable, by=settings.metric or "")
    if rule.kind == "width":
        return until
    raced = settings.against is None
    identity = (found if raced else manifest.configuration["until"])["against"]
    until = replace(until, beaten_only=raced, alpha=1 - float(found.get("level", 1 - ALPHA)))
    if "best" in identity:
        return replace(until, against=BEST)
    if "run" not in identity:
        name = str(identity["name"])
        return replace(
            until, against=_baseline(name, listed(CONFIGS, "model", own=False)[name], task_settings, task, ask)
        )
    place = folder_of(results, identity["run"])
    within = place.resolve().is_relative_to(Path(results).resolve())
    if not within or not place.is_dir() or load(place).manifest.result != identity["result"]:
        raise DataError(f"the run that it was compared with is not at {place} any more: nobody can say what decided.")
    return replace(until, against=run_at(place, task.headline))


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


def likely(until: Until) -> list[str]:
    """Return how many calls the rule is likely to take, by trying it on simulated answers, in sentences."""
    random = Random(0)
    cells = []
    for label, share, other in _CASES[
        "width" if until.rule.kind == "width" else "paired" if until.paired else "target"
    ]:
        counts = sorted(_simulated(until, share, other, random) for _ in range(3))
        most = length_hint(until.order)
        cells.append(f"{label}: {'more than ' * (counts[1] >= SIMULATED < most)}{counts[1]:,}")
    return [
        f"until={until.rule} ({definition(until.metric).title}) is likely to take, of {length_hint(until.order):,} "
        f"items, by simulated answers: {'; '.join(cells)}. Models that are right about whole clusters take more."
    ]


SIMULATED = 5_000
"""Items of a simulated run, at most."""
_CASES: Mapping[str, Sequence[tuple[str, float, float]]] = {
    "width": [(f"{share:.0%} right", share, 0.0) for share in (0.5, 0.7, 0.9)],
    "paired": [(f"{100 * gap:g} points apart", 0.5 + gap / 2, 0.5 - gap / 2) for gap in (0.4, 0.2, 0.1, 0.05)],
    "target": [(f"{share:.0%} right", share, 0.0) for share in (0.5, 0.7, 0.9)],
}
_SAME = 0.5
"""The share of items on which two simulated runs are equally right, of those where they need not differ."""
_ALIKE = 0.1
"""How alike simulated answers to items of one cluster are (intraclass correlation)."""


def _simulated(until: Until, share: float, other: float, random: Random) -> int:
    """Return after how many items a simulated run would stop."""
    estimate, asked = until.estimate(grid=200), 0
    headline, alike = until.order.task.headline, 1 / _ALIKE - 1
    for draw in until.order.draws():
        own: list[Outcome] = []
        others: list[Outcome] = []
        here = random.betavariate(share * alike, (1 - share) * alike) if len(draw) > 1 else share
        for item in draw:
            gold, lot = bool(item.labels[headline]), random.random()
            same = random.random() < _SAME
            own.append(_place(gold, right=lot < here))
            others.append(_place(gold, right=(lot if same else random.random()) < here + other - share))
        if until.metric == "pair_accuracy":
            own = [0 if all(place in (0, 3) for place in own) else 1]
            others = [0 if all(place in (0, 3) for place in others) else 1]
        estimate.enter(own, others if until.paired else None)
        asked += len(draw)
        if estimate.decision or asked >= SIMULATED:
            break
    return asked


def _place(gold: bool, *, right: bool) -> int:
    return {(True, True): 0, (False, False): 1, (True, False): 2, (False, True): 3}[gold, right]
