"""What a model's answers about one premise come to: the world that they fit, and whether equivalent ones agree."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="beliefs",
    home=Path(__file__).parent,
    commands={
        "beliefs": Command(
            summary="do a model's answers about one premise fit any world, and which one",
            module="harness.plugins.beliefs.command",
        ),
    },
    sections=("harness.plugins.beliefs.page:sections",),
    extends={"corr2cause": "harness.plugins.beliefs.equivalent:corr2cause"},
    metrics=tuple(f"harness.plugins.beliefs.metrics:{name}" for name in ("CONTRADICTIONS", "CHANCE")),
)
