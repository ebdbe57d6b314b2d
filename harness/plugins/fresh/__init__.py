"""Items that no model can have seen: Corr2Cause made anew from a seed, public or private."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="fresh",
    home=Path(__file__).parent,
    commands={
        "reveal": Command(
            summary="the private seed of runs, written beside them for everybody",
            module="harness.plugins.fresh.private",
        ),
    },
)
