"""Tables whose rows are series of runs that differ in one setting alone.

By a setting, its values are columns: the same questions paraphrased, beside the original. The differences are those of
`harness compare`: paired by item, intervals and tests over whole clusters. Over a setting, its values are one row: mean
and spread over seeds, or over prompts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os.path import commonprefix
from statistics import fmean, median, stdev

from harness.compare.comparison import RESAMPLED, star_note
from harness.compare.difference import Difference, differences, holm, of_counts
from harness.compare.pairing import Loader, pair
from harness.compare.tables import difference_cells, difference_columns
from harness.errors import ConfigError, HarnessError
from harness.leaderboard.columns import about_runs, constants, interval_note, lost_notes
from harness.leaderboard.comparable import best_first, capitalized, items_text, runs_text, settings_words, sort_key
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.means import mean_of
from harness.storage.runs import Run
from harness.tables.numbers import interval_text, metric_text, number_cell, number_column, percent_text, shown
from harness.tables.table import Cell, Column, Line, Table

Found = Difference | str
"""A difference, or a word why there is none."""
_PARTS = {"mean": "mean ± SD", "least": "least", "median": "median", "greatest": "greatest"}


def tables(
    task: str,
    runs: Sequence[Run],
    setting: RunSetting,
    metrics: Sequence[str] = (),
    others: Sequence[str] = (),
    *,
    over: bool = False,
    load: Loader | None = None,
) -> Iterator[Table]:
    """Yield a table for each set of runs that may stand side by side: a row for each model and prompt.

    `others` stand below the last, `load` is what other tables of the same runs were made with. Raise ConfigError where
    no two runs differ in the setting alone.
    """
    every, order = series_of(runs, setting, folders=not over), steps_of([run for run in runs if run.sound], setting)
    sets = sets_of([series for series in every if not over or len(series.by_step) > 1])
    sets = [members for members in sets if len({step for series in members for step in series.by_step}) > 1]
    if not sets:
        raise ConfigError(
            f"no two runs of {task} differ in {setting.title} and in nothing else (there is "
            f"{', '.join(order) or 'none'}): run the same with another value."
        )
    if alone := [series.first for series in every if not any(series in members for members in sets)]:
        others = [f"Not in a table, having one value of the setting: {runs_text(alone)}.", *others]
    for number, members in enumerate(sets, 1):
        names = metrics or main_metrics(members[0].first.result.overall)[:1]
        rows = sorted(members, key=partial(_best_mean_first, names[0]) if over else lambda s: sort_key(s.first))
        columns, name_cells, shared = _name_columns(rows, setting)
        known = [run for series in rows for run in series.by_step.values()]
        scores = [run.result.overall for run in known]
        steps = [step for step in order if any(step in series.by_step for series in rows)]
        body = (_over if over else _by)(setting, rows, steps, names, load or Loader())
        lines = zip(rows, name_cells, body.lines, strict=True)
        lost = zip([" ".join(cell.text for cell in cells) for cells in name_cells], rows, strict=True)
        yield replace(
            body,
            task=task,
            columns=[*columns, *body.columns],
            lines=[replace(line, cells=[*cells, *line.cells], ranked=s.first.ranked) for s, cells, line in lines],
            above="; ".join([f"{body.above}, metrics in percent", *shared, *constants(scores)[1]]) + ".",
            notes=[
                *([] if over else interval_note(scores)),
                *lost_notes([(line, step, run) for line, series in lost for step, run in series.by_step.items()]),
                *body.notes,
                *about_runs(known),
            ],
            others=others if number == len(sets) else (),
            heading=_heading("over" if over else "by", setting, rows[0].first),
            label_set=rows[0].first.result.headline,
        )


def _by(
    setting: RunSetting, rows: Sequence[Series], steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> Table:
    """Return the columns for each value of the setting, and what is said of them alone."""
    base = steps[0]
    found = corrected([differences_to_first(series, steps, metrics, load) for series in rows])
    numbers = [(step, metric) for step in steps for metric in metrics]
    with_difference = {key for key in numbers if key[0] != base and definition(key[1]).made_of == "counts"}
    columns: list[Column] = []
    for step, metric in numbers:
        columns.append(number_column(metric, f"{metric}/{step}", over=step))
        if (step, metric) in with_difference:
            columns += difference_columns(base, f"{metric}/{step}/", step)
    lines = []
    for series, of_row in zip(rows, found, strict=True):
        cells: list[Cell] = []
        for step, metric in numbers:
            run = series.by_step.get(step)
            cells.append(Cell("– no run") if run is None else number_cell(run.result.overall, metric))
            if (step, metric) in with_difference:
                cells += difference_cells(of_row.get((step, metric)))
        first = series.first
        place = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
        lines.append(Line(cells, run=place))
    sets = {items_text(run): step for series in rows for step, run in series.by_step.items()}
    return Table(
        columns=columns,
        lines=lines,
        above=f"Best first ({base})",
        notes=list(difference_notes(base, [d for of_row in found for d in of_row.values()])),
        settings="; ".join(f"{step}: {items}" if len(sets) > 1 else items for items, step in sets.items()),
        in_caption=[column.name for column in columns if column.name.endswith("/p_holm")],
        spare=[column.name for column in columns if column.name.endswith("/p")],
    )


def differences_to_first(
    series: Series, steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> dict[tuple[str, str], Found]:
    """Return the differences of a series' runs to that of the first step, by step and metric."""
    base = series.by_step.get(steps[0])
    paired = [name for name in metrics if definition(name).made_of == "counts"]
    found: dict[tuple[str, str], Found] = {}
    for step in steps[1:]:
        run = series.by_step.get(step)
        if base is not None and run is not None and paired:
            of_step = _differences(base, run, paired, load)
            found |= {(step, name): d for name, d in zip(paired, of_step, strict=True)}
    return found


