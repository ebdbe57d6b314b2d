"""Charts of runs: sets, order and names are those of the leaderboard's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from harness.charts.names import id_prefixes, labels, run_ids
from harness.charts.sets import ChartsOfSet, interval_notes_of, point, title_of
from harness.charts.values import Chart
from harness.leaderboard.comparable import comparable_sets, heading_of, items_text, sort_key
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.scoring.definitions import main_metrics
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tasks.benchmark import PERTURBATION, benchmark_of

STEPS = {
    "robustness": (RunSetting("task", PERTURBATION), "when the questions are perturbed"),
    "names": (RunSetting("task", "names"), "with original and with readable names"),
    "directness": (RunSetting("task", "kind"), "on pairs directly related, and not"),
}
"""The kinds of chart whose steps are the values of a setting, with it and the end of their titles."""


def charts_of(runs: Sequence[Run], replies: ReplyReader | None = None) -> list[Chart]:
    """Return the charts of all tasks. Incomplete runs are in none; none mixes item sets or headline label sets.

    The one exception is robustness, whose steps are the same questions in other words. `replies` reads what has
    not been read for another purpose.
    """
    replies = replies or ReplyReader()
    # Runs hold dictionaries and have no hash, so names go by id().
    names = {id(run): name for run, name in zip(runs, run_ids(runs), strict=True)}
    charts: list[Chart] = []
    for task in sorted({run.task for run in runs}):
        of_task = [run for run in runs if run.task == task and run.sound]
        sets = comparable_sets(of_task)
        for comparable, prefix in zip(sets, id_prefixes(task, [members.runs for members in sets]), strict=True):
            charts += ChartsOfSet(task, prefix, comparable.heading, comparable.runs, names, replies).charts()
        for kind in STEPS:
            charts += _steps_charts(task, of_task, names, kind)
    return charts


def _steps_charts(task: str, runs: Sequence[Run], names: Mapping[int, str], kind: str) -> Iterator[Chart]:
    """Yield a chart for each set of chains and metric."""
    setting, ending = STEPS[kind]
    if setting.name == PERTURBATION:
        perturbations = benchmark_of(task).perturbations.values()
        runs = [run for run in runs if setting.step(run) in perturbations]
    sets = sets_of([chain for chain in series_of(runs, setting) if len(chain.by_step) > 1])
    without = [[_without(chain.first, setting) for chain in members] for members in sets]
    prefixes, headings = id_prefixes(task, without), _headings(sets, without, setting)
    for members, prefix, heading in zip(sets, prefixes, headings, strict=True):
        chains = sorted(members, key=lambda chain: sort_key(chain.first))
        known = [run for chain in chains for run in chain.by_step.values()]
        steps = steps_of(known, setting)
        of_chains = labels([_without(chain.first, setting) for chain in chains])
        for metric in dict.fromkeys(name for chain in chains for name in main_metrics(chain.first.result.overall)):
            rows = []
            for chain, label in zip(chains, of_chains, strict=True):
                of_steps = [chain.by_step.get(step) for step in steps]
                points = [run and {"run": names[id(run)], **point(run.result.overall, metric)} for run in of_steps]
                first = chain.first
                rows.append({"run": names[id(first)], "label": label, "role": first.role, "points": points})
            yield Chart(
                kind=kind,
                id=f"{prefix}/{kind}/{metric}",
                task=task,
                heading=heading,
                title=f"{title_of(metric)} {ending}",
                notes=interval_notes_of([run.result.overall for run in known]),
                body={"metric": metric, "steps": steps, "rows": rows},
            )


def _headings(sets: Sequence[Sequence[Series]], without: Sequence[Sequence[Run]], setting: RunSetting) -> list[str]:
    """Return the settings of each set in words, and where these do not tell it from another the items of its steps.

    Nothing for a single set of the default.
    """
    several = len({runs[0].result.headline for runs in without}) > 1
    plain = [heading_of(runs, labels=several) for runs in without]
    if len(sets) == 1 and not any(setting.other_settings(chain.first) for chain in sets[0]):
        return [""]
    headings = []
    for heading, members in zip(plain, sets, strict=True):
        items = {step: items_text(run) for chain in members for step, run in chain.by_step.items()}
        own = [f"{step}: {text}" for step, text in items.items()] if plain.count(heading) > 1 else []
        headings.append("; ".join([heading, *own]))
    return headings


def _without(run: Run, setting: RunSetting) -> Run:
    """Return the run with the variant and the settings that all of its chain share."""
    place = {**run.place, "variant": setting.other_variant(run)}
    configuration = {**run.configuration, "task": setting.other_settings(run)}
    return replace(run, place=place, manifest=structs.replace(run.manifest, configuration=configuration))
