"""A table in which the values of a setting are one row: mean and spread over seeds, or over prompts.

What such a table and one by a setting have in common stands here: the names of their rows, and their heading.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from statistics import fmean, median, stdev

from harness.compare.runs import load
from harness.errors import ConfigError, HarnessError
from harness.leaderboard.columns import about_runs, constants, lost_notes
from harness.leaderboard.comparable import best_first, capitalized, runs_text, settings_words
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.means import mean_of
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, interval_text, metric_text, percent_text, shown
from harness.tables.table import Cell, Column, Line, Table

_PARTS = {"mean": "mean ± SD", "least": "least", "median": "median", "greatest": "greatest"}


def tables(
    task: str,
    runs: Sequence[Run],
    setting: RunSetting,
    *,
    metrics: Sequence[str],
    intervals: Intervals,
    others: Sequence[str],
) -> Iterator[Table]:
    """Yield a table for each set of runs that may stand side by side, best mean first.

    Raise ConfigError where no two runs differ in the setting alone.
    """
    every = series_of(runs, setting, folders=False)
    sets = sets_of([series for series in every if len(series.by_step) > 1])
    if not sets:
        raise no_two(task, setting, steps_of([run for run in runs if run.sound], setting))
    if alone := [series.first for series in every if len(series.by_step) == 1]:
        others = [f"Not in a table, as there is one run: {runs_text(alone)}.", *others]
    for number, members in enumerate(sets, 1):
        yield _table(task, setting, members, metrics, intervals, others if number == len(sets) else [])


def _best_mean_first(series: Series, metric: str) -> tuple[float, str, str]:
    values = _values(series, metric)
    return best_first(metric, fmean(values) if values else None), series.first.model, series.first.prompt


def _values(series: Series, metric: str) -> list[float]:
    """Return the metric of a series' runs; [] where it is undefined in one of them."""
    values = [shown(run.result.overall, metric).value for run in series.by_step.values()]
    defined = [value for value in values if value is not None]
    return defined if len(defined) == len(values) else []


def _table(
    task: str,
    setting: RunSetting,
    rows: Sequence[Series],
    metrics: Sequence[str],
    intervals: Intervals,
    others: Sequence[str],
) -> Table:
    runs = [run for series in rows for run in series.by_step.values()]
    metrics = metrics or main_metrics(runs[0].result.overall)[:1]
    rows = sorted(rows, key=lambda series: _best_mean_first(series, metrics[0]))
    names, name_cells, shared = name_columns(rows, setting)
    columns = [*names, *(column for metric in metrics for column in _columns(metric))]
    columns += [Column("changes", "answers that change", "metric"), Column("n", "n", "count")]
    lines = []
    for series, cells in zip(rows, name_cells, strict=True):
        count = len(series.by_step)
        numbers = [cell for metric in metrics for cell in _cells(metric, _values(series, metric))]
        run = {str(column.name): str(cell.value) for column, cell in zip(names, cells, strict=True)}
        run["over"] = f"{setting.title}={'+'.join(series.by_step)}"
        line = [*cells, *numbers, _changing(series, intervals), Cell(f"{count:,}", count)]
        lines.append(Line(line, "", run, ranked=series.first.ranked))
    _, caption = constants([run.result.overall for run in runs])
    return Table(
        task,
        columns,
        lines,
        above="; ".join(["Best mean first, metrics in percent", *shared, *caption]) + ".",
        notes=[_note(setting), *lost_of_series(rows, name_cells), *about_runs(runs)],
        others=others,
        heading=view_heading("over", setting, rows[0].first),
        settings=f"{setting.title}: {', '.join(steps_of(runs, setting))}",
        label_set=rows[0].first.result.headline,
        in_caption=[f"{metric}/sd" for metric in metrics],
        spare=[f"{metric}/{part}" for metric in metrics for part in ("median", "least", "greatest")],
    )


def _columns(metric: str) -> Iterator[Column]:
    known = definition(metric)
    for part, title in _PARTS.items():
        yield Column(f"{metric}/{part}", title, "metric", known.best if part == "mean" else None, known.title)
    yield Column(f"{metric}/sd", "SD", "count")


