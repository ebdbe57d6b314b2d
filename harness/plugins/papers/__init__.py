"""What the papers print, beside what was measured; their tables of data statistics, hidden variables, stories."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="papers",
    home=Path(__file__).parent,
    commands={
        "published": Command(
            summary="what the papers print, with intervals where counts are known",
            module="harness.plugins.papers.command",
        ),
        "stories": Command(
            summary="natural stories for items of Corr2Cause, written by a model and checked by rule",
            module="harness.plugins.papers.stories",
            config="config",
        ),
    },
    views={
        "preset": "harness.plugins.papers.preset_tables:tables",
        "published": "harness.plugins.papers.published:published_tables",
    },
    extends={
        "corr2cause": "harness.plugins.papers.benchmarks:corr2cause",
        "causalbench": "harness.plugins.papers.benchmarks:causalbench",
    },
)
