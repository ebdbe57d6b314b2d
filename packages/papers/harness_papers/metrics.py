"""The metrics of rankings by strength, and of stories that were written."""

from __future__ import annotations

from harness.scoring.definitions import MetricDefinition

AP_DIRECT = MetricDefinition(name="ap_direct", title="AP direct", made_of="items", in_heat_maps=True)
AP_ALL = MetricDefinition(name="ap_all", title="AP all", made_of="items", lead="first", in_heat_maps=True)
SPEARMAN = MetricDefinition(
    name="spearman",
    title="Spearman",
    made_of="items",
    lead="second",
    unit="number",
    decimals=3,
    limits=(-1, 1),
)
MAE_BALANCED = MetricDefinition(
    name="mae_balanced", title="balanced strength error", made_of="items", unit="number", decimals=3, best="low"
)
OUTSIDE = MetricDefinition(name="outside", title="outside", made_of="items", best="low")
HOLDS = MetricDefinition(name="holds", title="holds", made_of="items", lead="first")
