"""From runs to charts, by the same sets, in the same order and with the same names as the leaderboard's tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.charts import steps
from harness.charts.names import places, run_ids
from harness.charts.sets import SideBySide
from harness.charts.values import Chart
from harness.leaderboard.build import comparable_sets
from harness.leaderboard.rows import Row


def charts_of(rows: Sequence[Row]) -> list[Chart]:
    """The charts of all tasks. Incomplete runs are in none, and no chart mixes item sets or headline label sets.

    The one exception are the steps of robustness, which are the same questions in other words.
    """
    by_task: dict[str, list[tuple[Row, str]]] = defaultdict(list)
    for row, name in zip(rows, run_ids(rows), strict=True):
        by_task[row.task].append((row, name))
    return [chart for task, found in sorted(by_task.items()) for chart in _of_task(task, found)]


def _of_task(task: str, found: Sequence[tuple[Row, str]]) -> Iterator[Chart]:
    # Rows hold dictionaries, so they are known by their identity.
    names = {id(row): name for row, name in found}
    rows = [row for row, _ in found]
    sets = comparable_sets(rows)
    for together, place in zip(sets, places(task, [one.rows for one in sets]), strict=True):
        yield from SideBySide(task, place, together.heading, together.rows, names).charts()
    yield from steps.charts(task, rows, names)
