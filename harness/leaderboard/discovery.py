"""Algorithms side by side with what a paper prints of them, with the convention of each distance named."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from harness.leaderboard.build import build
from harness.leaderboard.published_numbers import rows_of
from harness.leaderboard.rows import Row
from harness.tables.metrics import metric_text
from harness.tables.table import Part, Table
from harness.tasks.benchmark import Benchmark, PublishedAlgorithms
from harness.tasks.find import benchmark_of

_TITLES = {"shd": "SHD", "published": "", "cell_shd": "cell SHD", "sid": "SID", "f1": "F1"}


def table(rows: Sequence[Row]) -> Sequence[Part]:
    """A line for each algorithm, network and number of samples; over several seeds the mean and its 95% interval.

    The numbers are those of the learned graph, that is, of the answers to "directly causes" (second method); runs of
    the first method, which does not ask that, get the leaderboard's table. The interval is Student's t over the seeds:
    it tells of the sampling of data, not of networks.
    """
    benchmark = benchmark_of(rows[0].task)
    known = benchmark.algorithms
    if known is None or any("structure" not in row.result.scores["exact"] or len(row.run.data) < 2 for row in rows):
        return build(rows)
    published = _published(benchmark, known)
    # By seed: a network that was learned alone and among others from the same data is one graph, not two.
    found: dict[tuple[str, str, int], dict[int, Mapping[str, float | None]]] = defaultdict(dict)
    for row in rows:
        for network in row.result.scores["exact"]["network"]:
            found[network, row.model, row.run.data["observations"]][row.run.data["seed"]] = _values(row, network)
    lines = [
        [
            network,
            algorithm,
            f"{observations:,}",
            str(len(values)),
            *(
                _cell(name, list(values.values()), published.get((network, known.names.get(algorithm, "")), ""))
                for name in _TITLES
            ),
        ]
        for (network, algorithm, observations), values in sorted(found.items(), key=lambda line: _place(known, line[0]))
    ]
    lines += [
        [network, f"{model} (published)", "", "", "", printed, *[""] * (len(_TITLES) - 2)]
        for (network, model), printed in published.items()
        if model in known.others and any(network == learned for learned, _, _ in found)
    ]
    lines.sort(key=lambda line: known.networks.index(line[0]))  # stable: what was published comes last of its network
    header = ["network", "algorithm", "samples", "seeds", *({**_TITLES, "published": known.table}).values()]
    return [Table.of(header, lines, text_columns=2, spare=("seeds", "SID", "cell SHD")), known.note]


def _place(known: PublishedAlgorithms, key: tuple[str, str, int]) -> tuple[int, int, str]:
    network, algorithm, observations = key
    return known.networks.index(network), observations, algorithm


def _values(row: Row, network: str) -> Mapping[str, float | None]:
    """The metrics of the graph learned of a network; none where its edges were not asked about (task.limit)."""
    rows = (row.result.scores[name]["network/structure"].get(f"{network}/direct") for name in ("exact", "paper"))
    exact, paper = (dict.fromkeys(_TITLES) if one is None else {m.name: m.value for m in one.metrics} for one in rows)
    return {"shd": exact["shd"], "cell_shd": paper["cell_shd"], "sid": exact["sid"], "f1": exact["f1"]}


def _cell(name: str, values: Sequence[Mapping[str, float | None]], published: str) -> str:
    if name == "published":
        return published
    known = [value for one in values if (value := one[name]) is not None]
    if not known or len(known) < len(values):
        return "–"
    if len(known) == 1:
        return metric_text(name, known[0])
    from scipy.stats import t

    half = float(t.ppf(0.975, len(known) - 1)) * stdev(known) / math.sqrt(len(known))
    scale = 100 if name == "f1" else 1
    return f"{scale * fmean(known):.1f} ± {scale * half:.1f}"


def _published(benchmark: Benchmark, algorithms: PublishedAlgorithms) -> Mapping[tuple[str, str], str]:
    """Return the printed SHD by network and algorithm."""
    rows = (row for row in rows_of(benchmark) if row.table == algorithms.table)
    return {(row.setting["network"], row.model): row.printed["shd"] for row in rows}