def _differences(base: Run, run: Run, metrics: Sequence[str], load: Loader) -> Sequence[Found]:
    try:
        pairing = pair(load(base), load(run), by=(), labels=None)
    except HarnessError as error:
        if base.result.headline != run.result.headline or "label in" in str(error):
            return ["other labels"] * len(metrics)
        return ["other items" if "share" in str(error) else "no records"] * len(metrics)
    if pairing.first_only or pairing.second_only:
        return ["other items"] * len(metrics)
    return differences(of_counts(pairing.cells()[0]), metrics)[0]


def corrected(rows: Sequence[Mapping[tuple[str, str], Found]]) -> list[dict[tuple[str, str], Found]]:
    """Return the differences of a table with their p-values corrected together."""
    p_values = iter(holm([d.p for row in rows for d in row.values() if isinstance(d, Difference)]))
    return [
        {key: replace(d, p_holm=next(p_values)) if isinstance(d, Difference) else d for key, d in row.items()}
        for row in rows
    ]


def difference_notes(base: str, several: Iterable[Found]) -> Iterator[str]:
    """Yield how differences and p were computed, and what the dashes mean."""
    several = list(several)
    if known := [d for d in several if isinstance(d, Difference)]:
        yield (
            f"− {base}: the difference on the same items, as harness compare has it: {RESAMPLED}, "
            f"the same for both; p from swapping the two in whole clusters. {star_note(known)}"
        )
    if words := sorted({d for d in several if isinstance(d, str)}):
        yield f"No difference where the runs cannot be paired: {', '.join(words)}."


