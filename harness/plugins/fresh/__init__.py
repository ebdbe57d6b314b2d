"""Items that no model can have seen: Corr2Cause made anew from a seed."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(name="fresh", home=Path(__file__).parent)
