"""What the tables of Zhou et al. (CausalBench) are made of: what they break down by, and their columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.tasks.presets import Axis, Number, Source

NETWORKS = {
    "asia": "Asia",
    "cancer": "Cancer",
    "earthquake": "Earthquake",
    "sachs": "Sachs",
    "survey": "Survey",
    "alarm": "Alarm",
    "barley": "Barley",
    "child": "Child",
    "insurance": "Insurance",
    "mildew": "Mildew",
    "water": "Water",
    "hailfinder": "Hailfinder",
    "hepar2": "Hepar II",
    "win95pts": "Win95PTS",
}
"""In the order of the tables that have them as columns; each other table has an order of its own."""
NETWORK = Axis("Causal network", "network", {name: (name,) for name in NETWORKS}, "network", NETWORKS)
STRUCTURE = Axis(
    "Causal structure",
    "task",
    {
        "causality_type2:direct_1": ("direct",),
        "causality_type2:direct_2": ("reversed_direct",),
        "causality_type2:chain_1": ("indirect",),
        "causality_type2:chain_2": ("reversed_indirect",),
        "causality_type2:chain_mean": ("indirect", "reversed_indirect"),
        "causality_type2:confounder": ("common_cause",),
        "causality_type2:collider": ("common_effect",),
    },
    "structure",
    {
        "causality_type2:direct_1": "Direct (1)",
        "causality_type2:direct_2": "Direct (2)",
        "causality_type2:chain_1": "Chain (1)",
        "causality_type2:chain_2": "Chain (2)",
        "causality_type2:chain_mean": "Average of Chain",
        "causality_type2:confounder": "Confounder",
        "causality_type2:collider": "Collider",
    },
)


def _types(task: str, *templates: tuple[str, str]) -> Axis:
    """Return the five wordings of a question, by what they are called here."""
    keys = [f"{task}:question_{number}" for number in range(1, len(templates) + 1)]
    return Axis(
        "Question",
        "task",
        {key: (name,) for key, (name, _) in zip(keys, templates, strict=True)},
        "template",
        {key: f"Type {n}: {words}" for n, (key, (_, words)) in enumerate(zip(keys, templates, strict=True), 1)},
    )


CAUSALITY_TYPES = _types(
    "causality_type1",
    ("causally_related", "Are Var. A and Var. B causally related?"),
    ("causal_connection", "Is there a causal connection between Var. A and Var. B?"),
    ("cause", "Does Var. A cause Var. B?"),
    ("influence", "Does Var. A influence Var. B?"),
    ("causality_between", "Is there causality between Var. A and Var. B?"),
)
CORRELATION_TYPES = _types(
    "correlation",
    ("related", "Are Var. A and Var. B related?"),
    ("correlated", "Are Var. A and Var. B correlated?"),
    ("correlation", "Is there a correlation between Var. A and Var. B?"),
    ("relation", "Is there a relation between Var. A and Var. B?"),
    ("connection", "Do Var. A and Var. B have a connection?"),
)
LLMS = ("closed", "open", "pair")
F1 = Number("F1 score", "f1", ("macro_f1", "f1"), form="fraction")
ACCURACY = Number("Accuracy", "accuracy", ("cell_accuracy", "accuracy"), form="fraction")
SHD = Number("SHD", "shd", ("cell_shd", "shd"), form="number")
SID = Number("SID", "sid", ("parent_set_errors", "sid"), form="number")
SPARSITY = Number("Edge Sparsity", "edge_sparsity", ("cell_density", "density"), form="fraction")
NET_SPARSITY = replace(SPARSITY, title="Net sparsity", printed="net_sparsity")
PAPERS = (
    "Measured numbers follow the paper's convention (macro F1 and cells of the answer matrix: docs/conventions.md). A "
    "run that has none of them is shown by the exact one (F1 of Yes, shares of questions), in a set of its own."
)


def source(**requires: str) -> tuple[Source, ...]:
    """Choose runs of language models (and baselines) with these settings."""
    return (Source(LLMS, {name: tuple(value.split("|")) for name, value in requires.items()}),)


def under(over: str, *numbers: Number, slots: str = "", **where: str) -> Iterator[Number]:
    """Return columns under a heading, from published rows and runs of one kind."""
    for number in numbers:
        slot = tuple(slots.split("|")) if slots else ()
        yield replace(number, over=over, slots=slot, where={**number.where, **where})


SIDES = tuple(
    (f"{which} LLMs (mean)", f"{which.capitalize()} LLMs") for which in ("open-source", "closed-source", "all")
)
