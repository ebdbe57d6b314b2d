"""Results as Markdown tables that are also readable in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence

from harness.scoring.bootstrap import LEVEL, METHOD, SEED
from harness.types import Metric, Result, Scores

TITLES = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "precision": "precision",
    "recall": "recall",
    "accuracy": "accuracy",
    "auroc": "AUROC",
    "average_precision": "avg. precision",
    "brier": "Brier",
    "longest_chain": "longest chain",
    "shd": "SHD",
    "sid": "SID",
    "density": "density",
    "acyclic": "acyclic",
    "cell_accuracy": "cell accuracy",
    "cell_shd": "cell SHD",
    "parent_set_errors": "parent set errors",
    "cell_density": "cell density",
    "degree": "degree",
}
UNSHOWN = {"shd_closure", "sid_closure", "average_in_degree", "average_out_degree"}
"""Metrics that are left to result.json: tables of all of them would be too wide."""
NUMBERS = {
    "brier": 4,
    "longest_chain": 0,
    "shd": 2,
    "sid": 2,
    "cell_shd": 2,
    "parent_set_errors": 2,
    "degree": 2,
}
"""Metrics that are no shares, with the decimals that they are shown with; all others are shown in percent."""
COUNTS = ("items", "positives", "clusters", "unreadable", "failed")
FEW = 30
"""Clusters below which it is said that there are few of them."""


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> str:
    """A Markdown table with aligned columns; the first `text_columns` to the left, numbers to the right."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def drawn(line: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if column < text_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return f"| {' | '.join(cells)} |"

    rule = ("-" * width if column < text_columns else "-" * (width - 1) + ":" for column, width in enumerate(widths))
    return "\n".join([drawn(lines[0]), f"| {' | '.join(rule)} |", *map(drawn, lines[1:])])


def cells(
    rows: Sequence[Scores], metrics: Sequence[str], *, intervals: Container[str] | None = None
) -> list[list[str]]:
    """A line of cells for each row: metrics as they are shown, the counts behind them.

    `intervals` names the metrics that get theirs, None all of them. Values stand below values, intervals below
    intervals.
    """
    columns = []
    for name in metrics:
        found = [row.metric(name) or Metric(name, None) for row in rows]
        values = [shown(name, metric.value) for metric in found]
        ranges = [interval_shown(metric) if intervals is None or name in intervals else "" for metric in found]
        if any(ranges):
            width, across = max(map(len, values)), max(map(len, ranges))
            values = [f"{v:>{width}} {r:<{across}}" for v, r in zip(values, ranges, strict=True)]
        columns.append(values)
    counts = [[count_shown(row, name) for row in rows] for name in COUNTS]
    return [list(line) for line in zip(*columns, *counts, strict=True)]


def interval_shown(metric: Metric) -> str:
    """An interval, with a decimal less than the value: the draws tell no more."""
    if metric.interval is None:
        return ""
    decimals = max(1, NUMBERS.get(metric.name, 2) - 1)
    scale = 1 if metric.name in NUMBERS else 100
    low, high = (f"{scale * end:,.{decimals}f}" for end in metric.interval)
    return f"[{low}, {high}]"


def count_shown(row: Scores, name: str) -> str:
    """A count as tables show it, clusters with what they are."""
    if name == "clusters":
        return f"{row.clusters:,}{f' {row.unit}s' if row.unit else ''}" if row.clusters or not row.items else "–"
    return f"{getattr(row, name):,}"


def shown(name: str, value: float | None) -> str:
    """A metric as tables show it: shares in percent with two decimals; a dash where it is undefined."""
    if value is None:
        return "–"
    if name not in NUMBERS:
        return f"{100 * value:.2f}"
    whole = value == int(value) and name != "brier"
    return f"{value:,.0f}" if whole else f"{value:,.{NUMBERS[name]}f}"


def metrics_of(results: Iterable[Scores]) -> list[str]:
    """The metrics that occur and that tables show, in the order of TITLES, others after them."""
    found = {metric.name for scores in results for metric in scores.metrics} - UNSHOWN
    return [name for name in TITLES if name in found] + sorted(found - set(TITLES))


def result_tables(result: Result) -> str:
    """A table for the headline labels, and one for every other label set that has metrics of its own."""
    shown = [result.headline]
    known = set(metrics_of([result.overall]))
    for label_set, breakdowns in result.scores.items():
        if label_set != result.headline and set(metrics_of([breakdowns["overall"]["all"]])) - known:
            shown.append(label_set)
    return "\n\n".join(_result_table(result, label_set) for label_set in shown)


def _result_table(result: Result, label_set: str) -> str:
    """Overall, then every breakdown. Breakdowns of two things (network/template) are left to result.json."""
    breakdowns = result.scores[label_set]
    metrics = metrics_of([breakdowns["overall"]["all"]])
    header = [f"{label_set} labels", *(TITLES.get(name, name) for name in metrics), *COUNTS]
    names, rows = [], []
    for breakdown, groups in breakdowns.items():
        for group, scores in groups.items() if "/" not in breakdown else ():
            names.append(group if breakdown == "overall" else f"{breakdown.replace('_', ' ')}: {group}")
            rows.append(scores)
    return markdown(header, [[name, *line] for name, line in zip(names, cells(rows, metrics), strict=True)])


