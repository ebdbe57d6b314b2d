"""Out to others and back: tasks as data sets of the Hugging Face Hub, and answers that others have recorded as runs."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="hub",
    home=Path(__file__).parent,
    commands={
        "import": Command(
            summary="answers that others have recorded, as runs: CSV, JSON lines, Inspect, lm-eval, verifiers",
            module="harness.plugins.hub.command",
        )
    },
)
