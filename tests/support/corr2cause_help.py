from __future__ import annotations

from typing import Any

from harness.causal.relations import Relation
from harness.settings import build

PERTURBATIONS = ("none", "paraphrase", "refactorization", "permutation", "varied")


def corr2cause(**settings: Any) -> Any:
    """Return the task as the command line builds it."""
    target = {"_target_": "harness.tasks.corr2cause.Corr2Cause", "name": "corr2cause", "prompts": ["plain"]}
    return build({**target, **settings}, "task")


def meaning(relation: str, i: Any, j: Any) -> tuple[str, Any]:
    """Return a value that is equal for two claims iff they mean the same (Table 10)."""
    return {
        Relation.PARENT: ("direct", (i, j)),
        Relation.CHILD: ("direct", (j, i)),
        Relation.ANCESTOR: ("indirect", (i, j)),
        Relation.DESCENDANT: ("indirect", (j, i)),
        Relation.COLLIDER: ("collider", frozenset((i, j))),
        Relation.CONFOUNDER: ("confounder", frozenset((i, j))),
    }[Relation(relation)]


SIZES = (6, 12, 18, 18, 34, 36, 36, 60, 60, 60, 60, 60, 60, 60, 60, 72, 90, 90, 90, 90, 90)
"""Items of the 21 premises of the public test split."""
