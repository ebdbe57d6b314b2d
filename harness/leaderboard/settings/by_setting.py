"""A table whose columns are the values of a setting: the same questions paraphrased, beside the original.

The differences are those of `harness compare`: paired by item, intervals and tests over whole clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.compare.difference import Difference, differences, of_counts
from harness.compare.measure import holm
from harness.compare.pairing import pair
from harness.compare.runs import Loader
from harness.errors import ConfigError, HarnessError
from harness.leaderboard.columns import constants
from harness.leaderboard.comparable import items_text, runs_text, sort_key
from harness.leaderboard.settings.chains import RunSetting, Series, chains_of, sets_of, steps_of
from harness.leaderboard.settings.over_setting import chain_columns, view_heading
from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.definitions import definition, main_metrics
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, metric_cell, p_text, signed_text
from harness.tables.results import interval_notes
from harness.tables.table import Cell, Column, Line, Table
from harness.types import Metric, Scores

NO_RUN = "– no run"
MARK = "*"
"""Stands behind a p that is at most 0.05 when all of a table are corrected together."""


@dataclass(frozen=True)
class _SeriesRow:
    """A chain's runs and, by step and metric, their differences to its first step, or a word why one is missing."""

    chain: Series
    differences: Mapping[tuple[str, str], Difference | str]


def tables(
    task: str,
    rows: Sequence[Run],
    setting: RunSetting,
    *,
    metrics: Sequence[str],
    intervals: Intervals,
    notes: Sequence[str],
    load: Loader | None = None,
    name_others: bool = True,
) -> Iterator[Table]:
    """Yield a table for each set of runs that may stand side by side: a row for each model and prompt.

    `load` is what other tables of the same runs were made with. `name_others` asks for a note, below the last table,
    on the runs that stand in none.

    Raise ConfigError where all runs have the same value of the setting.
    """
    load = load or Loader()
    chains = chains_of(rows, setting)
    order = steps_of([row for row in rows if row.sound], setting)
    sets = [members for members in sets_of(chains) if len({step for chain in members for step in chain.by_step}) > 1]
    if not sets:
        values = ", ".join(order) or "none"
        raise ConfigError(
            f"by={setting.title}: no two runs of {task} differ in it and in nothing else (there is {values}). "
            "Run the same model and prompt with another value."
        )
    left_out = [chain for chain in chains if not any(chain in members for members in sets)]
    alone = [_alone(left_out)] if left_out and name_others else []
    for number, members in enumerate(sets, 1):
        present = [step for step in order if any(step in chain.by_step for chain in members)]
        beside = [*alone, *notes] if number == len(sets) else []
        members = sorted(members, key=_sort_key)
        yield _table(task, setting, members, present, rows, metrics, intervals, beside, load)


def _sort_key(chain: Series) -> tuple[float | str, ...]:
    return sort_key(chain.first)


def _alone(chains: Sequence[Series]) -> str:
    return f"Not in a table, having one value of the setting: {runs_text([chain.first for chain in chains])}."


def _table(
    task: str,
    setting: RunSetting,
    chains: Sequence[Series],
    steps: Sequence[str],
    rows: Sequence[Run],
    metrics: Sequence[str],
    intervals: Intervals,
    notes: Sequence[str],
    load: Loader,
) -> Table:
    scores = [row.result.overall for chain in chains for row in chain.by_step.values()]
    shown = list(metrics) or [main_metrics(scores[0])[0]]
    incomplete = {(*setting.rest(row), row.results_folder, setting.step(row)): row for row in rows if not row.sound}
    measured = [_SeriesRow(chain, differences_to_first(chain, steps, shown, load)) for chain in chains]
    keys = [(row, key) for row in measured for key, d in row.differences.items() if isinstance(d, Difference)]
    corrected = holm([d.p for row, key in keys if isinstance(d := row.differences[key], Difference)])
    p_holm = {(id(row), *key): p for (row, key), p in zip(keys, corrected, strict=True)}
    names, name_cells, shared = chain_columns(chains, setting)
    columns = [*names, *(column for step in steps for column in _columns(step, steps[0], shown))]
    lines = []
    for row, cells in zip(measured, name_cells, strict=True):
        numbers = [
            cell
            for step in steps
            for metric in shown
            for cell in _cells(row, step, metric, steps[0], incomplete, p_holm, intervals)
        ]
        first = row.chain.first
        identity = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
        lines.append(Line([*cells, *numbers], "", identity, ranked=first.ranked))
    first = chains[0].first
    _, caption = constants(scores)
    sets = {items_text(row): step for chain in chains for step, row in chain.by_step.items()}
    return Table(
        task,
        columns,
        lines,
        above="; ".join([f"Best first ({steps[0]}), metrics in percent", *shared, *caption]) + ".",
        notes=[*_notes(setting, steps[0], measured, scores, intervals), *notes],
        heading=view_heading("by", setting, first),
        settings="; ".join(f"{step}: {items}" if len(sets) > 1 else items for items, step in sets.items()),
        label_set=first.result.headline,
        in_caption=[column.name for column in columns if column.name.endswith("/p_holm")],
        spare=[column.name for column in columns if column.name.endswith("/p")],
    )


