"""CLadder as the views show it: its paper, and what is drawn of its items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.tasks.benchmark import Benchmark, Explanations

if TYPE_CHECKING:
    from harness.types import Record

PERTURBED = {"none": "as it is", "nonsense": "in invented words", "letters": "in letters"}
"""The perturbations in the words of headings."""


def _explanations() -> Explanations:
    from harness.tasks.cladder.explain import QuestionExplanations

    return QuestionExplanations()


def _number_values(record: Record) -> Mapping[str, float | None]:
    from harness.tasks.cladder.reasoning import item_values

    return item_values(record)


BENCHMARK = Benchmark(
    name="cladder",
    title="CLadder",
    source="Jin et al., CLadder: Assessing Causal Reasoning in Language Models, NeurIPS 2023",
    year=2023,
    defaults={"perturbation": "none"},
    setting_words={"perturbation": PERTURBED},
    perturbations={"none": "original", "nonsense": "nonsense", "letters": "letters"},
    explanations=_explanations,
    item_values={"cladder/value": _number_values},
    own_models=("harness.tasks.cladder.reasoner.LadderReasoner",),
)
