"""The metrics of corr2cause/steps, apart from what makes them: every run reads the definitions of all metrics."""

from __future__ import annotations

from typing import Literal, get_args

from harness.scoring.definitions import MetricDefinition

Question = Literal["edges", "triples", "colliders", "directions", "answer"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
BREAKS = tuple(f"first_{name}" for name in (*QUESTIONS, "nowhere"))
STEP_EXACT = MetricDefinition(name="step_exact", title="all right", made_of="items", lead="first", in_comparisons=True)
STEP_PRECISION = MetricDefinition(name="step_precision", title="precision of the list", made_of="items")
STEP_RECALL = MetricDefinition(name="step_recall", title="recall of the list", made_of="items")
STEP_F1 = MetricDefinition(name="step_f1", title="F1 of the list", made_of="items", in_heat_maps=True)
STEP_OWN = MetricDefinition(name="step_own", title="follows from its own steps", made_of="items")
FIRST = {
    name: MetricDefinition(
        name=name, title=f"breaks first at {name.removeprefix('first_')}", made_of="items", best=None, on_page=False
    )
    for name in BREAKS
}
FIRST_EDGES, FIRST_TRIPLES, FIRST_COLLIDERS, FIRST_DIRECTIONS, FIRST_ANSWER, FIRST_NOWHERE = FIRST.values()