def differences_to_first(
    chain: Series, steps: Sequence[str], metrics: Sequence[str], load: Loader
) -> dict[tuple[str, str], Difference | str]:
    """Return the differences of a chain's runs to that of the first step, or a word why one is missing."""
    base = chain.by_step.get(steps[0])
    paired = [name for name in metrics if definition(name).made_of == "counts"]
    to_first: dict[tuple[str, str], Difference | str] = {}
    for step in steps[1:]:
        row = chain.by_step.get(step)
        if base is None or row is None or not paired:
            continue
        try:
            replies = load(base), load(row)
            pairing = pair(*replies, by=(), labels=None, least=1)
        except HarnessError as error:
            to_first |= {(step, name): _reason(base, row, error) for name in paired}
            continue
        if pairing.first_only or pairing.second_only:
            to_first |= dict.fromkeys(((step, name) for name in paired), "other items")
            continue
        compared, _ = differences(of_counts(pairing.cells()[0]), paired)
        to_first |= {(step, difference.metric): difference for difference in compared}
    return to_first


def _reason(base: Run, row: Run, error: HarnessError) -> str:
    """Return in a word why two runs cannot be paired."""
    if base.result.headline != row.result.headline or "label in" in str(error):
        return "other labels"
    return "other items" if "share" in str(error) else "no records"


def _columns(step: str, base: str, metrics: Sequence[str]) -> Iterator[Column]:
    for metric in metrics:
        yield Column(f"{metric}/{step}", definition(metric).title, "metric", definition(metric).best, step)
        if step != base and definition(metric).made_of == "counts":
            yield from difference_columns(f"{metric}/{step}", base, step)


def difference_columns(name: str, base: str, over: str = "") -> Iterator[Column]:
    yield Column(f"{name}/difference", f"− {base}", "metric", None, over)
    yield Column(f"{name}/p", "p", "metric", None, over)
    yield Column(f"{name}/p_holm", "p (Holm)", "count", None, over)


def _cells(
    row: _SeriesRow,
    step: str,
    metric: str,
    base: str,
    incomplete: Mapping[tuple[str, ...], Run],
    p_holm: Mapping[tuple[int, str, str], float | None],
    intervals: Intervals,
) -> Iterator[Cell]:
    """Yield a score, and beside the first step's its difference to that and p."""
    run = row.chain.by_step.get(step)
    if run is None:
        other = incomplete.get((*row.chain.rest, step))
        word = NO_RUN if other is None else "– all failed" if other.unanswered else "– not complete"
        yield Cell(word)
    else:
        yield metric_cell(run.result.overall.metric(metric) or Metric(metric, None), intervals)
    if step == base or definition(metric).made_of != "counts":
        return
    yield from difference_cells(row.differences.get((step, metric)), p_holm.get((id(row), step, metric)), intervals)


def difference_cells(difference: Difference | str | None, holm_p: float | None, intervals: Intervals) -> Iterator[Cell]:
    """Yield a difference with its interval, its p, and for programs p corrected; dashes where there is none."""
    if not isinstance(difference, Difference):
        yield Cell(f"– {difference}" if difference else "–")
        yield from [Cell("–")] * 2
        return
    ends = difference.interval
    interval = f"[{signed_text(ends[0], 1)}, {signed_text(ends[1], 1)}]" if ends and intervals != "none" else ""
    yield Cell(signed_text(difference.value), difference.value, ends, interval)
    mark = MARK if holm_p is not None and holm_p <= 0.05 else ""
    yield Cell(f"{p_text(difference.p)}{mark}", difference.p)
    yield Cell(p_text(holm_p), holm_p)


def _notes(
    setting: RunSetting, base: str, rows: Sequence[_SeriesRow], scores: Sequence[Scores], intervals: Intervals
) -> Iterator[str]:
    """Yield how scores, differences and p were computed, and what the dashes mean."""
    if intervals != "none":
        yield " ".join(interval_notes(scores))
    yield from difference_notes(base, [d for row in rows for d in row.differences.values()])


def difference_notes(base: str, differences: Sequence[Difference | str]) -> Iterator[str]:
    if any(isinstance(d, Difference) for d in differences):
        count = sum(isinstance(d, Difference) and d.p is not None for d in differences)
        together = f" when the {count:,} p-values of this table are corrected together (Holm)" * (count > 1)
        yield (
            f"− {base}: the difference on the same items, as harness compare has it: 95% over {RESAMPLES:,} "
            f"resamples of whole clusters, the same for both; p from swapping the two in whole clusters. {MARK}: at "
            f"most 0.05{together}."
        )
    if words := sorted({d for d in differences if isinstance(d, str)}):
        yield f"No difference where the runs cannot be paired: {', '.join(words)}."