def brief(result: Result) -> str:
    """A result in half a line."""
    line = cells([result.overall], main_metrics(result.overall))[0]
    return ", ".join(f"{TITLES[n]} {cell}" for n, cell in zip(main_metrics(result.overall), line, strict=False))


def main_metrics(scores: Scores) -> tuple[str, str]:
    """The two metrics that a run is ranked by: F1 and accuracy, or the paper's convention of them."""
    names = {metric.name for metric in scores.metrics}
    f1 = "f1" if "f1" in names or "macro_f1" not in names else "macro_f1"
    return f1, "cell_accuracy" if "cell_accuracy" in names else "accuracy"


def remarks(result: Result) -> list[str]:
    """What has to be said beside the numbers."""
    overall = result.overall
    clusters = f"{result.clusters:,} cluster{'s' if result.clusters != 1 else ''}"
    said = [
        "",
        f"{overall.items:,} items in {clusters} (items of one cluster are not independent); metrics in percent.",
    ]
    said += [*result.notes, *samples_said(result)]
    rows = [row for groups in result.scores[result.headline].values() for row in groups.values()]
    said += intervals_said(rows) + _without(rows)
    if result.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.failures.items())
        said.append(f"Failed calls are in no metric: {kinds}.")
    if overall.unreadable:
        said.append(f"{overall.unreadable:,} replies could not be read (task.unreadable says how they score).")
    if between := [
        f"{TITLES.get(m.name, m.name)} {shown(m.name, m.bounds[0])} to {shown(m.name, m.bounds[1])}"
        for m in overall.metrics
        if m.bounds
    ]:
        said.append(f"If all of them had been wrong, or all right: {', '.join(between)}.")
    notable = {
        "length": "were cut off at max_tokens",
        "premise_truncated": "had their premise cut to the model's length",
    }
    for reason, what in notable.items():
        if count := result.finish_reasons.get(reason):
            said.append(f"{count:,} replies {what}." if reason == "length" else f"{count:,} items {what}.")
    if len(result.served_models) > 1:
        names = ", ".join(f"{name} ({count:,})" for name, count in result.served_models.items())
        said.append(f"The server's replies name more than one model: {names}.")
    usage = {"input": result.usage.input, "output": result.usage.output, "reasoning": result.usage.reasoning}
    if any(usage.values()):
        said.append(
            "Tokens of these answers: " + ", ".join(f"{count:,} {name}" for name, count in usage.items() if count) + "."
        )
    return said


def samples_said(result: Result) -> list[str]:
    """What single draws come to, where each item has several answers."""
    told = result.samples
    if not told:
        return []
    k = told["number"]

    def share(name: str) -> str:
        return shown(name, told.get(name))

    spread = ", ".join(
        f"{TITLES[name]} {share(f'{name}_mean')} (SD {share(f'{name}_sd_between_draws')})"
        for name in ("f1", "accuracy")
    )
    any_right, all_right = share(f"pass@{k}"), share(f"pass^{k}")
    passed = f"pass@1 {share('pass@1')}, pass@{k} {any_right} (any right), pass^{k} {all_right} (all right)"
    return [
        f"The scores are those of the majority of {k} answers an item (self-consistency); a tie is unreadable. "
        f"The {k} draws one by one, mean and SD between them: {spread}.",
        f"Draws agree with their majority in {share('agreement')}%; whether a draw is right has an SD of "
        f"{share('sd_within_items')} within items and {share('sd_between_items')} between them; "
        f"{passed}.",
    ]


def intervals_said(rows: Iterable[Scores]) -> list[str]:
    """How the intervals of some rows were made, and that they rest on few clusters where they do."""
    drawn = [row for row in rows if any(metric.interval for metric in row.metrics)]
    if not drawn:
        return []
    times = _from_to({row.resamples for row in drawn})
    said = [f"In brackets: {LEVEL:.0%} intervals over clusters ({METHOD}; {times} resamples, seed {SEED})."]
    if few := {row.clusters for row in drawn if row.clusters < FEW}:
        said.append(
            f"Intervals over {_from_to(few)} clusters are wide: so few tell no more, however many items they hold."
        )
    return said


def _without(rows: Sequence[Scores]) -> list[str]:
    """Why some scores have no interval, with the names of those in the first row."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        for metric in row.metrics:
            if metric.no_interval:
                names = reasons.setdefault(metric.no_interval, [])
                if row is rows[0]:
                    names.append(TITLES.get(metric.name, metric.name))
    listed = [f"{reason} ({', '.join(names)} of all)" if names else reason for reason, names in reasons.items()]
    return [f"No interval: {'; '.join(listed)} (no_interval in result.json)."] if listed else []


def _from_to(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
