"""Items that no model can have seen: Corr2Cause made anew from a seed, and in matched pairs."""

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
    models=("harness.plugins.fresh.trees.Trees",),
    metrics=tuple(
        f"harness.plugins.fresh.metrics:{name}" for name in ("PAIR_ACCURACY", "YES_MISSED", "NO_MISSED", "BOTH_MISSED")
    ),
)
