"""Where the reasoning breaks: the steps of replies read, and judged by what the premise entails."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Exporter, Plugin

PLUGIN = Plugin(
    name="steps",
    home=Path(__file__).parent,
    commands={
        "steps": Command(
            summary="where the reasoning breaks: the claims of replies, judged one by one",
            module="harness.plugins.steps.command",
        ),
    },
    models=("harness.plugins.steps.models.Arguer",),
    sections=("harness.plugins.steps.page:sections",),
    graders={"trace": "harness.plugins.steps.grading:grade"},
    metrics=tuple(
        f"harness.plugins.steps.metrics:{name}"
        for name in (
            *("STEP_EXACT", "STEP_PRECISION", "STEP_RECALL", "STEP_F1", "STEP_OWN"),
            *("FIRST_EDGES", "FIRST_TRIPLES", "FIRST_COLLIDERS", "FIRST_DIRECTIONS", "FIRST_ANSWER", "FIRST_NOWHERE"),
        )
    ),
    exporters={
        "steps": Exporter(
            summary="the claims of replies with their verdicts, a line each (JSON lines)",
            write="harness.plugins.steps.export:write",
            is_file=True,
        ),
    },
)
