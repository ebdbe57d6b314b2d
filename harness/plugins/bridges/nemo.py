"""The questions as benchmarks of NeMo Evaluator: `nel eval run --bench "$(harness bridges nemo):corr2cause_fresh" …`.

A benchmark file of NeMo's takes no settings: those of the task come from the variable HARNESS_SETTINGS, as JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any

from nemo_evaluator import ScorerInput, SeedResult, benchmark, scorer

from harness.tasks.question import questions, score

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "corr2cause_audited": ("corr2cause", {"labels": "audited"}),
    "corr2cause_fresh": ("corr2cause/fresh", {"limit": 600}),
    "cladder": ("cladder", {"limit": 1000}),
}
"""What `nel` lists, with the settings that hold where HARNESS_SETTINGS has no others."""


def seed(row: dict[str, Any], index: int) -> SeedResult:
    """Return a question as NeMo asks it."""
    turns = row["messages"]
    return SeedResult(
        prompt=turns[-1]["content"],
        expected_answer=row["answer"],
        messages=turns,
        system=None,
        metadata={"metadata": row["metadata"]},
    )


def read(sample: ScorerInput) -> dict[str, Any]:
    """Read a reply as a run of this project does. NeMo tells no finish reason: what was cut off counts as whole."""
    answer = score(sample.metadata["metadata"], sample.response)
    return {"correct": answer.correct, "extracted": answer.answer, "unreadable": bool(answer.reason)}


def register(name: str, task: str, defaults: dict[str, Any]) -> None:
    def rows() -> list[dict[str, Any]]:
        settings = defaults | json.loads(os.environ.get("HARNESS_SETTINGS", "{}"))
        fields = ("id", "messages", "answer", "metadata")
        return [{field: getattr(question, field) for field in fields} for question in questions(task, **settings)]

    benchmark(name=name, dataset=rows, target_field="answer", seed_fn=seed)(scorer(read))


for each, (source, fixed) in TASKS.items():
    register(each, source, fixed)
