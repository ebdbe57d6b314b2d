"""Records into a Result: both conventions side by side; docs/causalbench.md says in plain words what each one means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import fmean

from harness.scoring import graphs
from harness.scoring.classification import multiclass
from harness.scoring.graphs import sid
from harness.scoring.means import Breakdowns, means, with_mean
from harness.scoring.summary import summarize as count
from harness.scoring.tally import counted, unordered
from harness.tasks.causalbench.answer_matrix import AnswerSheets, Sheet, Sheets, graph_files
from harness.tasks.causalbench.networks import NETWORKS, SCALES
from harness.tasks.causalbench.structures import RELATIONS, matrix, structures
from harness.tasks.causalbench.templates import Template
from harness.types import Metric, Record, Result, Scores, Unreadable, replace

Values = Mapping[str, float | None]
"""Metrics by name; None where one is undefined."""
ByNetwork = Mapping[str, Values]

MEAN = "mean of networks"
PAIR = "pair"
"""What intervals draw within one network: an unordered pair of variables, with all questions about it."""


def summarize(
    records: Iterable[Record],
    *,
    templates: Mapping[str, Template],
    breakdown: str,
    headline: str,
    unreadable: Unreadable,
) -> Result:
    """Return scores by every convention that the records have labels of, and the predicted graphs as files.

    `breakdown` is what the templates are called: template or structure.
    """
    entered = AnswerSheets(templates, breakdown)
    each = f"network/{breakdown}"
    orders = {
        "network": NETWORKS,
        "scale": tuple(dict.fromkeys(SCALES.values())),
        breakdown: tuple(templates),
        "relation": RELATIONS,
        each: [f"{network}/{template}" for network in NETWORKS for template in templates],
    }
    result = count(
        counted(records, entered.add),
        headline="exact",
        orders=orders,
        unreadable=unreadable,
        crossed=[("network", breakdown)],
        within=lambda record: unordered(record.unit),
        unit=PAIR,
    )
    if not result.overall.items:
        return replace(result, headline=headline, scores={headline: result.scores["exact"]})
    sheets = entered.in_order()
    scores = {"exact": _exact(result.scores["exact"], sheets, breakdown)}
    if published := result.scores.get("paper"):
        if any(template.exact == "path" for template in templates.values()):
            scores["direct"] = published  # every question taken for the direct edge, and scored as here
        third = any("{c}" in template.question for template in templates.values())
        cells = {key: _question_metrics(s.outcomes) if third else _cell_metrics(s) for key, s in sheets.items()}
        networks = _of_all_questions(sheets) if third else _over_templates(cells)
        scores["paper"] = _beside(_bare(published), _averages(cells, networks, breakdown))
    return replace(
        result,
        headline=headline,
        scores={headline: scores[headline]} | scores,
        notes=tuple(_notes(scores, result.clusters)),
        files=graph_files(sheets),
    )


def _notes(scores: Mapping[str, Breakdowns], networks: int) -> Iterator[str]:
    what = "Within one network the unordered pair of variables is the unit of independence: "
    where = "whole pairs are drawn" if networks == 1 else "rows of one network draw whole pairs, others whole networks"
    yield f"{what}{where}. The distances of one graph have no interval."
    paper = scores.get("paper", {}).get("network", {})
    without = [name for name, row in paper.items() if any(metric.value is None for metric in row.metrics)]
    if without:
        yield (
            "The paper's numbers need a reply to every ordered pair of a network; here "
            f"{len(without)} of {len(paper)} networks lack some (task.limit, task.kind or a failed call)."
        )


def _exact(rows: Breakdowns, sheets: Sheets, breakdown: str) -> Breakdowns:
    """Return the counted scores, the predicted graphs' distances beside them, and the mean over the networks."""
    cells = {key: _graph_metrics(sheet) for key, sheet in sheets.items() if sheet.template.graph}
    breakdowns = _beside(rows, _averages(cells, _over_templates(cells), breakdown))
    return with_mean(breakdowns, "network", MEAN)


