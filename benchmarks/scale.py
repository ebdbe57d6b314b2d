"""How far a run over many workers scales: a simulation of discrete events with the costs measured on this machine.

python benchmarks/scale.py                 the table, results/scale.json and docs/images/scale.png
python benchmarks/scale.py --measure       measures the costs first (some minutes), into results/scale_costs.json

The run is that of docs/clusters.md: each worker asks its shards of the items into caches of their own, a single process
imports each as it ends, and a single last pass reads all answers and scores them. Workers fail at random and begin
again from their cache, some are slow. Every draw comes from a seed.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from statistics import mean
from typing import Any

HERE = Path(__file__).parent
COSTS, RESULTS = HERE / "results" / "scale_costs.json", HERE / "results" / "scale.json"
FIGURE = HERE.parent / "docs" / "images" / "scale.png"
WORKERS = (10, 20, 50, 100, 200, 500, 1000)
ITEMS = (10**5, 10**6, 10**7, 10**8, 10**9)
SHARDS = (1, 2, 4, 8)
"""For each worker, of which the best is taken."""
SEEDS = 9
"""Draws of each, of which the median is shown."""


@dataclass(frozen=True)
class Costs:
    """Seconds of one core, measured."""

    generate: float
    """For an item, made by every shard and skipped by all but one."""
    answer: float
    """For an answer on the worker's side: prompt, call, cache."""
    read: float
    """For an answer that a worker finds in its cache when it begins again."""
    store: float
    """For a row that is imported."""
    score: float
    """For an item of the last pass: from the cache into records and scores."""
    start: float
    """For a process of the harness before it asks."""


@dataclass(frozen=True)
class Cluster:
    """What nobody measures on one machine: assumptions, all of them settings."""

    rate: float = 20.0
    """Answers a second that a worker's server gives."""
    load: float = 300.0
    """Seconds until a worker's server is ready."""
    between_failures: float = 500 * 3600.0
    """Seconds of one worker between two failures, on average: a thousand workers lose two an hour."""
    requeue: float = 150.0
    """Seconds until a worker that has failed begins again; Slurm holds a job back for two minutes."""
    under_way: int = 64
    """Calls that a worker has under way, which a failure loses."""
    spread: float = 0.05
    """Standard deviation of the logarithm of a worker's speed."""
    slow: float = 0.02
    """Share of the workers that are slow,"""
    slow_speed: float = 0.4
    """and their speed."""
    shards: int = 1
    """Shards for each worker; each is a process of its own, and loads its server anew."""


@dataclass
class Outcome:
    """What a run came to; seconds."""

    total: float = 0.0
    asked: float = 0.0
    """When the last shard had ended."""
    imported: float = 0.0
    """When the last import had ended."""
    importing: float = 0.0
    """That the importing process has worked."""
    scoring: float = 0.0
    failures: int = 0
    repeated: int = 0
    """Calls that were made twice."""


@dataclass
class _Worker:
    speed: float
    shard: int = -1
    done: float = 0.0
    """Of the shard's answers."""
    since: float = 0.0
    """When it began to ask, this time."""
    turn: int = 0
    """Events of an earlier turn are void."""


