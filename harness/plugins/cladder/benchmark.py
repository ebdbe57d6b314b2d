"""CLadder as the views show it: its paper, and what is drawn of its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.tasks.benchmark import Benchmark, Explanations

if TYPE_CHECKING:
    from harness.tables.table import Part

PERTURBED = {"none": "as it is", "nonsense": "in invented words", "letters": "in letters"}
"""The perturbations in the words of headings."""


def _explanations() -> Explanations:
    from harness.plugins.cladder.explain import QuestionExplanations

    return QuestionExplanations()


def _audit() -> Sequence[Part]:
    from harness.plugins.cladder.audit import table

    return table()


BENCHMARK = Benchmark(
    name="cladder",
    title="CLadder",
    source="Jin et al., CLadder: Assessing Causal Reasoning in Language Models, NeurIPS 2023",
    year=2023,
    defaults={"perturbation": "none"},
    setting_words={"perturbation": PERTURBED},
    perturbations={"none": "original", "nonsense": "nonsense", "letters": "letters"},
    statistics={"audit": _audit},
    explanations=_explanations,
    own_models=(
        "harness.plugins.cladder.reasoner.LadderReasoner",
        "harness.plugins.cladder.shortcut.LadderShortcut",
    ),
)