def _cells(metric: str, values: Sequence[float]) -> Iterator[Cell]:
    """Yield mean ± SD, least, median and greatest, and the deviation for programs; dashes where one is undefined."""
    if not values:
        yield from [Cell("–")] * (len(_PARTS) + 1)
        return
    deviation = stdev(values)
    yield Cell(metric_text(metric, fmean(values)), fmean(values), range=f"± {metric_text(metric, deviation)}")
    for number in (min(values), median(values), max(values)):
        yield Cell(metric_text(metric, number), number)
    yield Cell(metric_text(metric, deviation), deviation)


def _changing(series: Series, intervals: Intervals) -> Cell:
    """Return the share of the items that all runs have whose answer is not the same in all; a dash without records.

    A reply that could not be read is an answer of its own, and so is a failed call.
    """
    try:
        replies = [load(str(run.folder)).by_item for run in series.by_step.values()]
    except HarnessError:
        return Cell("–")
    changes: dict[str, list[bool]] = defaultdict(list)
    for item in [item for item in replies[0] if all(item in other for other in replies)]:
        answers = {-1 if of_run[item].failed else of_run[item].answer for of_run in replies}
        changes[replies[0][item].cluster].append(len(answers) > 1)
    if not changes:
        return Cell("–")
    share = mean_of(changes)
    return Cell(percent_text(share.value), share.value, share.interval, interval_text(share.interval, intervals))


def _note(setting: RunSetting) -> str:
    return (
        f"Each row is n runs that differ in {setting.title} alone: mean ± standard deviation between the runs (n − 1), "
        "and the share of the items whose answer is not the same in all of them. The deviation says nothing of other "
        "items: that is what intervals over clusters are for, as beside that share."
    )


def no_two(task: str, setting: RunSetting, steps: Sequence[str]) -> ConfigError:
    """Return that runs of a task do not differ in a setting, with the values that they have."""
    return ConfigError(
        f"no two runs of {task} differ in {setting.title} and in nothing else (there is {', '.join(steps) or 'none'}): "
        "run the same with another value."
    )


def lost_of_series(rows: Sequence[Series], names: Sequence[Sequence[Cell]]) -> list[str]:
    """Return how many replies of which runs stand behind no answer, by the names of their rows and steps."""
    lines = [" ".join(cell.text for cell in cells) for cells in names]
    named = zip(lines, rows, strict=True)
    return lost_notes([(line, step, run) for line, series in named for step, run in series.by_step.items()])


def name_columns(rows: Sequence[Series], setting: RunSetting) -> tuple[list[Column], list[list[Cell]], list[str]]:
    """Return the columns of names, their cells for each series, and the prompt that all of them share, in words."""
    names = [_names(series, setting) for series in rows]
    known = [name for name in names[0] if any(of_row[name] for of_row in names)]
    differing = [name for name in known if len({of_row[name] for of_row in names}) > 1]
    # One series, or several that differ in nothing, still need a name.
    chosen = differing if "model" in differing or "model" not in known else ["model", *differing]
    chosen = chosen or known[:1]
    # The variant stands in the heading, the folder only tells equal names apart.
    shared = [f"prompt {names[0]['prompt']}"] if "prompt" in known and "prompt" not in chosen else []
    cells = [[Cell(of_row[name], of_row[name]) for name in chosen] for of_row in names]
    return [Column(name, name) for name in chosen], cells, shared


def view_heading(view: str, setting: RunSetting, run: Run) -> str:
    """Return the heading of a table of series: By perturbation, a sample of 100."""
    if setting.part == "variant":
        return f"{capitalized(view)} variant"
    return capitalized(f"{view} {setting.title}, {settings_words(run, setting.other_settings(run))}")


def _names(series: Series, setting: RunSetting) -> dict[str, str]:
    first = series.first
    names = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
    if not setting.name:
        names[setting.part] = ""
    elif setting.part == "model":
        names["model"] = common_name([run.model for run in series.by_step.values()])
    elif setting.part == "data":
        names["prompt"] = series.rest[1]
    return names | {"folder": first.source if len({run.source for run in series.by_step.values()}) == 1 else ""}


def common_name(names: Sequence[str]) -> str:
    """Return what names of one model's runs begin with, such as gpt4 of gpt4-seed=1 and gpt4-seed=2."""
    if len(set(names)) == 1:
        return names[0]
    common = "".join(signs[0] for signs in takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False)))
    beginning = re.sub(r"[\W_]+(s|seed|run|t|temp(erature)?)?[\W_]*$", "", common)
    return beginning or ", ".join(names)