@dataclass
class _Run:
    items: int
    workers: int
    costs: Costs
    cluster: Cluster
    random: random.Random
    outcome: Outcome = field(default_factory=Outcome)
    _events: list[tuple[float, int, str, int, int]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=count)

    def carry_out(self) -> Outcome:
        """Let the events happen, one after the other."""
        cluster = self.cluster
        self._staff = [_Worker(self._speed()) for _ in range(self.workers)]
        self._left = list(range(self.workers * cluster.shards))
        self._share = self.items / len(self._left)
        importing_until = 0.0
        for number in range(self.workers):
            self._begin_shard(0.0, number)
        while self._events:
            now, _, event, number, turn = heapq.heappop(self._events)
            worker = self._staff[number]
            if turn != worker.turn:
                continue
            if event == "failure":
                self._fail(now, number)
                continue
            work = self._share * self.costs.store
            importing_until = max(importing_until, now) + work
            self.outcome.importing += work
            self.outcome.asked = now
            self._begin_shard(now, number)
        outcome = self.outcome
        outcome.imported = importing_until
        outcome.scoring = self.costs.start + self.items * (self.costs.generate + self.costs.score)
        outcome.total = outcome.imported + outcome.scoring
        return outcome

    def _speed(self) -> float:
        slow = self.random.random() < self.cluster.slow
        return self.random.lognormvariate(0, self.cluster.spread) * (self.cluster.slow_speed if slow else 1)

    def _begin_shard(self, now: float, number: int) -> None:
        worker = self._staff[number]
        worker.turn += 1
        if not self._left:
            return
        worker.shard, worker.done = self._left.pop(0), 0.0
        self._ask(now + self.costs.start + self.cluster.load, number)

    def _ask(self, begin: float, number: int) -> None:
        """Put the end of a worker's shard into the events, or the failure that comes before it."""
        worker, left = self._staff[number], self._share - self._staff[number].done
        begin += worker.done * self.costs.read
        # Every item is generated, whosever it is, while the calls are under way: the slower of the two decides.
        at_work = self.items * self.costs.generate + left * self.costs.answer
        seconds = max(left / (self.cluster.rate * worker.speed), at_work)
        worker.since = begin
        failure = self.random.expovariate(1 / self.cluster.between_failures)
        if failure < seconds:
            worker.done += left * failure / seconds
            self._put(begin + failure, "failure", number)
        else:
            self._put(begin + seconds, "end", number)

    def _fail(self, now: float, number: int) -> None:
        worker = self._staff[number]
        worker.turn += 1
        lost = min(self.cluster.under_way, self._share - worker.done)
        self.outcome.failures += 1
        self.outcome.repeated += round(lost)
        self._ask(now + self.cluster.requeue + self.cluster.load + self.costs.start, number)

    def _put(self, at: float, event: str, number: int) -> None:
        heapq.heappush(self._events, (at, next(self._order), event, number, self._staff[number].turn))


def simulate(items: int, workers: int, costs: Costs, cluster: Cluster, seed: int = 0) -> Outcome:
    """Return what a run of so many items over so many workers comes to."""
    return _Run(items, workers, costs, cluster, random.Random(f"{seed} {items} {workers}")).carry_out()


