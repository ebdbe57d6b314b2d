"""The same questions, read and scored alike, in Inspect, lm-eval, verifiers and TRL: a module for each."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="bridges",
    home=Path(__file__).parent,
    commands={
        "bridges": Command(summary="where lm-eval and verifiers find the questions", module=f"{__name__}.command")
    },
)
