"""Corr2Cause as the views show it: its paper, and what is drawn of its items."""

from __future__ import annotations

from harness.tasks.benchmark import Benchmark

PERTURBED = {
    "none": "as it is",
    "paraphrase": "paraphrased",
    "refactorization": "variables renamed",
    "permutation": "nodes permuted",
    "varied": "nodes permuted, names and words varied",
}
"""The perturbations in the words of headings."""
PERTURBATIONS = {"none": "original", **{name: name for name in tuple(PERTURBED)[1:]}}

BENCHMARK = Benchmark(
    name="corr2cause",
    title="Corr2Cause",
    source="Jin et al., Can Large Language Models Infer Causation from Correlation?, ICLR 2024",
    year=2023,
    defaults={"perturbation": "none", "version": "v2", "wording": "0"},
    setting_words={"perturbation": PERTURBED},
    perturbations=PERTURBATIONS,
    explanations="harness.tasks.corr2cause.explain:ClaimExplanations",
    own_models=(
        "harness.tasks.corr2cause.reasoner.Reasoner",
        "harness.tasks.corr2cause.shortcut.Shortcut",
        "harness.tasks.corr2cause.small_models.HypothesisOnly",
        "harness.tasks.corr2cause.small_models.Linear",
        "harness.tasks.corr2cause.fresh.trees.Trees",
    ),
)