def typical(items: int, workers: int, costs: Costs, cluster: Cluster, seeds: Sequence[int]) -> dict[str, Any]:
    """Return the run of the median time over several seeds, with the means of what is lost."""
    outcomes = [simulate(items, workers, costs, cluster, seed) for seed in seeds]
    times = sorted(outcome.total for outcome in outcomes)
    middle = next(outcome for outcome in outcomes if outcome.total == times[len(times) // 2])
    means = {name: mean(getattr(outcome, name) for outcome in outcomes) for name in ("failures", "repeated")}
    setting = {"rate": cluster.rate, "items": items, "workers": workers, "shards": cluster.shards}
    return {**setting, **asdict(middle), **means, "fastest": times[0], "slowest": times[-1]}


def best(items: int, workers: int, costs: Costs, cluster: Cluster, seeds: Sequence[int]) -> dict[str, Any]:
    """Return the typical run with the number of shards for each worker that is over soonest."""
    numbers = (replace(cluster, shards=number) for number in SHARDS)
    return min((typical(items, workers, costs, each, seeds) for each in numbers), key=lambda row: row["total"])


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the outcomes as a Markdown table."""
    lines = [
        "| items | workers | shards each | hours | of it asking | importing still | last pass | failures | repeated |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        total = row["total"]
        parts = [row["asked"], row["imported"] - row["asked"], row["scoring"]]
        cells = [
            f"{row['items']:,}",
            f"{row['workers']:,}",
            str(row["shards"]),
            _hours(total),
            *(f"{part / total:.0%}" for part in parts),
        ]
        lines.append(f"| {' | '.join(cells)} | {row['failures']:.1f} | {row['repeated']:,.0f} |")
    return "\n".join(lines)


def limit(rows: Sequence[dict[str, Any]], items: int) -> int | None:
    """Return from how many workers on less than half of the time is spent asking; None where it never is."""
    return next((row["workers"] for row in rows if row["items"] == items and row["asked"] < row["total"] / 2), None)


def figure(rows: Sequence[dict[str, Any]], rates: Sequence[float], file: Path) -> None:
    """Draw hours by workers, a panel for each rate of the servers."""
    from matplotlib.figure import Figure

    from harness.plot.draw import COLOURS, GREY, WIDTHS, style

    with style():
        sheet = Figure(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        for place, (axes, rate) in enumerate(zip(sheet.subplots(1, len(rates), sharey=True), rates, strict=True)):
            for items, colour, marker in zip(ITEMS, COLOURS, "osD^vPX", strict=False):
                own = [row for row in rows if row["items"] == items and row["rate"] == rate]
                hours = [row["total"] / 3600 for row in own]
                ideal = [items / rate / row["workers"] / 3600 for row in own]
                axes.plot(WORKERS, ideal, color=colour, linewidth=0.6, linestyle=":")
                axes.plot(WORKERS, hours, color=colour, marker=marker, label=f"{items:,} items")
                for row, y in zip(own, hours, strict=True):
                    if row["asked"] < row["total"] / 2:
                        axes.plot(row["workers"], y, marker=marker, color=colour, markerfacecolor="white")
            axes.set(xscale="log", yscale="log", xlabel="workers", xticks=WORKERS, ylim=(0.02, 2000))
            axes.set_xticks([], minor=True)
            axes.set_xticklabels([f"{number:,}" for number in WORKERS])
            axes.set_title(f"{rate:g} answers a second and worker", loc="left")
            axes.set_yticks([1 / 60, 1 / 6, 1, 10, 100, 1000], ["1 min", "10 min", "1 h", "10 h", "100 h", "1,000 h"])
            axes.set_yticks([], minor=True)
            axes.grid(color="#E6E6E6", linewidth=0.5)
            if not place:
                axes.set_ylabel("time until the scores stand")
        handles, labels = axes.get_legend_handles_labels()
        sheet.legend(handles, labels, loc="outside lower center", ncols=len(ITEMS), frameon=False)
        note = "dotted: the servers' rate alone; hollow: more than half of the time is import and last pass"
        sheet.suptitle(note, color=GREY, fontsize=7, x=0.01, ha="left")
        sheet.savefig(file, dpi=200, metadata={"Software": None})


def _limited(workers: int | None) -> str:
    if workers is None:
        return "at least half of the time is spent asking, however many workers there are"
    return f"with {workers:,} workers and more, import and last pass take more than half of the time"


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure the costs on this machine first")
    parser.add_argument("--rates", type=float, nargs="+", default=[20.0, 500.0], help="answers a second of a worker")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    options = _options()
    if options.measure:
        from scale_costs import measured

        COSTS.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
    costs = Costs(**json.loads(COSTS.read_text(encoding="utf-8"))["seconds"])
    rows = []
    for rate in options.rates:
        cluster = Cluster(rate=rate)
        seeds = range(options.seed, options.seed + SEEDS)
        own = [best(items, workers, costs, cluster, seeds) for items in ITEMS for workers in WORKERS]
        print(f"{rate:g} answers a second and worker:\n\n{table(own)}\n")
        for items in ITEMS:
            print(f"{items:,} items: {_limited(limit(own, items))}")
        print()
        rows += own
    settings = {"seed": options.seed, "costs": asdict(costs), "cluster": asdict(Cluster())}
    RESULTS.write_text(json.dumps({**settings, "runs": rows}, indent=1) + "\n", encoding="utf-8")
    figure(rows, options.rates, FIGURE)


if __name__ == "__main__":
    main()
