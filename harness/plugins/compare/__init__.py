"""Runs in pairs on the same items: `compare`, `contamination`, `gate`; the leaderboard by or over a setting of runs."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

_HERE = "harness.plugins.compare"

PLUGIN = Plugin(
    name="compare",
    home=Path(__file__).parent,
    commands={
        "compare": Command(
            summary="two runs or more item by item: difference, interval, tests", module=f"{_HERE}.command"
        ),
        "contamination": Command(
            summary="how much of a score is gone where the same questions have other names",
            module=f"{_HERE}.contamination",
        ),
        "gate": Command(
            summary="is a candidate no worse than a margin: GO, NO-GO or NOT ENOUGH EVIDENCE", module=f"{_HERE}.gate"
        ),
    },
    views={
        "by": f"{_HERE}.by_setting:tables",
        "over": f"{_HERE}.over_setting:tables",
        "differences": f"{_HERE}.differences:tables",
    },
)
