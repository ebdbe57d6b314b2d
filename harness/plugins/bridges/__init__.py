"""The same questions, read and scored alike, in other frameworks: Inspect, lm-eval, verifiers, TRL and their kind.

Each module is for one framework, and is imported by it or by whoever uses it: none of them is needed for the others.
"""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="bridges",
    home=Path(__file__).parent,
    commands={
        "bridges": Command(
            summary="where other frameworks find the questions: lm-eval's folder, NeMo's file",
            module="harness.plugins.bridges.command",
        )
    },
)
