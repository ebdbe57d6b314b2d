"""Answers in batches: requests go out as files, at half the price, and their answers come hours later."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

_HERE = "harness.plugins.batches"

PLUGIN = Plugin(
    name="batches",
    home=Path(__file__).parent,
    jobs={"cache requests": f"{_HERE}.commands:REQUESTS", "cache batches": f"{_HERE}.commands:BATCHES"},
    importers=(f"{_HERE}.commands:take_in",),
    wrappers=(f"{_HERE}.wrapping:wrap",),
)
