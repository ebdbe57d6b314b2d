"""Algorithms side by side with Table XI of the paper, with the convention of each distance named."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from statistics import fmean, stdev

from harness.leaderboard.build import build
from harness.leaderboard.rows import Row
from harness.tables.metrics import metric_text
from harness.tables.table import Part, Table
from harness.tasks.causalbench.networks import NETWORKS

_PUBLISHED = {"hc": "HC", "hc_bdeu": "HC", "mmhc": "MMHC", "pc": "PC"}
"""Table XI's columns by the names of our configs."""
_UNMATCHED = ("MIGA", "DAG-GNN", "ENSAOBS")
"""Algorithms of Table XI that are not here; they stand in the table as published."""
_TITLES = {"shd": "SHD", "published": "Table XI", "cell_shd": "cell SHD", "sid": "SID", "f1": "F1"}
_NOTES = """\
SHD counts the pairs of variables whose edge differs; a reversal or an unknown direction counts once. Cell SHD counts
cells of the adjacency matrix; a reversal counts twice (the paper's measure for language models). Table XI's numbers for
algorithms count edges; sample sizes are not told. An undirected edge counts as both directions. F1, in percent, is that
of "does a directly cause b?"."""


def table(rows: Sequence[Row]) -> Sequence[Part]:
    """A line for each algorithm, network and number of samples; over several seeds the mean and its 95% interval.

    The numbers are those of the learned graph, that is, of the answers to "directly causes" (second method); runs of
    the first method, which does not ask that, get the leaderboard's table. The interval is Student's t over the seeds:
    it tells of the sampling of data, not of networks.
    """
    if any("structure" not in row.result.scores["exact"] or len(row.run.data) < 2 for row in rows):
        return build(rows)
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
            *(_cell(name, network, algorithm, list(values.values())) for name in _TITLES),
        ]
        for (network, algorithm, observations), values in sorted(found.items(), key=_place)
    ]
    lines += [
        [network, f"{model} (published)", "", "", "", published, *[""] * (len(_TITLES) - 2)]
        for (network, model), published in _published().items()
        if model in _UNMATCHED and any(network == learned for learned, _, _ in found)
    ]
    lines.sort(key=lambda line: NETWORKS.index(line[0]))  # stable: what was published comes last of its network
    header = ["network", "algorithm", "samples", "seeds", *_TITLES.values()]
    return [Table.of(header, lines, text_columns=2, spare=("seeds", "SID", "cell SHD")), _NOTES]


def _place(found: tuple[tuple[str, str, int], object]) -> tuple[int, int, str]:
    network, algorithm, observations = found[0]
    return NETWORKS.index(network), observations, algorithm


def _values(row: Row, network: str) -> Mapping[str, float | None]:
    """The metrics of the graph learned of a network; none where its edges were not asked about (task.limit)."""
    rows = (row.result.scores[name]["network/structure"].get(f"{network}/direct") for name in ("exact", "paper"))
    exact, paper = (dict.fromkeys(_TITLES) if one is None else {m.name: m.value for m in one.metrics} for one in rows)
    return {"shd": exact["shd"], "cell_shd": paper["cell_shd"], "sid": exact["sid"], "f1": exact["f1"]}


def _cell(name: str, network: str, algorithm: str, values: Sequence[Mapping[str, float | None]]) -> str:
    if name == "published":
        return _published().get((network, _PUBLISHED.get(algorithm, "")), "")
    known = [value for one in values if (value := one[name]) is not None]
    if not known or len(known) < len(values):
        return "–"
    if len(known) == 1:
        return metric_text(name, known[0])
    from scipy.stats import t

    half = float(t.ppf(0.975, len(known) - 1)) * stdev(known) / math.sqrt(len(known))
    scale = 100 if name == "f1" else 1
    return f"{scale * fmean(known):.1f} ± {scale * half:.1f}"


@cache
def _published() -> Mapping[tuple[str, str], str]:
    """Table XI: SHD by network and algorithm."""
    file = resources.files("harness") / "data" / "published" / "causalbench.csv"
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return {(row["network"], row["model"]): row["value"] for row in rows if row["table"] == "Table XI"}
