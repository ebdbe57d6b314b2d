"""The rows of the league: whose graphs, learned from what, and their scores by seed and network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.plugins.discovery.graph_scores import GraphScores, Truth, answer_matrices, graph_scores
from harness.scoring.means import mean_and_half_width
from harness.storage.runs import Run
from harness.tasks.causalbench.networks import NETWORKS

TITLES = {
    "parent_aid": "parent AID", "ancestor_aid": "ancestor AID", "oset_aid": "order AID",
    "class_shd": "SHD of CPDAGs", "cell_shd": "SHD (paper)", "sid": "SID", "f1": "F1",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """Whose graphs a row has, of which networks, learned from how many samples (None of a model)."""

    name: str
    role: str
    networks: tuple[str, ...]
    samples: int | None


Seeds = Mapping[int, Mapping[str, GraphScores]]
"""The scores of graphs by seed and network."""


@dataclass(frozen=True)
class RunScores:
    """The scores of the graphs that a run left."""

    run: Run
    scores: Mapping[str, GraphScores]
    """By network."""
    incomplete: int
    """Graphs with a pair of variables that has no reply."""

    @property
    def asked(self) -> bool:
        """Tell whether the run was asked for direct causes at all."""
        return bool(self.scores or self.incomplete)


def scores_of(run: Run, truth: Truth = "class") -> RunScores:
    """Return the scores of a run's graphs. Raises ConfigError if it left some and gadjid is not installed."""
    learned = run.role == "algorithm"
    graphs = {
        network: graph_scores(network, cells, learned=learned, truth=truth) for network, cells in answer_matrices(run)
    }
    scores = {network: score for network, score in graphs.items() if score is not None}
    return RunScores(run, scores, len(graphs) - len(scores))


def entries_of(
    runs: Sequence[Run], *, samples: int | None = None, by: str | None = None, truth: Truth = "class"
) -> tuple[dict[Entry, Seeds], list[str]]:
    """Return the rows, best parent AID first, and what has to be said of them."""
    chosen = [run for run in runs if samples in (None, run.data.get("observations"))]
    return grouped([scores_of(run, truth) for run in chosen], by)


def grouped(scored: Sequence[RunScores], by: str | None = None) -> tuple[dict[Entry, Seeds], list[str]]:
    """Return a row for the runs that differ in the seed of their data alone, as `entries_of` does."""
    graphs: dict[tuple[str, str, int | None], dict[int, dict[str, GraphScores]]] = defaultdict(dict)
    for of_run in scored:
        run = of_run.run
        name = run.model if run.learned else " · ".join((run.model, run.variant, run.prompt))
        if of_run.scores:
            key = name, run.role, run.data.get("observations")
            graphs[key].setdefault(run.data.get("seed", 0), {}).update(of_run.scores)
    entries: dict[Entry, Seeds] = {}
    for (name, role, observations), seeds in graphs.items():
        common = [network for network in _ordered(seeds) if all(network in of for of in seeds.values())]
        for networks in [(network,) for network in _ordered(seeds)] if by else [tuple(common)]:
            of = {seed: {net: of[net] for net in networks} for seed, of in seeds.items() if {*networks} <= {*of}}
            if networks and of:
                entries[Entry(name, role, networks, observations)] = of
    ordered = dict(sorted(entries.items(), key=lambda row: (_place(row[0]), fmean(values_of(row[1], "parent_aid")))))
    without, incomplete = sum(not one.asked for one in scored), sum(one.incomplete for one in scored)
    remarks = [f"Left out: {without:,} runs that left no answers to direct causes."] if without else []
    if incomplete:
        remarks.append(f"Left out: {incomplete:,} graphs with a pair of variables that has no reply.")
    return ordered, remarks


def _ordered(seeds: Seeds) -> list[str]:
    return [network for network in NETWORKS if any(network in scores for scores in seeds.values())]


def _place(entry: Entry) -> tuple[int, tuple[str, ...]]:
    return -len(entry.networks), entry.networks


def values_of(seeds: Seeds, name: str) -> list[float]:
    """Return a metric of each seed: the mean over its networks."""
    return [fmean(score.values[name] for score in scores.values()) for scores in seeds.values()]


def metric_of(seeds: Seeds, name: str) -> tuple[float, float | None]:
    """Return the mean over seeds of a metric, and half of its 95% interval."""
    return mean_and_half_width(values_of(seeds, name))
