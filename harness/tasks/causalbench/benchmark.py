"""CausalBench as the views show it: its paper, the numbers that it prints, and what is drawn of its networks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from harness.tasks.benchmark import Benchmark, Graphs, GraphSize, Origin, PublishedAlgorithms
from harness.tasks.causalbench.networks import NETWORKS, SCALES, edges, load

if TYPE_CHECKING:
    from harness.tasks.presets import Preset
    from harness.tasks.published import PublishedRow

REPOSITORY = "https://www.bnlearn.com/bnrepository/"
"""The Bayesian Network Repository (harness/data/networks/README.md)."""
_NOTE = """\
SHD counts the pairs of variables whose edge differs; a reversal or an unknown direction counts once. Cell SHD counts
cells of the adjacency matrix; a reversal counts twice (the paper's measure for language models). Table XI's numbers for
algorithms count edges; sample sizes are not told. An undirected edge counts as both directions. F1, in percent, is that
of "does a directly cause b?"."""


def _published() -> Iterator[PublishedRow]:
    """Yield the printed rows. The file has a line for each number: those of a model in one setting become one row."""
    import csv

    from harness.tasks.published import PublishedRow

    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for line in csv.DictReader(_file("causalbench.csv").splitlines()):
        key = tuple(line[name] for name in ("table", "task", "prompt_format", "network", "model"))
        rows.setdefault(key, {})[line["metric"]] = line["value"]
    for (table, task, prompt_format, network, model), digits in rows.items():
        setting = {"task": task, "prompt_format": prompt_format, "network": network}
        # Shares are fractions, but for one column.
        percent = ("accuracy",) if table == "Table IX" else ()
        asked_of = f"causalbench/{re.split('[_:]', task)[0]}"
        yield PublishedRow("causalbench", table, setting, model, digits, task=asked_of, in_percent=percent)


def _presets() -> Sequence[Preset]:
    from harness.tasks.presets import read_presets

    return read_presets(_file("causalbench.yaml"))


def _file(name: str) -> str:
    return (resources.files("harness") / "data" / "published" / name).read_text(encoding="utf-8")


def _graph_sizes(names: Collection[str]) -> Sequence[GraphSize]:
    if not set(names) <= set(NETWORKS):
        return ()
    graphs = {name: load(name) for name in NETWORKS if name in names}
    return [GraphSize(name, len(g.variables), len(edges(g)), SCALES[name]) for name, g in graphs.items()]


def _graphs() -> Graphs:
    from harness.tasks.causalbench.page_graphs import NetworkGraphs

    return NetworkGraphs()


def _origin(settings: Mapping[str, Any]) -> Origin:
    return Origin(addresses=(REPOSITORY,))


BENCHMARK = Benchmark(
    name="causalbench",
    title="CausalBench",
    source="Zhou et al., CausalBench (now CausalBN-Bench): A Comprehensive Benchmark for Causal Learning Capability "
    "of LLMs",
    year=2024,
    data_version="the paper's own data, of which no version is told",
    published=_published,
    presets=_presets,
    no_scores=("I", "XII"),
    digits="digits as printed, measured ones in the same form",
    algorithms=PublishedAlgorithms(
        table="Table XI",
        names={
            "hc": "HC",
            "hc_bdeu": "HC",
            "mmhc": "MMHC",
            "pc": "PC",
            "genetic": "MIGA",
            "dag_gnn": "DAG-GNN",
            "ensemble": "ENSAOBS",
        },
        others=("MIGA", "DAG-GNN", "ENSAOBS"),
        networks=NETWORKS,
        note=_NOTE,
    ),
    defaults={"format": "variable_name", "kind": "all", "method": "1", "names": "original"},
    paper_labels="paper",
    compared_labels=("paper", "exact"),
    label_word="convention",
    label_titles={
        "paper": "the paper's convention",
        "exact": "the exact convention",
        "our": "scores of this project, not the paper's",
    },
    graph_sizes=_graph_sizes,
    graphs=_graphs,
    origin=_origin,
    own_models=("harness.tasks.causalbench.column_order.ColumnOrder",),
    costly={"rows": 100_000, "observations": 100_000},
)
