"""The metrics of contradictions, apart from what makes them: every run reads the definitions of all metrics."""

from __future__ import annotations

from harness.scoring.definitions import MetricDefinition

CONTRADICTIONS = MetricDefinition(name="contradictions", title="contradictions", best="low", in_heat_maps=True)
"""Of pairs of equivalent questions, both with an answer: the share with opposite ones."""
CHANCE = MetricDefinition(name="contradictions_by_chance", title="by chance", best=None)
"""That share for two answerers who know of each other only how often they say Yes to each relation in each form."""
