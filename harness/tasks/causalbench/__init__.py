"""CausalBench, now CausalBN-Bench (Zhou et al.): fifteen networks; what is related, what causes what, chains."""

from __future__ import annotations

from harness.tasks.benchmark import Benchmark, lazily

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
    graph_sizes="harness.tasks.causalbench.networks:graph_sizes",
    graphs="harness.tasks.causalbench.page_graphs:NetworkGraphs",
)

__getattr__ = lazily(
    __name__,
    Chains="harness.tasks.causalbench.chains",
    **dict.fromkeys(("Causality", "Correlation", "Skeleton"), "harness.tasks.causalbench.task"),
)
