"""Results as Markdown tables that are also readable in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.types import Result, Scores

TITLES = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "accuracy": "accuracy",
    "auroc": "AUROC",
    "average_precision": "avg. precision",
    "brier": "Brier",
}
COUNTS = ("items", "positives", "unreadable", "failed")


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


def cells(scores: Scores, metrics: Iterable[str]) -> list[str]:
    """Metrics in percent, the counts behind them."""
    return [percent(scores[name], name) for name in metrics] + [f"{getattr(scores, name):,}" for name in COUNTS]


def percent(value: float | None, name: str = "") -> str:
    """Two decimals; a dash where the metric is undefined. The Brier score is no share: it stays a number."""
    if value is None:
        return "–"
    return f"{value:.4f}" if name == "brier" else f"{100 * value:.2f}"


def metrics_of(results: Iterable[Scores]) -> list[str]:
    """The metrics that occur, in the order of TITLES, others after them."""
    found = {metric.name for scores in results for metric in scores.metrics}
    return [name for name in TITLES if name in found] + sorted(found - set(TITLES))


def result_table(result: Result) -> str:
    """Overall, then every breakdown, under the headline labels."""
    breakdowns = result.scores[result.headline]
    metrics = metrics_of([result.overall])
    header = [f"{result.headline} labels", *(TITLES.get(name, name) for name in metrics), *COUNTS]
    rows = []
    for breakdown, groups in breakdowns.items():
        for group, scores in groups.items():
            name = "all" if breakdown == "overall" else f"{breakdown.replace('_', ' ')}: {group}"
            rows.append([name, *cells(scores, metrics)])
    return markdown(header, rows)


def brief(result: Result) -> str:
    """A result in half a line."""
    return f"F1 {percent(result.overall['f1'])}, accuracy {percent(result.overall['accuracy'])}"


def remarks(result: Result) -> list[str]:
    """What has to be said beside the numbers."""
    overall = result.overall
    clusters = f"{result.clusters:,} cluster{'s' if result.clusters != 1 else ''}"
    said = [
        "",
        f"{overall.items:,} items in {clusters} (items of one cluster are not independent); metrics in percent.",
    ]
    if result.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.failures.items())
        said.append(f"Failed calls are in no metric: {kinds}.")
    if overall.unreadable:
        said.append(f"{overall.unreadable:,} replies could not be read (task.unreadable says how they score).")
    notable = {
        "length": "were cut off at max_tokens",
        "premise_truncated": "had their premise cut to the model's length",
    }
    for reason, what in notable.items():
        if count := result.finish_reasons.get(reason):
            said.append(f"{count:,} replies {what}." if reason == "length" else f"{count:,} items {what}.")
    usage = {"input": result.usage.input, "output": result.usage.output, "reasoning": result.usage.reasoning}
    if any(usage.values()):
        said.append(
            "Tokens of these answers: " + ", ".join(f"{count:,} {name}" for name, count in usage.items() if count) + "."
        )
    return said
