"""Stored replies read again by today's rules, without asking the model."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="reread",
    home=Path(__file__).parent,
    commands={
        "reread": Command(
            summary="stored replies read again by today's rules, no model asked",
            module="harness.plugins.reread.__main__",
        )
    },
)
