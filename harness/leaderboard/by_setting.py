"""Tables whose rows are series of runs that differ in one setting alone.

By a setting, its values are columns: the same questions paraphrased, beside the original. The differences are those of
`harness compare`: paired by item, intervals and tests over whole clusters. Over a setting, its values are one row: mean
and spread over seeds, or over prompts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean, median, stdev
from typing import Any

from harness.compare.comparison import RESAMPLED, star_note
from harness.compare.difference import Difference, differences, holm, of_counts
from harness.compare.pairing import Loader, pair
from harness.compare.tables import difference_cells, difference_columns
from harness.errors import ConfigError, HarnessError
from harness.leaderboard.comparable import (
    ComparableRuns,
    best_first,
    capitalized,
    comparable_sets,
    items_text,
    runs_text,
    settings_words,
    sort_key,
)
from harness.leaderboard.rows import (
    Body,
    Row,
    about_runs,
    constants,
    interval_note,
    lost_notes,
    shared_names,
    table,
)
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.means import mean_of
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.numbers import interval_text, metric_text, number_cell, number_column, percent_text, shown
from harness.tables.table import Cell, Column, Table

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
        others = [f"Not in a table, having one value of the setting: {runs_text(alone, most=8)}.", *others]
    for number, members in enumerate(sets, 1):
        first = members[0].first
        names = metrics or main_metrics(first.result.overall)[:1]
        members = sorted(members, key=partial(_best_mean_first, names[0]) if over else lambda s: sort_key(s.first))
        rows = [_row(series, setting, over=over) for series in members]
        steps = [step for step in order if any(step in row.runs for row in rows)]
        body, parts = (_over if over else _by)(setting, rows, steps, names, load or Loader())
        scores = [run.result.overall for row in rows for run in row.runs.values()]
        above = [parts["above"], "metrics in percent", *shared_names(rows, "prompt"), *constants(scores)[1]]
        notes = [*([] if over else interval_note(scores)), *lost_notes(rows), *parts["notes"], *about_runs(rows)]
        yield table(
            task,
            rows,
            body,
            **parts
            | {
                "above": f"{above[0]}, {'; '.join(above[1:])}.",
                "notes": notes,
                "others": others if number == len(sets) else (),
                "heading": _heading("over" if over else "by", setting, rows[0].first),
                "label_set": rows[0].first.result.headline,
            },
        )


def _row(series: Series, setting: RunSetting, *, over: bool) -> Row:
    """Return the row of a series: a name that the setting decides is none of its own."""
    first, folders = series.first, {run.source for run in series.by_step.values()}
    names = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
    if not setting.name:
        names[setting.part] = ""
    elif setting.part == "model":
        names["model"] = re.sub(rf",(model\.)?{setting.name}=[^,]*", "", first.model)
    elif setting.part == "data":
        names["prompt"] = series.rest[1]
    names["folder"] = first.source if len(folders) == 1 else ""
    return Row(names | ({"over": f"{setting.title}={'+'.join(series.by_step)}"} if over else {}), series.by_step)


def _by(
    setting: RunSetting, rows: Sequence[Row], steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> tuple[Body, dict[str, Any]]:
    """Return the columns for each value of the setting, and what is said of them alone."""
    base = steps[0]
    found = corrected([differences_to_first(row.runs, steps, metrics, load) for row in rows])
    body: list[tuple[Column, Sequence[Cell]]] = []
    for step, metric in product(steps, metrics):
        runs = [row.runs.get(step) for row in rows]
        cells = [number_cell(run.result.overall, metric) if run else Cell("– no run") for run in runs]
        body.append((number_column(metric, f"{metric}/{step}", over=step), cells))
        if step != base and definition(metric).made_of == "counts":
            body += _difference(base, f"{metric}/{step}/", step, [of_row.get((step, metric)) for of_row in found])
    items = {items_text(run): step for row in rows for step, run in row.runs.items()}
    return body, {
        "above": f"Best first ({base})",
        "notes": difference_notes(base, [d for of_row in found for d in of_row.values()]),
        "settings": "; ".join(f"{step}: {text}" if len(items) > 1 else text for text, step in items.items()),
        "in_caption": [column.name for column, _ in body if column.name.endswith("/p_holm")],
        "spare": [column.name for column, _ in body if column.name.endswith("/p")],
    }


def _difference(base: str, before: str, over: str, several: Sequence[Found | None]) -> Iterator[tuple[Column, Any]]:
    """Return the columns of the differences of all rows."""
    return zip(difference_columns(base, before, over), zip(*map(difference_cells, several), strict=True), strict=True)


def differences_to_first(
    runs: Mapping[str, Run], steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> dict[tuple[str, str], Found]:
    """Return the differences of a row's runs to that of the first step, by step and metric."""
    base = runs.get(steps[0])
    paired = [name for name in metrics if definition(name).made_of == "counts"]
    found: dict[tuple[str, str], Found] = {}
    for step in steps[1:]:
        run = runs.get(step)
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
    setting: RunSetting, rows: Sequence[Row], steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> tuple[Body, dict[str, Any]]:
    """Return the columns of mean and spread over the values of the setting, and what is said of them alone."""
    body: list[tuple[Column, Sequence[Cell]]] = []
    for metric in metrics:
        known = number_column(metric)
        columns = [Column(f"{metric}/{part}", title, "metric", None, known.title) for part, title in _PARTS.items()]
        columns[0] = replace(columns[0], best=known.best)
        spread = zip(*(_spread(metric, _values(row.runs, metric)) for row in rows), strict=True)
        body += zip([*columns, Column(f"{metric}/sd", "SD", "count")], spread, strict=True)
    body.append((Column("changes", "answers that change", "metric"), [_changing(row.runs, load) for row in rows]))
    body.append((Column("n", "n", "count"), [Cell(f"{len(row.runs):,}", len(row.runs)) for row in rows]))
    about = (
        f"Each row is n runs that differ in {setting.title} alone: mean ± standard deviation between the runs (n − 1), "
        "and the share of the items whose answer is not the same in all of them. The deviation says nothing of other "
        "items: that is what intervals over clusters are for, as beside that share."
    )
    return body, {
        "above": "Best mean first",
        "notes": [about],
        "settings": f"{setting.title}: {', '.join(steps)}",
        "in_caption": [f"{metric}/sd" for metric in metrics],
        "spare": [f"{metric}/{part}" for metric in metrics for part in ("median", "least", "greatest")],
    }


