"""Algorithms beside the numbers that a paper prints of them, with the convention of each distance named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from harness.leaderboard.build import build
from harness.scoring.significance import mean_and_half_width
from harness.storage.runs import Run
from harness.tables.numbers import metric_text
from harness.tables.table import Part, Table
from harness.tasks.benchmark import Benchmark, PublishedAlgorithms
from harness.tasks.find import benchmark_of

_TITLES = {"shd": "SHD", "published": "", "cell_shd": "cell SHD", "sid": "SID", "f1": "F1 of direct edges"}


def table(rows: Sequence[Run]) -> Sequence[Part]:
    """Return a line for each algorithm, network and number of samples; over several seeds mean and 95% interval.

    The numbers are those of the learned graph, that is, of the answers to "directly causes" (second method); runs of
    the first method, which does not ask that, get the leaderboard's table. The interval is Student's t over the seeds:
    it tells of the sampling of data, not of networks.
    """
    benchmark = benchmark_of(rows[0].task)
    algorithms = benchmark.algorithms
    if algorithms is None or any("structure" not in row.result.scores["exact"] or len(row.data) < 2 for row in rows):
        return build(rows)
    published = _published_shd(benchmark, algorithms)
    # By seed: a network that was learned alone and among others from the same data is one graph, not two.
    graphs: dict[tuple[str, str, int], dict[int, Mapping[str, float | None]]] = defaultdict(dict)
    for row in rows:
        for network in row.result.scores["exact"]["network"]:
            graphs[network, row.model, row.data["observations"]][row.data["seed"]] = _values(row, network)
    lines = [
        [
            network,
            algorithm,
            f"{observations:,}",
            str(len(values)),
            *(
                _cell(name, list(values.values()), published.get((network, algorithms.names.get(algorithm, "")), ""))
                for name in _TITLES
            ),
        ]
        for (network, algorithm, observations), values in sorted(
            graphs.items(), key=lambda line: _sort_key(algorithms, line[0])
        )
    ]
    here = {(network, algorithms.names.get(algorithm, "")) for network, algorithm, _ in graphs}
    lines += [
        [network, f"{model} (published)", "–", "–", "–", printed, *["–"] * (len(_TITLES) - 2)]
        for (network, model), printed in published.items()
        if model in algorithms.others and (network, model) not in here and network in {learned for learned, _ in here}
    ]
    # Stable, so the published rows come last of their network.
    lines.sort(key=lambda line: algorithms.networks.index(line[0]))
    header = ["network", "algorithm", "samples", "seeds", *({**_TITLES, "published": algorithms.table}).values()]
    return [Table.of(header, lines, text_columns=2, spare=("seeds", "SID", "cell SHD")), algorithms.note]


def _sort_key(algorithms: PublishedAlgorithms, key: tuple[str, str, int]) -> tuple[int, int, str]:
    network, algorithm, observations = key
    return algorithms.networks.index(network), observations, algorithm


def _values(row: Run, network: str) -> Mapping[str, float | None]:
    """Return the metrics of the graph learned of a network, each None if task.limit left out questions on its edges."""
    rows = (row.result.scores[name]["network/structure"].get(f"{network}/direct") for name in ("exact", "paper"))
    exact, paper = (
        dict.fromkeys(_TITLES) if scores is None else {metric.name: metric.value for metric in scores.metrics}
        for scores in rows
    )
    return {"shd": exact["shd"], "cell_shd": paper["cell_shd"], "sid": exact["sid"], "f1": exact["f1"]}


def _cell(name: str, values: Sequence[Mapping[str, float | None]], published: str) -> str:
    if name == "published":
        return published or "–"
    numbers = [value for metrics in values if (value := metrics[name]) is not None]
    if not numbers or len(numbers) < len(values):
        return "–"
    mean, half = mean_and_half_width(numbers)
    if half is None:
        return metric_text(name, mean)
    scale = 100 if name == "f1" else 1
    return f"{scale * mean:.1f} ± {scale * half:.1f}"


def _published_shd(benchmark: Benchmark, algorithms: PublishedAlgorithms) -> Mapping[tuple[str, str], str]:
    rows = (row for row in benchmark.published() if row.table == algorithms.table)
    return {(row.setting["network"], row.model): row.printed["shd"] for row in rows}
