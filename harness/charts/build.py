"""Charts of runs: sets, order and names are those of the leaderboard's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from harness.charts.names import id_prefixes, labels, reference, run_ids
from harness.charts.sets import ChartsOfSet, interval_notes_of, point, title_of
from harness.charts.values import Chart
from harness.leaderboard.comparable import comparable_sets, heading_of, items_of, items_text, sort_key
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.scoring.definitions import main_metrics
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of
from harness.types import JSON


def charts_of(runs: Sequence[Run], replies: ReplyReader | None = None) -> list[Chart]:
    """Return the charts of all tasks. Incomplete runs are in none; none mixes item sets or headline label sets.

    The one exception is robustness, whose steps are the same questions in other words. `replies` reads what has
    not been read for another purpose.
    """
    replies = replies or ReplyReader()
    # Runs hold dictionaries and have no hash, so names go by id().
    names = {id(run): name for run, name in zip(runs, run_ids(runs), strict=True)}
    tasks = sorted({run.task for run in runs})
    return [chart for task in tasks for chart in _of_task(task, [r for r in runs if r.task == task], names, replies)]


def _of_task(task: str, runs: Sequence[Run], names: Mapping[int, str], replies: ReplyReader) -> Iterator[Chart]:
    sets = comparable_sets(runs)
    for comparable, prefix in zip(sets, id_prefixes(task, [members.runs for members in sets]), strict=True):
        yield from ChartsOfSet(task, prefix, comparable.heading, comparable.runs, names, replies).charts()
    for kind, (setting, what) in _STEPS.items():
        yield from _steps_charts(task, runs, names, kind, setting, what)


_STEPS = {
    "robustness": (RunSetting("task", PERTURBATION), "when the questions are perturbed"),
    "names": (RunSetting("task", "names"), "with original and with readable names"),
    "directness": (RunSetting("task", "kind"), "on pairs directly related, and not"),
}
"""The kinds of chart whose steps are the values of a setting, with it and the end of their titles."""


def _steps_charts(
    task: str, runs: Sequence[Run], names: Mapping[int, str], kind: str, setting: RunSetting, what: str
) -> Iterator[Chart]:
    """Yield a chart for each set of chains and metric."""
    known = [run for run in runs if run.sound]
    if setting.name == PERTURBATION:
        perturbations = benchmark_of(task).perturbations.values()
        known = [run for run in known if setting.step(run) in perturbations]
    sets = sets_of([chain for chain in series_of(known, setting) if len(chain.by_step) > 1])
    prefixes = id_prefixes(task, [[_without(chain.first, setting) for chain in members] for members in sets])
    for members, prefix, heading in zip(sets, prefixes, _headings(sets, setting), strict=True):
        chains = sorted(members, key=lambda chain: sort_key(chain.first))
        firsts = [chain.first for chain in chains]
        steps = steps_of([run for chain in chains for run in chain.by_step.values()], setting)
        scores = [run.result.overall for chain in chains for run in chain.by_step.values()]
        refs = [
            reference(run, names[id(run)], label)
            for run, label in zip(firsts, labels([_without(run, setting) for run in firsts]), strict=True)
        ]
        for metric in dict.fromkeys(name for run in firsts for name in main_metrics(run.result.overall)):
            points = [[_point(chain.by_step.get(step), metric, names) for step in steps] for chain in chains]
            rows = [{**ref, "points": of_chain} for ref, of_chain in zip(refs, points, strict=True)]
            yield Chart(
                kind=kind,
                id=f"{prefix}/{kind}/{metric}",
                task=task,
                heading=heading,
                title=f"{title_of(metric)} {what}",
                notes=interval_notes_of(scores),
                body={"metric": metric, "steps": steps, "rows": rows},
            )


def _headings(sets: Sequence[Sequence[Series]], setting: RunSetting) -> list[str]:
    """Return the settings of each set in words, nothing for a single set of the default.

    Where words and labels do not tell sets apart, the items of their steps do.
    """
    several = len({members[0].first.result.headline for members in sets}) > 1
    plain = [heading_of([_without(chain.first, setting) for chain in members], labels=several) for members in sets]
    if len(sets) == 1 and all(not setting.other_settings(chain.first) for chain in sets[0]):
        return [""]
    runs = [{step: run for chain in members for step, run in chain.by_step.items()} for members in sets]
    headings = []
    for heading, mine in zip(plain, runs, strict=True):
        same = [other for name, other in zip(plain, runs, strict=True) if name == heading]
        own = [
            f"{step}: {items_text(run)}"
            for step, run in mine.items()
            if any(step not in other or items_of(other[step]) != items_of(run) for other in same)
        ]
        headings.append("; ".join([heading, *own]))
    return headings


def _without(run: Run, setting: RunSetting) -> Run:
    """Return the run with the variant and the settings that all of its chain share."""
    place = {**run.place, "variant": setting.other_variant(run)}
    configuration = {**run.configuration, "task": setting.other_settings(run)}
    return replace(run, place=place, manifest=structs.replace(run.manifest, configuration=configuration))


def _point(run: Run | None, metric: str, names: Mapping[int, str]) -> dict[str, JSON] | None:
    return None if run is None else {"run": names[id(run)], **point(run.result.overall, metric)}
