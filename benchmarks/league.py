"""The league: seven algorithms on the fourteen networks, five sizes of sample, five samples of each.

python benchmarks/league.py [--workers 2] [--limit 300] [--seeds 5]

Graphs are learned and scored as harness discover and harness league do it, but without a record for each question.
Those in results/league.csv are not learned again, so a run that was stopped goes on. The table goes to
results/shipped/LEAGUE.md, the figure to docs/images/league.png.
"""

from __future__ import annotations

import argparse
import csv
import signal
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ALGORITHMS = ("hc", "mmhc", "pc", "fci", "boss", "grasp", "ges")
SAMPLES = (100, 300, 1_000, 3_000, 10_000)
SCORES = ("parent_aid", "ancestor_aid", "oset_aid", "class_shd", "cell_shd", "f1", "sid_low", "sid_high")
CELLS = ROOT / "benchmarks" / "results" / "league.csv"
TABLE = ROOT / "results" / "shipped" / "LEAGUE.md"
FIGURE = ROOT / "docs" / "images" / "league.png"


class Cell(NamedTuple):
    """A graph to be learned."""

    seed: int
    samples: int
    network: str
    algorithm: str


class TooSlow(Exception):
    """The processor time of a cell is spent."""


def learned(cell: Cell, limit: int) -> dict[str, Any]:
    """Return the row of a cell: seconds of processor time, and scores unless there was no graph in time."""
    from harness.plugins.discovery.graph_scores import graph_scores
    from harness.tasks.causalbench.networks import load, sample
    from harness.tasks.causalbench.structures import matrix

    def stop(*_: object) -> None:
        raise TooSlow

    rows, arities = sample(cell.network, cell.samples, seed=cell.seed), [len(s) for s in load(cell.network).states]
    algorithm = _algorithm(cell.algorithm)
    signal.signal(signal.SIGPROF, stop)
    started = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        pattern = algorithm.learn(rows, arities, seed=cell.seed)
    except TooSlow:
        return {**cell._asdict(), "seconds": limit}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = round(time.process_time() - started, 2)
    scores = graph_scores(cell.network, matrix(pattern.adjacency()).astype("int8"), learned=True, truth="class")
    assert scores is not None  # every pair has an answer
    marks = {"changed": scores.changed, "exact": int(scores.exact), "bounded": int(scores.bounded)}
    return {**cell._asdict(), "seconds": seconds, **{k: round(v, 6) for k, v in scores.values.items()}, **marks}


def _algorithm(name: str) -> Any:
    from harness.cli import hydra_app, own_configs
    from harness.settings import build, plain

    own_configs.register()
    config = plain(hydra_app.without_hydra(hydra_app.composed("discover", [f"algorithm={name}"])))
    return build(config["algorithm"], "algorithm")


def stored() -> list[dict[str, str]]:
    if not CELLS.exists():
        return []
    with CELLS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(seeds: int, workers: int, limit: int) -> None:
    """Learn what is missing, whole seeds first; a cell that was too slow for a smaller limit is missing."""
    from harness.tasks.causalbench.networks import NETWORKS

    header = [*Cell._fields, "seconds", *SCORES, "changed", "exact", "bounded"]
    kept = [row for row in stored() if row["f1"] or float(row["seconds"]) >= limit]
    there = {tuple(row[name] for name in Cell._fields) for row in kept}
    todo = [
        cell
        for cell in map(Cell._make, product(range(seeds), SAMPLES, NETWORKS[:14], ALGORITHMS))
        if tuple(map(str, cell)) not in there
    ]
    with CELLS.open("w", encoding="utf-8", newline="") as file, _processes(workers) as pool:
        table = csv.DictWriter(file, header, lineterminator="\n")
        table.writeheader()
        table.writerows(kept)
        file.flush()
        for number, row in enumerate(pool.map(learned, todo, [limit] * len(todo)), 1):
            table.writerow(row)
            file.flush()
            if number % 98 == 0 or row["seconds"] > 30:
                print(f"{number:,} of {len(todo):,}: {' '.join(map(str, list(row.values())[:5]))} s", flush=True)


