"""What the papers have besides their benchmarks: tables of data statistics and marks, hidden variables, stories."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="papers",
    home=Path(__file__).parent,
    commands={
        "stories": Command(
            summary="natural stories for items of Corr2Cause, written by a model and checked by rule",
            module="harness.plugins.papers.stories",
            config="config",
        )
    },
    extends={
        "corr2cause": "harness.plugins.papers.benchmarks:corr2cause",
        "causalbench": "harness.plugins.papers.benchmarks:causalbench",
    },
)
