"""The command `cache`: what is stored is shown, moved between machines, checked and removed; a store in parts."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="answers",
    home=Path(__file__).parent,
    commands={
        "cache": Command(
            summary="the stored answers: stats, export, import, prune, verify",
            module="harness.plugins.answers.command",
        )
    },
    stores={".parts": "harness.plugins.answers.parts_store:PartsStore"},
)
