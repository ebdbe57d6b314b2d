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
from harness.leaderboard.columns import constants
from harness.leaderboard.comparable import capitalized, runs_text, settings_words
from harness.leaderboard.settings.chains import RunSetting, Series, chains_of, sets_of, steps_of
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.means import mean_of
from harness.storage.replies import Reply
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, interval_text, metric_text, percent_text
from harness.tables.table import Cell, Column, Line, Table

_PARTS = {"mean": "mean ± SD", "least": "least", "median": "median", "greatest": "greatest"}


def tables(
    task: str,
    rows: Sequence[Run],
    setting: RunSetting,
    *,
    metrics: Sequence[str],
    intervals: Intervals,
    notes: Sequence[str],
) -> Iterator[Table]:
    """Yield a table for each set of runs that may stand side by side, best mean first.

    Raise ConfigError where no two runs differ in the setting alone.
    """
    chains = chains_of(rows, setting, folders=False)
    sets = sets_of([chain for chain in chains if len(chain.by_step) > 1])
    if not sets:
        raise ConfigError(
            f"over={setting.title}: no two runs of {task} differ in it and in nothing else. "
            "Run the same again with another value, under a name of its own (model.name=)."
        )
    if alone := [chain.first for chain in chains if len(chain.by_step) == 1]:
        notes = [f"Not in a table, as there is one run: {runs_text(alone)}.", *notes]
    for number, members in enumerate(sets, 1):
        scores = [row.result.overall for chain in members for row in chain.by_step.values()]
        shown = list(metrics) or [main_metrics(scores[0])[0]]
        members = sorted(members, key=lambda chain: _merit(chain, shown[0]))
        yield _table(task, setting, members, shown, intervals, notes if number == len(sets) else [])


def _merit(chain: Series, metric: str) -> tuple[float, str, str]:
    values = _values(chain, metric)
    mean = fmean(values) if values else -1.0
    return mean if definition(metric).best == "low" else -mean, chain.first.model, chain.first.prompt


def _values(chain: Series, metric: str) -> list[float]:
    """Return the metric of a chain's runs; [] where it is undefined in one of them."""
    values = [row.result.overall[metric] for row in chain.by_step.values()]
    defined = [value for value in values if value is not None]
    return defined if len(defined) == len(values) else []


def _table(
    task: str,
    setting: RunSetting,
    chains: Sequence[Series],
    metrics: Sequence[str],
    intervals: Intervals,
    notes: Sequence[str],
) -> Table:
    names, name_cells, shared = chain_columns(chains, setting)
    columns = [*names, *(column for metric in metrics for column in _columns(metric))]
    columns += [Column("changes", "answers that change", "metric"), Column("n", "n", "count")]
    lines = []
    for chain, cells in zip(chains, name_cells, strict=True):
        numbers = [cell for metric in metrics for cell in _cells(metric, _values(chain, metric))]
        steps = "+".join(chain.by_step)
        names_of_line = {str(column.name): str(cell.value) for column, cell in zip(names, cells, strict=True)}
        line = [*cells, *numbers, _changing(chain, intervals), Cell(f"{len(chain.by_step):,}", len(chain.by_step))]
        lines.append(Line(line, "", {**names_of_line, "over": f"{setting.title}={steps}"}, ranked=chain.first.ranked))
    first = chains[0].first
    _, caption = constants([row.result.overall for chain in chains for row in chain.by_step.values()])
    values = steps_of([row for chain in chains for row in chain.by_step.values()], setting)
    return Table(
        task,
        columns,
        lines,
        above="; ".join(["Best mean first, metrics in percent", *shared, *caption]) + ".",
        notes=[_note(setting), *notes],
        heading=view_heading("over", setting, first),
        settings=f"{setting.title}: {', '.join(values)}",
        label_set=first.result.headline,
        in_caption=[f"{metric}/sd" for metric in metrics],
        spare=[f"{metric}/{part}" for metric in metrics for part in ("median", "least", "greatest")],
    )


def _columns(metric: str) -> Iterator[Column]:
    shown = definition(metric)
    for part, title in _PARTS.items():
        yield Column(f"{metric}/{part}", title, "metric", shown.best if part == "mean" else None, shown.title)
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


def _changing(chain: Series, intervals: Intervals) -> Cell:
    """Return the share of the items that all runs have whose answer is not the same in all; a dash without records.

    A reply that could not be read is an answer of its own, and so is a failed call.
    """
    replies: dict[str, list[Reply]] = defaultdict(list)
    try:
        for row in chain.by_step.values():
            for item, reply in load(str(row.folder)).by_item.items():
                replies[item].append(reply)
    except HarnessError:
        return Cell("–")
    changes: dict[str, list[bool]] = defaultdict(list)
    for of_item in replies.values():
        if len(of_item) == len(chain.by_step):
            answers = {-1 if reply.failed else reply.answer for reply in of_item}
            changes[of_item[0].cluster].append(len(answers) > 1)
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


def chain_columns(chains: Sequence[Series], setting: RunSetting) -> tuple[list[Column], list[list[Cell]], list[str]]:
    """Return the columns of names, their cells for each chain, and the names that all chains share, in words."""
    rows = [_chain_names(chain, setting) for chain in chains]
    known = [name for name in ("model", "prompt", "variant", "folder") if any(row.get(name) for row in rows)]
    differing = [name for name in known if len({row[name] for row in rows}) > 1]
    # One chain, or chains that differ in nothing, still need a name.
    columns = differing if "model" in differing or "model" not in known else ["model", *differing]
    if not columns:
        columns = known[:1]
    # The variant stands in the heading, the folder only tells equal names apart.
    shared = [f"{name} {rows[0][name]}" for name in known if name == "prompt" and name not in columns]
    cells = [[Cell(row[name], row[name]) for name in columns] for row in rows]
    return [Column(name, name) for name in columns], cells, shared


def view_heading(view: str, setting: RunSetting, row: Run) -> str:
    """Return the heading of a table of chains: By perturbation, a sample of 100."""
    if setting.part == "variant":
        return f"{capitalized(view)} variant"
    return capitalized(f"{view} {setting.title}, {settings_words(row, setting.other_settings(row))}")


def _chain_names(chain: Series, setting: RunSetting) -> dict[str, str]:
    first = chain.first
    names = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
    if not setting.name:
        names[setting.part] = ""
    elif setting.part == "model":
        names["model"] = common_name([row.model for row in chain.by_step.values()])
    elif setting.part == "data":
        names["prompt"] = chain.rest[1]
    return names | {"folder": first.source if len({row.source for row in chain.by_step.values()}) == 1 else ""}


def common_name(names: Sequence[str]) -> str:
    """Return what names of one model's runs begin with, such as gpt4 of gpt4-seed=1 and gpt4-seed=2."""
    if len(set(names)) == 1:
        return names[0]
    common = "".join(signs[0] for signs in takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False)))
    beginning = re.sub(r"[\W_]+(s|seed|run|t|temp(erature)?)?[\W_]*$", "", common)
    return beginning or ", ".join(names)
