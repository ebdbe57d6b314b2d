"""Corr2Cause: from the statistical relations among variables, in words, to the causal hypotheses that follow."""

from __future__ import annotations

from harness.tasks.benchmark import Benchmark, lazily

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
)

__getattr__ = lazily(__name__, Corr2Cause="harness.tasks.corr2cause.task")
