"""What answers in the groups that the papers' tables have: by its role, models and baselines by their names too."""

from __future__ import annotations

from collections.abc import Mapping

from harness.types import Role

GROUPS: Mapping[str, tuple[Role, tuple[str, ...]]] = {
    "Random Baselines": ("baseline", ("always_", "random_", "majority", "strength_", "empty")),
    "Fitted Baselines": ("baseline", ("shortcut", "hypothesis_only", "linear", "mutual_information")),
    "Other Baselines": ("baseline", ("",)),
    "BERT-Based Models": ("model", ("bert", "roberta", "deberta", "distil", "bart", "huggingface")),
    "LLaMa-Based Models": ("model", ("llama", "alpaca", "vicuna")),
    "GPT-Based Models": ("model", ("gpt", "ada", "babbage", "curie", "davinci", "o1", "o3", "o4", "chatgpt")),
    "Other Open-Source Models": ("model", ("falcon", "internlm", "opt", "mistral", "qwen", "gemma", "phi")),
    "Classical Algorithms": ("algorithm", ("",)),
    "Exact Reasoner": ("solver", ("",)),
    "Cheats": ("cheat", ("",)),
    "Other Models": ("model", ("",)),
}
"""By group, in the order of tables: a role, and how the names of its members begin. The first that fits is taken."""


def family(model: str, role: Role) -> str:
    """Return the group of what answered."""
    name = model.lower().rpartition("/")[2]
    return next(group for group, (of, beginnings) in GROUPS.items() if of == role and name.startswith(beginnings))


def order(group: str) -> int:
    """Return where a group stands."""
    return [*GROUPS].index(group)
