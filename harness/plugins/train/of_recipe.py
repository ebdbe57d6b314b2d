"""The learner that a recipe asks for."""

from __future__ import annotations

from typing import Any

from harness.plugins.train.learners import AnswerLearner, Learner, PairLearner
from harness.plugins.train.packed import PackedLearner
from harness.plugins.train.recipe import Recipe


def learner_of(recipe: Recipe, device: Any, base: str | None = None) -> Learner:
    """Return the recipe's learner; its weights are float32 whatever the base's are, to be trained exactly.

    `base` is the folder of a base that is made before it is looked at.
    """
    settings: dict[str, Any] = {
        "name": recipe.name,
        "path": base or recipe.path,
        "revision": recipe.revision,
        "trust_remote_code": recipe.trust_remote_code,
        "dtype": "float32",
        "device": device,
        "max_length": recipe.max_length,
        "recipe": recipe,
    }
    if recipe.kind == "causal_lm":
        return AnswerLearner(**settings)
    return (PackedLearner if recipe.packed else PairLearner)(labels=recipe.labels, **settings)
