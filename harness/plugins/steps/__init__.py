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
    exporters={
        "steps": Exporter(
            summary="the claims of replies with their verdicts, a line each (JSON lines)",
            write="harness.plugins.steps.export:write",
            is_file=True,
        ),
    },
)
