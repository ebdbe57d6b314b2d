"""A table whose columns are the values of a setting: the same questions paraphrased, beside the original.

The differences are those of `harness compare`: paired by item, intervals and tests over whole clusters.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from harness.compare.difference import Difference, differences, of_counts
from harness.compare.measure import holm
from harness.compare.pairing import pair
from harness.compare.runs import Loader
from harness.compare.tables import difference_cells, difference_columns, star_note
from harness.errors import HarnessError
from harness.leaderboard.columns import about_runs, constants
from harness.leaderboard.comparable import items_text, runs_text, sort_key
from harness.leaderboard.over_setting import lost_of_series, name_columns, no_two, view_heading
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.definitions import definition, main_metrics
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, score_cell
from harness.tables.results import interval_notes
from harness.tables.table import Cell, Column, Line, Table

Found = Difference | str
"""A difference, or a word why there is none."""
Key = TypeVar("Key", bound=Hashable)


def tables(
    task: str,
    runs: Sequence[Run],
    setting: RunSetting,
    *,
    metrics: Sequence[str] = (),
    intervals: Intervals = "brackets",
    others: Sequence[str] = (),
    load: Loader | None = None,
    name_others: bool = True,
) -> Iterator[Table]:
    """Yield a table for each set of runs that may stand side by side: a row for each model and prompt.

    `load` is what other tables of the same runs were made with. `name_others` asks for a note, below the last table,
    on the runs that stand in none.

    Raise ConfigError where all runs have the same value of the setting.
    """
    every, order = series_of(runs, setting), steps_of([run for run in runs if run.sound], setting)
    sets = [members for members in sets_of(every) if len({step for series in members for step in series.by_step}) > 1]
    if not sets:
        raise no_two(task, setting, order)
    if name_others and (alone := [s.first for s in every if not any(s in members for members in sets)]):
        others = [f"Not in a table, having one value of the setting: {runs_text(alone)}.", *others]
    for number, members in enumerate(sets, 1):
        steps = [step for step in order if any(step in series.by_step for series in members)]
        members = sorted(members, key=lambda series: sort_key(series.first))
        table = _table(task, setting, members, steps, metrics, intervals, load or Loader())
        yield replace(table, others=others if number == len(sets) else ())


def _table(
    task: str,
    setting: RunSetting,
    rows: Sequence[Series],
    steps: Sequence[str],
    metrics: Sequence[str],
    intervals: Intervals,
    load: Loader,
) -> Table:
    runs = [run for series in rows for run in series.by_step.values()]
    scores = [run.result.overall for run in runs]
    metrics = metrics or main_metrics(scores[0])[:1]
    found = corrected([differences_to_first(series, steps, metrics, load) for series in rows])
    names, name_cells, shared = name_columns(rows, setting)
    columns = [*names, *(column for step in steps for metric in metrics for column in _columns(step, steps[0], metric))]
    lines = []
    for series, cells, of_row in zip(rows, name_cells, found, strict=True):
        numbers = []
        for step, metric in ((step, metric) for step in steps for metric in metrics):
            numbers.append(_score(series.by_step.get(step), metric, intervals))
            if step != steps[0] and definition(metric).made_of == "counts":
                numbers += difference_cells(of_row.get((step, metric)), intervals)
        first = series.first
        run = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
        lines.append(Line([*cells, *numbers], "", run, ranked=first.ranked))
    sets = {items_text(run): step for series in rows for step, run in series.by_step.items()}
    about = [" ".join(interval_notes(scores))] if intervals != "none" else []
    about += lost_of_series(rows, name_cells)
    return Table(
        task,
        columns,
        lines,
        above="; ".join([f"Best first ({steps[0]}), metrics in percent", *shared, *constants(scores)[1]]) + ".",
        notes=[
            *about,
            *difference_notes(steps[0], [d for of_row in found for d in of_row.values()]),
            *about_runs(runs),
        ],
        heading=view_heading("by", setting, rows[0].first),
        settings="; ".join(f"{step}: {items}" if len(sets) > 1 else items for items, step in sets.items()),
        label_set=rows[0].first.result.headline,
        in_caption=[column.name for column in columns if column.name.endswith("/p_holm")],
        spare=[column.name for column in columns if column.name.endswith("/p")],
    )


def _columns(step: str, base: str, metric: str) -> Iterator[Column]:
    shown, name = definition(metric), f"{metric}/{step}"
    yield Column(name, shown.title, "metric", shown.best, step)
    if step != base and shown.made_of == "counts":
        yield from difference_columns(base, f"{name}/", step)


def _score(run: Run | None, metric: str, intervals: Intervals) -> Cell:
    return Cell("– no run") if run is None else score_cell(run.result.overall, metric, intervals)


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


def corrected(rows: Sequence[Mapping[Key, Found]]) -> list[dict[Key, Found]]:
    """Return the differences of a table with their p-values corrected together."""
    known = [d for row in rows for d in row.values() if isinstance(d, Difference)]
    p_values = iter(holm([d.p for d in known]))
    return [
        {key: replace(d, p_holm=next(p_values)) if isinstance(d, Difference) else d for key, d in row.items()}
        for row in rows
    ]


def difference_notes(base: str, several: Iterable[Found]) -> Iterator[str]:
    """Yield how differences and p were computed, and what the dashes mean."""
    several = list(several)
    known = [d for d in several if isinstance(d, Difference)]
    if known:
        yield (
            f"− {base}: the difference on the same items, as harness compare has it: 95% over {RESAMPLES:,} resamples "
            f"of whole clusters, the same for both; p from swapping the two in whole clusters. {star_note(known)}"
        )
    if words := sorted({d for d in several if isinstance(d, str)}):
        yield f"No difference where the runs cannot be paired: {', '.join(words)}."
