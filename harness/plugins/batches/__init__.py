"""Answers in batches: requests go out as files, at half the price, and their answers come hours later."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(name="batches", home=Path(__file__).parent, wrappers=("harness.plugins.batches.wrapping:wrap",))