def _processes(workers: int) -> ProcessPoolExecutor:
    """Return processes that begin anew: one that is forked where torch has threads waits for them for ever."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def entries(rows: Sequence[dict[str, str]]) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of the league, for all networks and for those of each size, with whoever learns from no data."""
    from harness.leaderboard.comparable import find_runs
    from harness.plugins.discovery.graph_scores import GraphScores
    from harness.plugins.discovery.league_rows import Entry, scores_of
    from harness.tasks.causalbench.networks import NETWORKS, SCALES

    graphs: dict[tuple[str, str, int | None], dict[int, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["f1"]:
            values = {name: float(row[name]) for name in SCORES}
            scores = GraphScores(values, int(row["changed"]), row["exact"] == "1", row["bounded"] == "1")
            graphs[row["algorithm"], "algorithm", int(row["samples"])][int(row["seed"])][row["network"]] = scores
    for run in find_runs([str(ROOT / "results" / "shipped")]):
        if run.task == "causalbench/causality" and run.sound and not run.learned and run.model != "always_yes":
            for network, scores in scores_of(run).scores.items():
                graphs[run.model, run.role, None][0][network] = scores
    scales = dict.fromkeys(SCALES[network] for network in NETWORKS[:14])
    for chosen in (NETWORKS[:14], *(tuple(n for n in NETWORKS[:14] if SCALES[n] == scale) for scale in scales)):
        for (name, role, samples), seeds in graphs.items():
            whole = {s: {n: of[n] for n in chosen} for s, of in sorted(seeds.items()) if {*chosen} <= {*of}}
            if whole:
                yield Entry(name, role, chosen, samples), whole


def too_slow(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    slow: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        if not row["f1"]:
            slow[row["algorithm"], row["network"], row["samples"]].append(float(row["seconds"]))
    for (algorithm, network, samples), limits in slow.items():
        after = " or ".join(f"{limit:g}" for limit in sorted({*limits}))
        times = "once" if len(limits) == 1 else f"{len(limits)} times"
        where = f"{algorithm} on {network} from {int(samples):,} samples"
        yield f"Too slow: {where}, {times} ({after} s of processor time)."


def tables(rows: Sequence[dict[str, str]]) -> list[Any]:
    """Return a table for each set of networks, and one of the processor time."""
    from harness.plugins.discovery.league import LeagueSettings, reversals, table_of
    from harness.plugins.discovery.league_rows import metric_of
    from harness.tables.table import Table
    from harness.tasks.causalbench.networks import NETWORKS

    sets: dict[tuple[str, ...], dict[Any, Any]] = defaultdict(dict)
    for entry, seeds in entries(rows):
        sets[entry.networks][entry] = seeds
    parts: list[Any] = []
    for networks, of in sets.items():
        ranked = dict(sorted(of.items(), key=lambda row: metric_of(row[1], "parent_aid")[0]))
        parts += [f"## {len(networks)} networks: {', '.join(networks)}", table_of(ranked, LeagueSettings())]
        parts += reversals(ranked)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["samples"] == str(SAMPLES[-1]):
            seconds[row["network"], row["algorithm"]].append(float(row["seconds"]))
    lines = [
        [network, *(f"{sum(s) / len(s):.1f}" if (s := seconds.get((network, a))) else "–" for a in ALGORITHMS)]
        for network in NETWORKS[:14]
    ]
    timed = Table.of(["network", *ALGORITHMS], lines, text_columns=1)
    return [*parts, *too_slow(rows), f"## Seconds of one processor for a graph from {SAMPLES[-1]:,} samples", timed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("workers", 2), ("limit", 300), ("seeds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    settings = parser.parse_args()
    started = time.perf_counter()
    try:
        fill(settings.seeds, settings.workers, settings.limit)
    except KeyboardInterrupt:
        print("stopped: the same command goes on from here")
    print(f"{time.perf_counter() - started:.0f} s")
    write()


def write() -> None:
    from harness.plugins.discovery.league_chart import draw
    from harness.tables.markdown_csv_json import markdown

    rows = stored()
    TABLE.write_text(f"# The league\n\n{markdown(tables(rows))}\n", encoding="utf-8")
    draw({entry: seeds for entry, seeds in entries(rows) if len(entry.networks) < 14}, str(FIGURE))


if __name__ == "__main__":
    main()
