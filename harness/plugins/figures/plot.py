"""Figures for papers: harness plot results/…, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from harness.charts import Chart, charts_of
from harness.charts.values import (
    ConfusionChart,
    CostChart,
    HeatChart,
    ReliabilityChart,
    RobustnessChart,
    ScaleChart,
    ScoresChart,
)
from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, unknown
from harness.leaderboard.comparable import find_runs
from harness.runtime.environment import installing
from harness.runtime.progress import Progress
from harness.scoring.definitions import definition
from harness.storage.atomic_write import cannot_write, check
from harness.storage.configuration import safe

if TYPE_CHECKING:
    from harness.plugins.figures.plot_paper import FigureSheet

HELP = """\
Draw charts of runs for a paper, at the width of its column.

  harness plot                                   results/, every chart, to figures/*.pdf
  harness plot results chart=scores,robustness   some kinds of chart
  harness plot results chart='corr2cause/heat/*' format=pdf,png width=text
  harness plot results chart='corr2cause/perturbation=paraphrase/*'

corr2cause/heat/* is of the default variant; the names of other variants' charts have the variant, + for its commas.

Give folders of runs, or folders above them. Names, order and sets of runs are those of the leaderboard's tables; runs
on different items or with different headline labels share no chart, incomplete ones are in none.

  chart=               kinds (scores, heat, confusion, reliability, robustness, names, directness, cost, scale),
                       or names as they are printed, or globs
  metric=              f1, accuracy, …; heat maps also precision and recall; else the one that runs are ranked by
  width=column         column (3.25 inches) or text (6.75)
  format=pdf           pdf and svg (text stays text, pdf embeds its fonts), png (300 dots per inch)
  out=figures          the folder to write to

chart=, metric= and format= take several, with commas between them. Needs the extra [plot] (matplotlib).
"""
KINDS = {
    "scores": "no run here has scores",
    "heat": "no run here has scores by relation, number of variables, network, …",
    "confusion": "no run here has counts of right and wrong answers",
    "reliability": "no run here gives probabilities or states how sure it is, and has its records",
    "robustness": "no two runs here differ in task.perturbation and in nothing else (model, prompt, other settings)",
    "names": "no two runs here differ in task.names and in nothing else (model, prompt, other settings)",
    "directness": "no two runs here differ in task.kind and in nothing else (model, prompt, other settings)",
    "cost": "no run of a model here has a cost or a count of tokens",
    "scale": "no run here is over two networks or more",
}
"""The kinds of chart, and why there may be none of a kind."""
NAMES_IN_MESSAGE = 8
"""Names of charts that a message has room for."""


@dataclass(frozen=True)
class PlotSettings:
    """The command's settings; HELP says what each one means."""

    chart: Words = ()
    metric: Words = ()
    width: Literal["column", "text"] = "column"
    format: Annotated[Words, Field(min_length=1)] = ("pdf",)
    out: Annotated[str, Field(min_length=1)] = "figures"


@dataclass(frozen=True)
class _Figure:
    """A chart, and the metric that is drawn of it."""

    chart: Chart
    metric: str | None

    @property
    def name(self) -> str:
        """The chart's id; heat maps have a figure for each metric."""
        return f"{self.chart.id}/{self.metric}" if isinstance(self.chart, HeatChart) else self.chart.id


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, PlotSettings, job, arguments)


def job(folders: list[str], settings: PlotSettings) -> str:
    """Write what the settings ask for and return the lines that say so, with what belongs into the captions."""
    for format in settings.format:
        if format not in ("pdf", "svg", "png"):
            raise ConfigError(unknown("format", format, ("pdf", "svg", "png")))
    check(settings.out, folder=True)
    try:
        import matplotlib  # noqa: F401 (is it there?)
    except ImportError:
        raise ConfigError(f"figures need matplotlib: {installing('plot')}.") from None
    figures = _figures_to_draw(charts_of(find_runs(folders or ["results"])), settings)
    lines: list[str] = []
    notes: dict[str, None] = {}
    try:
        _write(figures, settings, lines, notes)
    except KeyboardInterrupt:
        number = len(lines)
        progress = f"{number} of {len(figures)} figures {'is' if number == 1 else 'are'} in {settings.out}/, each whole"
        raise KeyboardInterrupt(f"interrupted: {progress if number else 'no figure was written'}.") from None
    return "\n".join([*lines, *(["", "For the captions:", *notes] if notes else [])])


def _write(figures: Sequence[_Figure], settings: PlotSettings, lines: list[str], notes: dict[str, None]) -> None:
    """Write the figures: a line for each to `lines`, words for captions to `notes`, which an interruption keeps."""
    from harness.plugins.figures.plot_paper import PAGE, WIDTHS, style

    with style():
        for figure in Progress("figures").watch(figures, figures):
            sheet = _sheet(figure, WIDTHS[settings.width])
            files = [
                Path(settings.out, f"{safe(figure.name.replace('/', '-'))}.{format}") for format in settings.format
            ]
            for file, format in zip(files, settings.format, strict=True):
                _write_file(file, sheet.file_bytes(format), settings.out)
            heading = f" ({figure.chart.heading})" if figure.chart.heading else ""
            high = f"; {sheet.height:.0f} inches high, more than a page" if sheet.height > PAGE else ""
            lines.append(f"{' '.join(map(str, files))}: {figure.chart.title}{heading}{high}")
            notes.update(dict.fromkeys([*figure.chart.notes, *sheet.notes]))


def _figures_to_draw(charts: Sequence[Chart], settings: PlotSettings) -> list[_Figure]:
    """Return the figures to draw: those that have values. Raises ConfigError where nothing fits."""
    figures = [figure for chart in charts for figure in _figures(chart) if not _empty(figure)]
    if not figures:
        raise ConfigError("there is nothing to draw: no run is complete, or none has scores. Give other folders.")
    metrics = {figure.metric for figure in figures if figure.metric}
    for name in settings.metric:
        if name not in metrics:
            raise ConfigError(unknown("metric", name, metrics))
    for pattern in settings.chart:
        if not any(_fits(figure, pattern) for figure in figures):
            raise ConfigError(_no_chart(pattern, figures))
    wanted = settings.metric or [name for name in metrics if definition(name).lead == "first"]
    matches = [
        figure
        for figure in figures
        if (not settings.chart or any(_fits(figure, pattern) for pattern in settings.chart))
        and (figure.metric is None or figure.metric in wanted)
    ]
    if not matches:
        raise ConfigError(f"no chart fits both chart={','.join(settings.chart)} and metric={','.join(wanted)}.")
    return matches


def _no_chart(pattern: str, figures: Sequence[_Figure]) -> str:
    """Return the sentence for a chart that is not there: for a kind why, for a name the nearest ones."""
    if pattern in KINDS:
        return f"no chart of kind {pattern}: {KINDS[pattern]}."
    if "/" not in pattern:
        return unknown("chart", pattern, KINDS)
    names = sorted({figure.name for figure in figures})
    parts = {part for name in names for part in name.split("/")}
    nearest = "/".join(next(iter(get_close_matches(part, parts, 1)), part) for part in pattern.split("/"))
    hint = f" (did you mean {nearest!r}?)" if any(_fits(figure, nearest) for figure in figures) else ""
    near = sorted(get_close_matches(pattern, names, NAMES_IN_MESSAGE, 0))
    more = f" and {len(names) - len(near):,} more" if len(names) > len(near) else ""
    return f"there is no chart {pattern!r}{hint}. There are {', '.join(near)}{more}."


def _figures(chart: Chart) -> Iterator[_Figure]:
    if isinstance(chart, HeatChart):
        yield from (_Figure(chart, metric) for metric in chart.metrics)
    else:
        yield _Figure(chart, getattr(chart, "metric", None))


def _fits(figure: _Figure, pattern: str) -> bool:
    return pattern == figure.chart.kind or fnmatchcase(figure.name, pattern) or fnmatchcase(figure.chart.id, pattern)


def _empty(figure: _Figure) -> bool:
    """Test whether the figure has no value."""
    chart = figure.chart
    if isinstance(chart, ScoresChart):
        return all(row.value is None for row in chart.rows)
    if isinstance(chart, HeatChart):
        cells = [cell for row in chart.rows for cell in row.cells if cell]
        return all(cell.values.get(str(figure.metric)) is None for cell in cells)
    if isinstance(chart, RobustnessChart):
        return all(point is None or point.value is None for row in chart.rows for point in row.points)
    if isinstance(chart, ScaleChart):
        return all(value is None for row in chart.rows for value in row.values)
    return False


def _sheet(figure: _Figure, width: float) -> FigureSheet:
    from harness.plugins.figures import plot_cells, plot_lines

    chart = figure.chart
    if isinstance(chart, ScoresChart):
        return plot_cells.scores(chart, width)
    if isinstance(chart, ConfusionChart):
        return plot_cells.confusion(chart, width)
    if isinstance(chart, HeatChart):
        return plot_cells.heat(chart, width, str(figure.metric))
    if isinstance(chart, RobustnessChart):
        return plot_lines.robustness(chart, width)
    if isinstance(chart, ReliabilityChart):
        return plot_lines.reliability(chart, width)
    if isinstance(chart, ScaleChart):
        return plot_lines.scale(chart, width)
    assert isinstance(chart, CostChart)
    return plot_lines.cost(chart, width)


def _write_file(path: Path, content: bytes, out: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise cannot_write(out, error) from error


if __name__ == "__main__":
    sys.exit(main())
