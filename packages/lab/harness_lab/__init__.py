"""Research on causal reasoning: worlds that answers fit, intervals that hold however often one looks."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="lab",
    home=Path(__file__).parent,
    commands={
        "beliefs": Command(
            summary="do a model's answers about one premise fit any world, and which one",
            module="harness_lab.beliefs_command",
        ),
        "until": Command(
            summary="ask a model until an interval is narrow enough, or it is better or worse than a run",
            module="harness_lab.until_command",
        ),
    },
)
