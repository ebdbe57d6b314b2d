"""Charts as values: from runs to what is drawn, the same for the page and for the figures of a paper."""

from harness.charts.build import charts_of
from harness.charts.names import run_ids
from harness.charts.values import Chart, as_json, points_of

__all__ = ["Chart", "as_json", "charts_of", "points_of", "run_ids"]
