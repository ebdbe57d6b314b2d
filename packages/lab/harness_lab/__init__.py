"""Research on how models reason: claims judged, worlds that answers fit, intervals that one may look at."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="lab",
    home=Path(__file__).parent,
    commands={
        "steps": Command(
            summary="where the reasoning breaks: the claims of replies, judged one by one",
            module="harness_lab.steps_command",
        ),
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
