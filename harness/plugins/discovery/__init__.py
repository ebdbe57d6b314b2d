"""Causal discovery from data: classical algorithms, scored as models are, and the table that ranks both."""

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
        ),
        "league": Command(
            summary="algorithms and models on one table, by distances that know patterns",
            module="harness.plugins.discovery.league",
        ),
    },
    tables={"causalbench/causality": "harness.plugins.discovery.league_tables:tables"},
)