def _over(
    setting: RunSetting, rows: Sequence[Series], steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> Table:
    """Return the columns of mean and spread over the values of the setting, and what is said of them alone."""
    columns: list[Column] = []
    for metric in metrics:
        known = number_column(metric)
        for part, title in _PARTS.items():
            best = known.best if part == "mean" else None
            columns.append(Column(f"{metric}/{part}", title, "metric", best, known.title))
        columns.append(Column(f"{metric}/sd", "SD", "count"))
    columns += [Column("changes", "answers that change", "metric"), Column("n", "n", "count")]
    lines = []
    for series in rows:
        numbers = [cell for metric in metrics for cell in _spread(metric, _values(series, metric))]
        count = Cell(f"{len(series.by_step):,}", len(series.by_step))
        place = {name: text for name, text in _names(series, setting).items() if text}
        place["over"] = f"{setting.title}={'+'.join(series.by_step)}"
        lines.append(Line([*numbers, _changing(series, load), count], run=place))
    about = (
        f"Each row is n runs that differ in {setting.title} alone: mean ± standard deviation between the runs (n − 1), "
        "and the share of the items whose answer is not the same in all of them. The deviation says nothing of other "
        "items: that is what intervals over clusters are for, as beside that share."
    )
    return Table(
        columns=columns,
        lines=lines,
        above="Best mean first",
        notes=[about],
        settings=f"{setting.title}: {', '.join(steps)}",
        in_caption=[f"{metric}/sd" for metric in metrics],
        spare=[f"{metric}/{part}" for metric in metrics for part in ("median", "least", "greatest")],
    )


def _best_mean_first(metric: str, series: Series) -> tuple[float, str, str]:
    values = _values(series, metric)
    return best_first(metric, fmean(values) if values else None), series.first.model, series.first.prompt


def _values(series: Series, metric: str) -> list[float]:
    """Return the metric of a series' runs; [] where it is undefined in one of them."""
    values = [shown(run.result.overall, metric).value for run in series.by_step.values()]
    defined = [value for value in values if value is not None]
    return defined if len(defined) == len(values) else []


def _spread(metric: str, values: Sequence[float]) -> list[Cell]:
    """Return mean ± SD, least, median and greatest, and the deviation for programs; dashes where one is undefined."""
    if not values:
        return [Cell("–")] * (len(_PARTS) + 1)
    numbers = (fmean(values), min(values), median(values), max(values), stdev(values))
    mean, *rest = [Cell(metric_text(metric, number), number) for number in numbers]
    return [replace(mean, range=f"± {rest[-1].text}"), *rest]


def _changing(series: Series, load: Loader) -> Cell:
    """Return the share of the items that all runs have whose answer is not the same in all; a dash without records.

    A reply that could not be read is an answer of its own, and so is a failed call.
    """
    try:
        replies = [load(run).by_item for run in series.by_step.values()]
    except HarnessError:
        return Cell("–")
    changes: dict[str, list[bool]] = defaultdict(list)
    for item, reply in replies[0].items():
        if all(item in of_run for of_run in replies):
            answers = {-1 if of_run[item].failed else of_run[item].answer for of_run in replies}
            changes[reply.cluster].append(len(answers) > 1)
    if not changes:
        return Cell("–")
    share = mean_of(changes)
    return Cell(percent_text(share.value), share.value, share.interval, interval_text(share.interval))


def _heading(view: str, setting: RunSetting, run: Run) -> str:
    """Return the heading of a table of series: By perturbation, a sample of 100."""
    if setting.part == "variant":
        return f"{capitalized(view)} variant"
    return capitalized(f"{view} {setting.title}, {settings_words(run, setting.other_settings(run))}")


def _name_columns(rows: Sequence[Series], setting: RunSetting) -> tuple[list[Column], list[list[Cell]], list[str]]:
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


def _names(series: Series, setting: RunSetting) -> dict[str, str]:
    first = series.first
    names = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
    if not setting.name:
        names[setting.part] = ""
    elif setting.part == "model":
        names["model"] = _common_name([run.model for run in series.by_step.values()])
    elif setting.part == "data":
        names["prompt"] = series.rest[1]
    return names | {"folder": first.source if len({run.source for run in series.by_step.values()}) == 1 else ""}


def _common_name(names: Sequence[str]) -> str:
    """Return what names of one model's runs begin with, such as gpt4 of gpt4-seed=1 and gpt4-seed=2."""
    if len(set(names)) == 1:
        return names[0]
    common = commonprefix(names)  # noqa: RUF071 - of names, not paths
    return re.sub(r"[\W_]+(s|seed|run|t|temp(erature)?)?[\W_]*$", "", common) or ", ".join(names)
