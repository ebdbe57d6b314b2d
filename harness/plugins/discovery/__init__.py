"""Causal discovery from data: classical algorithms, and the command that scores them as models are scored."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="discovery",
    home=Path(__file__).parent,
    commands={
        "discover": Command(
            summary="classical causal discovery on sampled data, scored as the models are",
            module="harness.plugins.discovery.discover",
            config="discover",
            help="harness.plugins.discovery.discover:help_text",
        )
    },
)