def _graph_metrics(sheet: Sheet) -> Values:
    """Measure a sheet's graph against the true one; None where a pair has no reply."""
    true, predicted = matrix(sheet.network.dag), sheet.graph
    if sheet.template.graph == "undirected":
        distance = _measured({"shd": graphs.skeleton_shd}, sheet.every_pair, true, predicted)
        return distance | _measured({"density": graphs.density}, sheet.every_pair, predicted)
    values = _measured({"shd": graphs.shd, "sid": sid}, sheet.every_cell, true, predicted)
    if sheet.template.exact == "path":
        closure = structures(true)["path"]
        values |= _measured({"shd_closure": graphs.shd, "sid_closure": sid}, sheet.every_cell, closure, predicted)
    shape: dict[str, Callable[..., float]] = {
        "density": graphs.density,
        "average_in_degree": graphs.average_degree,
        "average_out_degree": graphs.average_degree,
        "acyclic": graphs.is_acyclic,
    }
    return values | _measured(shape, sheet.every_cell, predicted)


def _bare(rows: Breakdowns) -> Breakdowns:
    """Return the counts alone: these metrics are defined for whole networks, never for pairs."""

    def bare(row: Scores) -> Scores:
        clusters, resamples = (1, 0) if row.unit else (row.clusters, row.resamples)
        return replace(row, metrics=(), unit="", clusters=clusters, resamples=resamples)

    return {
        name: {group: bare(row) for group, row in groups.items()} for name, groups in rows.items() if name != "relation"
    }


def _of_all_questions(sheets: Sheets) -> ByNetwork:
    """Return the skeleton's numbers: its questions fill no matrix, so they are over all questions about a network."""
    pooled: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for (network, _), sheet in sheets.items():
        pooled[network] += sheet.outcomes
    return {network: _question_metrics(outcomes) for network, outcomes in pooled.items()}


def _cell_metrics(sheet: Sheet) -> Values:
    """Return the paper's numbers of one template about one network; None unless every ordered pair has a reply."""
    truth, cells = structures(matrix(sheet.network.dag))[sheet.template.paper], sheet.strict
    numbers = graphs.cell_numbers(truth, cells)
    return {name: number if sheet.every_cell else None for name, number in numbers.items()}


def _question_metrics(outcomes: Mapping[tuple[int, int], int]) -> Values:
    """Return macro F1 and accuracy over questions that have a reply; unreadable is a third class."""
    macro_f1, accuracy = multiclass({key: n for key, n in outcomes.items() if key[1] != graphs.MISSING})
    return {"macro_f1": macro_f1, "accuracy": accuracy}


def _measured(measures: Mapping[str, Callable[..., float]], defined: bool, *of: object) -> dict[str, float | None]:
    return {name: float(measure(*of)) if defined else None for name, measure in measures.items()}


def _over_templates(cells: Mapping[tuple[str, str], Values]) -> dict[str, Values]:
    return {name: _mean(v for (network, _), v in cells.items() if network == name) for name, _ in cells}


def _averages(
    cells: Mapping[tuple[str, str], Values], networks: ByNetwork, breakdown: str
) -> dict[tuple[str, str], ByNetwork]:
    """Return the per-network values whose mean a row shows, by (breakdown, group)."""
    rows: dict[tuple[str, str], dict[str, Values]] = defaultdict(dict)
    for (network, template), values in cells.items():
        rows[f"network/{breakdown}", f"{network}/{template}"][network] = values
        rows[breakdown, template][network] = values
    for network, values in networks.items():
        rows["network", network][network] = values
        rows["scale", SCALES[network]][network] = values
        rows["overall", "all"][network] = values
    return dict(rows)


def _beside(rows: Breakdowns, values: Mapping[tuple[str, str], ByNetwork]) -> dict[str, dict[str, Scores]]:
    """Return the rows with the means over networks after their metrics."""

    def wider(row: Scores, values: ByNetwork) -> Scores:
        networks = {name: {m: Metric(m, value) for m, value in metrics.items()} for name, metrics in values.items()}
        return replace(row, metrics=row.metrics + means(networks, resamples=row.resamples or None))

    return {
        breakdown: {group: wider(row, values.get((breakdown, group), {})) for group, row in groups.items()}
        for breakdown, groups in rows.items()
    }


def _mean(values: Iterable[Values]) -> Values:
    """Return the mean of each metric; None where one of the values is."""
    columns: dict[str, list[float | None]] = defaultdict(list)
    for metrics in values:
        for name, value in metrics.items():
            columns[name].append(value)
    known = {name: [value for value in column if value is not None] for name, column in columns.items()}
    return {name: fmean(known[name]) if len(known[name]) == len(column) else None for name, column in columns.items()}
