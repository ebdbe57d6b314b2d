"""CLadder: questions on all three rungs of causation, about small networks that are told as stories."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(
    name="cladder",
    home=Path(__file__).parent,
    benchmarks={"cladder": "harness.plugins.cladder.benchmark:BENCHMARK"},
    models=("harness.plugins.cladder.step_models.LadderArguer",),
    metrics=tuple(
        f"harness.plugins.cladder.metrics:{name}"
        for name in (
            *("LADDER_EXACT", "LADDER_F1", "LADDER_OWN", "FIRST_GRAPH", "FIRST_KIND", "FIRST_FORMAL"),
            *("FIRST_ESTIMAND", "FIRST_DATA", "FIRST_NUMBER", "FIRST_ANSWER", "FIRST_NOWHERE"),
        )
    ),
)
