"""Charts of runs: sets, order and names are those of the leaderboard's tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from harness.charts.names import id_prefixes, labels, reference, run_ids
from harness.charts.sets import ChartsOfSet, interval_notes_of, interval_of, title_of
from harness.charts.values import Chart, DirectnessChart, NamesChart, Point, RobustnessChart, StepsRow
from harness.leaderboard.comparable import comparable_sets, heading_of, items_of, items_text, sort_key
from harness.leaderboard.settings.chains import RunSetting, Series, chains_of, sets_of, steps_of
from harness.scoring.definitions import main_metrics
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of


@dataclass(frozen=True)
class _ChartKind:
    """A kind of chart: which setting makes its steps, and what it shows."""

    chart: type[RobustnessChart]
    setting: RunSetting
    title: str

    def values(self, task: str) -> Collection[str] | None:
        """Return the steps that belong in it; None where all do."""
        return benchmark_of(task).perturbations.values() if self.chart is RobustnessChart else None


_KINDS = (
    _ChartKind(RobustnessChart, RunSetting("task", PERTURBATION), "when the questions are perturbed"),
    _ChartKind(NamesChart, RunSetting("task", "names"), "with original and with readable names"),
    _ChartKind(DirectnessChart, RunSetting("task", "kind"), "on pairs directly related, and not"),
)


def steps_charts(task: str, rows: Sequence[Run], names: Mapping[int, str]) -> Iterator[Chart]:
    """Yield a chart for each kind, metric and set of chains; `names` are the runs' by the id() of their rows."""
    for kind in _KINDS:
        values = kind.values(task)
        known = [row for row in rows if row.sound and (values is None or kind.setting.step(row) in values)]
        sets = sets_of([chain for chain in chains_of(known, kind.setting) if len(chain.by_step) > 1])
        prefixes = id_prefixes(task, [[_without(chain.first, kind.setting) for chain in members] for members in sets])
        for members, prefix, heading in zip(sets, prefixes, _headings(sets, kind.setting), strict=True):
            yield from _charts(task, prefix, heading, members, names, kind)


def _headings(sets: Sequence[Sequence[Series]], setting: RunSetting) -> list[str]:
    """Return the settings of each set in words, nothing for a single set of the default.

    Where words and labels do not tell sets apart, the items of their steps do.
    """
    several = len({members[0].first.result.headline for members in sets}) > 1
    plain = [heading_of([_without(chain.first, setting) for chain in members], labels=several) for members in sets]
    if len(sets) == 1 and all(not setting.other_settings(chain.first) for chain in sets[0]):
        return [""]
    rows = [{step: row for chain in members for step, row in chain.by_step.items()} for members in sets]
    headings = []
    for heading, mine in zip(plain, rows, strict=True):
        same = [other for name, other in zip(plain, rows, strict=True) if name == heading]
        own = [
            f"{step}: {items_text(row)}"
            for step, row in mine.items()
            if any(step not in other or items_of(other[step]) != items_of(row) for other in same)
        ]
        headings.append("; ".join([heading, *own]))
    return headings


def _charts(
    task: str, prefix: str, heading: str, chains: Sequence[Series], names: Mapping[int, str], kind: _ChartKind
) -> Iterator[Chart]:
    chains = sorted(chains, key=lambda chain: sort_key(chain.first))
    firsts = [chain.first for chain in chains]
    run_labels = labels([_without(row, kind.setting) for row in firsts])
    steps = steps_of([row for chain in chains for row in chain.by_step.values()], kind.setting)
    scores = [row.result.overall for chain in chains for row in chain.by_step.values()]
    for metric in dict.fromkeys(name for row in firsts for name in main_metrics(row.result.overall)):
        rows = [
            StepsRow(
                **reference(chain.first, names[id(chain.first)], label),
                points=[_point(chain.by_step.get(step), metric, names) for step in steps],
            )
            for chain, label in zip(chains, run_labels, strict=True)
        ]
        yield kind.chart(
            id=f"{prefix}/{kind.chart.kind}/{metric}",
            task=task,
            heading=heading,
            title=f"{title_of(metric)} {kind.title}",
            notes=interval_notes_of(scores),
            metric=metric,
            steps=steps,
            rows=rows,
        )


def _without(row: Run, setting: RunSetting) -> Run:
    """Return the row with the variant and the settings that all of its chain share."""
    place = {**row.place, "variant": setting.other_variant(row)}
    configuration = {**row.configuration, "task": setting.other_settings(row)}
    return replace(row, place=place, manifest=structs.replace(row.manifest, configuration=configuration))


def _point(row: Run | None, metric: str, names: Mapping[int, str]) -> Point | None:
    if row is None:
        return None
    overall = row.result.overall
    return Point(run=names[id(row)], value=overall[metric], interval=interval_of(overall, metric))


def charts_of(rows: Sequence[Run], replies: ReplyReader | None = None) -> list[Chart]:
    """Return the charts of all tasks. Incomplete runs are in none; none mixes item sets or headline label sets.

    The one exception is robustness, whose steps are the same questions in other words. `replies` reads what has
    not been read for another purpose.
    """
    replies = replies or ReplyReader()
    by_task: dict[str, list[tuple[Run, str]]] = defaultdict(list)
    for row, name in zip(rows, run_ids(rows), strict=True):
        by_task[row.task].append((row, name))
    return [chart for task, named_rows in sorted(by_task.items()) for chart in _of_task(task, named_rows, replies)]


def _of_task(task: str, named_rows: Sequence[tuple[Run, str]], replies: ReplyReader) -> Iterator[Chart]:
    """Yield the charts of a task."""
    # Rows hold dictionaries and have no hash, so names go by id().
    names = {id(row): name for row, name in named_rows}
    rows = [row for row, _ in named_rows]
    sets = comparable_sets(rows)
    for comparable, prefix in zip(sets, id_prefixes(task, [members.rows for members in sets]), strict=True):
        yield from ChartsOfSet(task, prefix, comparable.heading, comparable.rows, names, replies).charts()
    yield from steps_charts(task, rows, names)
