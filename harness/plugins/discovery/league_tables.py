"""The distances that know patterns on leaderboard and page: a table of the runs that left graphs of direct causes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from harness.errors import ConfigError
from harness.leaderboard.comparable import NAMES, name_of
from harness.plugins.discovery.league import reversals
from harness.plugins.discovery.league_rows import TITLES, RunScores, grouped, scores_of
from harness.storage.runs import Run
from harness.tables.table import Cell, Column, Line, Table

HEADING = "By distances that know patterns"
WHY = (
    "Parent, ancestor and order AID: pairs of variables whose effect the graph would have estimated wrongly, against "
    "the class of the true graph; SHD of CPDAGs: pairs that differ between the classes. By these a direction that data "
    "cannot tell is no error; SHD (paper) and F1 compare cells of answers, and count it. By ancestor and order AID and "
    "by SHD (paper) an empty graph is hard to beat, as most pairs have no effect and networks few edges: parent AID "
    "ranks. SID: the least and the largest over the graphs of a pattern. Changed: edges changed, as few as were found, "
    "for a graph without a cycle, of which all but SHD (paper) and F1 are. Several seeds in one row, with intervals: "
    "harness league."
)


def tables(rows: Sequence[Run]) -> list[Table]:
    """Return a table for each set of networks, best parent AID first; a sentence in its place without gadjid."""
    # Not from records, as harness league does: a leaderboard of large runs would have to read all of them.
    runs = [run for run in rows if run.sound and next(run.folder.glob("graphs/*/direct.csv"), None)]
    try:
        scored = [scores_of(run) for run in runs]
    except ConfigError as error:
        return [Table(runs[0].task, heading=HEADING, notes=[f"Left out: {error}"])]
    sets: dict[tuple[str, ...], list[RunScores]] = defaultdict(list)
    for one in scored:
        if one.scores:
            sets[tuple(sorted(one.scores))].append(one)
    ordered = sorted(sets.items(), key=lambda item: (-len(item[0]), item[0]))
    return [_table(networks, members, several=len(sets) > 1) for networks, members in ordered]


def _table(networks: Sequence[str], members: Sequence[RunScores], *, several: bool) -> Table:
    ranked = sorted(members, key=lambda one: (_mean(one, "parent_aid"), one.run.model, one.run.variant))
    runs = [one.run for one in ranked]
    names = ["model", *(name for name in ("variant", "prompt") if len({getattr(run, name) for run in runs}) > 1)]
    if len({tuple(getattr(run, name) for name in names) for run in runs}) < len(runs):
        names.append("folder")
    where = ", ".join(networks) if len(networks) < 5 else f"{len(networks)} networks, {networks[0]} to {networks[-1]}"
    return Table(
        runs[0].task,
        [*(Column(name, name) for name in names), *map(_column, TITLES), Column("changed", "changed", "count")],
        [_line(one, names) for one in ranked],
        above=f"Best parent AID first; means over {where}.",
        notes=[WHY, *reversals(grouped(ranked)[0])],
        heading=f"{HEADING}: {where}" if several else HEADING,
        spare=("changed", "f1", "sid", "oset_aid"),
    )


def _column(name: str) -> Column:
    if name == "sid":  # two numbers
        return Column(name, TITLES[name])
    if name == "f1":  # a task's F1 is of all its questions
        return Column("direct_f1", "F1 of direct edges", "metric", "high")
    return Column(name, TITLES[name], "metric", "low")


def _line(one: RunScores, names: Sequence[str]) -> Line:
    run, graphs = one.run, one.scores.values()
    changed = round(fmean(graph.changed for graph in graphs), 1)
    cells = [
        *(Cell(name_of(run, name), name_of(run, name)) for name in names),
        *(_cell(one, name) for name in TITLES),
        Cell(f"{changed:,.1f}", changed),
    ]
    return Line(cells, run={name: text for name in NAMES if (text := name_of(run, name))}, ranked=run.ranked)


def _cell(one: RunScores, name: str) -> Cell:
    if name == "sid":
        low, high = _mean(one, "sid_low"), _mean(one, "sid_high")
        text = f"{low:,.1f}" if low == high else f"{low:,.1f} … {high:,.1f}"
        return Cell(text, text)
    value = _mean(one, name)
    return Cell(f"{100 * value:.1f}" if name == "f1" else f"{value:,.1f}", value)


def _mean(one: RunScores, name: str) -> float:
    return fmean(score.values[name] for score in one.scores.values())
