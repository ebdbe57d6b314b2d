"""The metrics of corr2cause/pairs, apart from what makes them: every run reads the definitions of all metrics."""

from __future__ import annotations

from harness.scoring.definitions import MetricDefinition

PAIR_ACCURACY = MetricDefinition(name="pair_accuracy", title="both right", lead="first", in_heat_maps=True)
"""The share of pairs with both halves right: 25% by chance, 0% where both get the same answer."""
YES_MISSED = MetricDefinition(name="yes_missed", title="only Yes missed", best="low")
"""The share of pairs of which only the half that follows is wrong: both were called No."""
NO_MISSED = MetricDefinition(name="no_missed", title="only No missed", best="low")
BOTH_MISSED = MetricDefinition(name="both_missed", title="both missed", best="low")
