"""Research on causal reasoning: intervals that hold however often one looks."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="lab",
    home=Path(__file__).parent,
    commands={
        "until": Command(
            summary="ask a model until an interval is narrow enough, or it is better or worse than a run",
            module="harness_lab.until_command",
        ),
    },
)
