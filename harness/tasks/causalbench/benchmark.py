"""CausalBench as the views show it: its paper, and what is drawn of its networks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.tasks.benchmark import Benchmark, GraphSize
from harness.tasks.causalbench.networks import NETWORKS, SCALES, edges, load


def _graph_sizes(names: Collection[str]) -> Sequence[GraphSize]:
    if not set(names) <= set(NETWORKS):
        return ()
    graphs = {name: load(name) for name in NETWORKS if name in names}
    return [GraphSize(name, len(g.variables), len(edges(g)), SCALES[name]) for name, g in graphs.items()]


BENCHMARK = Benchmark(
    name="causalbench",
    title="CausalBench",
    source="Zhou et al., CausalBench (now CausalBN-Bench): A Comprehensive Benchmark for Causal Learning Capability "
    "of LLMs",
    year=2024,
    defaults={"format": "variable_name", "kind": "all", "method": "1", "names": "original"},
    label_word="convention",
    label_titles={
        "paper": "the paper's convention",
        "exact": "the exact convention",
        "our": "scores of this project, not the paper's",
    },
    graph_sizes=_graph_sizes,
    graphs="harness.tasks.causalbench.page_graphs:NetworkGraphs",
    own_models=("harness.tasks.causalbench.column_order.ColumnOrder",),
)
