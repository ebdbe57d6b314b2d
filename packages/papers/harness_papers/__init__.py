"""What the papers print, beside what was measured; and what they have besides: hidden variables, stories, strength."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(
    name="papers",
    home=Path(__file__).parent,
    published=f"{__name__}.published:published_tables",
    models=(f"{__name__}.latent.LatentReasoner", f"{__name__}.mutual_information.Ranker"),
    metrics=tuple(
        f"{__name__}.metrics:{name}" for name in ("AP_DIRECT", "AP_ALL", "SPEARMAN", "MAE_BALANCED", "OUTSIDE", "HOLDS")
    ),
)
