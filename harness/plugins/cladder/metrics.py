"""The metrics of cladder/steps, apart from what makes them: every run reads the definitions of all metrics."""

from __future__ import annotations

from typing import Literal, get_args

from harness.scoring.definitions import MetricDefinition

Step = Literal["graph", "kind", "formal", "estimand", "data", "number", "answer"]
STEPS: tuple[Step, ...] = get_args(Step)
BREAKS = tuple(f"ladder_first_{name}" for name in (*STEPS, "nowhere"))
LADDER_EXACT = MetricDefinition(
    name="ladder_exact", title="right", made_of="items", lead="first", in_comparisons=True, in_heat_maps=True
)
LADDER_F1 = MetricDefinition(name="ladder_f1", title="F1 of the list", made_of="items")
LADDER_OWN = MetricDefinition(name="ladder_own", title="follows from its own number", made_of="items")
FIRST = tuple(
    MetricDefinition(
        name=name,
        title=f"breaks first at {name.removeprefix('ladder_first_')}",
        made_of="items",
        best=None,
        on_page=False,
    )
    for name in BREAKS
)
FIRST_GRAPH, FIRST_KIND, FIRST_FORMAL, FIRST_ESTIMAND, FIRST_DATA, FIRST_NUMBER, FIRST_ANSWER, FIRST_NOWHERE = FIRST
