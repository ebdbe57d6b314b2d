"""Causal discovery from data: the algorithms of other libraries, scored as models are."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="discovery",
    home=Path(__file__).parent,
    commands={
        "discover": Command(
            summary="classical causal discovery on sampled data, scored as the models are",
            module="harness_discovery.command",
            config="discover",
            help="harness_discovery.command:help_text",
        ),
    },
)
