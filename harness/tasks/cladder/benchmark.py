"""CLadder as the views show it: its paper, and what is drawn of its items."""

from __future__ import annotations

from harness.tasks.benchmark import Benchmark

PERTURBED = {"none": "as it is", "nonsense": "in invented words", "letters": "in letters"}
"""The perturbations in the words of headings."""

BENCHMARK = Benchmark(
    name="cladder",
    title="CLadder",
    source="Jin et al., CLadder: Assessing Causal Reasoning in Language Models, NeurIPS 2023",
    year=2023,
    defaults={"perturbation": "none"},
    setting_words={"perturbation": PERTURBED},
    perturbations={"none": "original", "nonsense": "nonsense", "letters": "letters"},
    explanations="harness.tasks.cladder.explain:QuestionExplanations",
    own_models=(
        "harness.tasks.cladder.reasoner.LadderReasoner",
        "harness.tasks.cladder.shortcut.LadderShortcut",
    ),
)