def _best_mean_first(metric: str, series: Series) -> tuple[float, str, str]:
    values = _values(series.by_step, metric)
    return best_first(metric, fmean(values) if values else None), series.first.model, series.first.prompt


def _values(runs: Mapping[str, Run], metric: str) -> list[float]:
    """Return the metric of some runs; [] where it is undefined in one of them."""
    values = [shown(run.result.overall, metric).value for run in runs.values()]
    defined = [value for value in values if value is not None]
    return defined if len(defined) == len(values) else []


def _spread(metric: str, values: Sequence[float]) -> list[Cell]:
    """Return mean ± SD, least, median and greatest, and the deviation for programs; dashes where one is undefined."""
    if not values:
        return [Cell("–")] * (len(_PARTS) + 1)
    numbers = (fmean(values), min(values), median(values), max(values), stdev(values))
    mean, *rest = [Cell(metric_text(metric, number), number) for number in numbers]
    return [replace(mean, range=f"± {rest[-1].text}"), *rest]


def _changing(runs: Mapping[str, Run], load: Loader) -> Cell:
    """Return the share of the items that all runs have whose answer is not the same in all; a dash without records.

    A reply that could not be read is an answer of its own, and so is a failed call.
    """
    try:
        replies = [load(run).by_item for run in runs.values()]
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
    others = [] if setting.part == "variant" else settings_words(run, setting.other_settings(run))
    return capitalized(", ".join([f"{view} {setting.title}", *others]))


def page_tables(task: str, runs: Sequence[Run], replies: ReplyReader) -> Iterator[Table]:
    """Yield the differences that the page shows, tables without a single one left out.

    First by each setting in which runs differ, as a sweep over it ends with; then of models, each beside the best.
    """
    complete, load = [run for run in runs if run.sound], Loader(replies)
    names = sorted({name for run in complete for name in run.settings})
    for setting in (RunSetting("prompt"), *(RunSetting("task", name) for name in names)):
        with suppress(ConfigError):  # no two runs differ in it alone
            for each in filter(_has_differences, tables(task, complete, setting, load=load)):
                yield replace(each, others=())  # the tables of each setting would name nearly all runs
    for comparable in comparable_sets(complete):
        of_models = _of_models(task, comparable, load)
        if of_models.lines and _has_differences(of_models):
            yield of_models


def _has_differences(table: Table) -> bool:
    places = [place for place, column in enumerate(table.columns) if column.name.endswith("/difference")]
    return any(line.cells[place].value is not None for line in table.lines for place in places)


def _of_models(task: str, comparable: ComparableRuns, load: Loader) -> Table:
    """Return the ranked runs of a set, with their differences to the best of them."""
    runs = {str(place): run for place, run in enumerate(comparable.runs) if run.ranked}
    if not runs:
        return Table()
    overall = [run.result.overall for run in runs.values()]
    metric, heading = main_metrics(overall[0])[0], comparable.heading
    [found] = corrected([differences_to_first(runs, list(runs), [metric], load)])
    several = [found.get((step, metric)) for step in runs]
    values = [number_cell(scores, metric) for scores in overall]
    return table(
        task,
        [Row.of(run) for run in runs.values()],
        [(number_column(metric), values), *_difference("best", f"{metric}/", "", several)],
        above="; ".join(["Best first, metrics in percent", *constants(overall)[1]]) + ".",
        notes=[*interval_note(overall), *difference_notes("best", found.values())],
        heading=f"Models, {heading[0].lower()}{heading[1:]}" if heading else "Models",
        label_set=comparable.runs[0].result.headline,
        items=comparable.runs[0].items,
        in_caption=[f"{metric}/p_holm"],
    )
