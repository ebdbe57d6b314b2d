"""CLadder: questions on all three rungs of causation, about small networks that are told as stories."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(
    name="cladder",
    home=Path(__file__).parent,
    benchmarks={"cladder": "harness.plugins.cladder.benchmark:BENCHMARK"},
)
