"""Corr2Cause as the views show it: its paper, and what is drawn of its items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.tasks.benchmark import Benchmark, Explanations, Origin

PERTURBED = {
    "none": "as it is",
    "paraphrase": "paraphrased",
    "refactorization": "variables renamed",
    "permutation": "nodes permuted",
    "varied": "nodes permuted, names and words varied",
}
"""The perturbations in the words of headings."""
PERTURBATIONS = {"none": "original", **{name: name for name in tuple(PERTURBED)[1:]}}


def _explanations() -> Explanations:
    from harness.tasks.corr2cause.explain import Classes

    return Classes()


def _origin(settings: Mapping[str, Any]) -> Origin:
    """Return the data set: where items were read from there, or are its test split made here, item by item."""
    from harness.tasks.corr2cause.sources import HUB_PATH, HUB_REVISION

    split, path = str(settings.get("split")), settings.get("path")
    if settings.get("source") == "hub":
        place = str(path or HUB_PATH)
        if place.count("/") != 1 or place.startswith((".", "/", "~")) or Path(place).exists():
            return Origin()
        return Origin(
            data_set=place,
            split=split,
            revision=settings.get("revision") or (HUB_REVISION if place == HUB_PATH else None),
        )
    made_here = settings.get("source") == "builtin" and split == "test" and settings.get("version") == "v2"
    if made_here and settings.get("perturbation") == "none" and not settings.get("wording"):
        return Origin(data_set=HUB_PATH, split=split, revision=HUB_REVISION)
    return Origin()


BENCHMARK = Benchmark(
    name="corr2cause",
    title="Corr2Cause",
    source="Jin et al., Can Large Language Models Infer Causation from Correlation?, ICLR 2024",
    year=2023,
    defaults={"perturbation": "none", "version": "v2", "wording": "0"},
    setting_words={"perturbation": PERTURBED},
    perturbations=PERTURBATIONS,
    explanations=_explanations,
    origin=_origin,
    own_models=(
        "harness.tasks.corr2cause.reasoner.Reasoner",
        "harness.tasks.corr2cause.shortcut.Shortcut",
        "harness.tasks.corr2cause.small_models.HypothesisOnly",
        "harness.tasks.corr2cause.small_models.Linear",
        "harness.tasks.corr2cause.fresh.trees.Trees",
    ),
)
