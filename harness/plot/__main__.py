"""Figures for papers: harness plot results/…, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, unknown
from harness.leaderboard.comparable import find_runs
from harness.plot.charts import STEPS, Chart, charts_of, points_of
from harness.runtime.environment import installing
from harness.runtime.progress import Progress
from harness.scoring.definitions import definition
from harness.storage.atomic_write import atomic_file, check
from harness.storage.configuration import safe

HELP = """\
Draw figures of runs for a paper, at the width of its column: scores with their intervals, and lines over what the runs
differ in (perturbation, names, directness) or over the size of networks. The page (harness report) has more charts.

  harness plot                                   results/, every figure, to figures/*.pdf
  harness plot results chart=scores,robustness   some kinds
  harness plot results chart='corr2cause/perturbation=paraphrase/*' format=pdf,png width=text

Give folders of runs, or folders above them. Names, order and sets of runs are those of the leaderboard's tables; runs
on different items or with different headline labels share no figure, incomplete ones are in none.

  chart=               kinds (scores, robustness, names, directness, scale), or names as they are printed, or globs
  metric=              f1, accuracy, …; else the one that runs are ranked by
  width=column         column (3.25 inches) or text (6.75)
  format=pdf           pdf and svg (text stays text, pdf embeds its fonts), png (300 dots per inch)
  out=figures          the folder to write to

chart=, metric= and format= take several, with commas between them. Needs the extra [plot] (matplotlib).
"""
KINDS = ("scores", *STEPS, "scale")
"""The kinds of chart that are drawn for papers."""
FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True)
class PlotSettings:
    """The command's settings; HELP says what each one means."""

    chart: Words = ()
    metric: Words = ()
    width: Literal["column", "text"] = "column"
    format: Annotated[Words, Field(min_length=1)] = ("pdf",)
    out: Annotated[str, Field(min_length=1)] = "figures"


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, PlotSettings, job, arguments)


def job(folders: list[str], settings: PlotSettings) -> str:
    """Write what the settings ask for and return the lines that say so, with what belongs into the captions."""
    if wrong := [format for format in settings.format if format not in FORMATS]:
        raise ConfigError(unknown("format", wrong[0], FORMATS))
    check(settings.out, folder=True)
    try:
        from harness.plot.draw import figure_files
    except ImportError:
        raise ConfigError(f"figures need matplotlib: {installing('plot')}.") from None
    charts = _wanted(charts_of(find_runs(folders or ["results"])), settings)
    lines: list[str] = []
    for chart in Progress("figures").watch(charts, charts):
        names = []
        for format, content in figure_files(chart, settings.width, settings.format):
            names.append(str(Path(settings.out, f"{safe(chart['id'].replace('/', '-'))}.{format}")))
            with atomic_file(names[-1]) as file:
                file.buffer.write(content)  # type: ignore[attr-defined]
        heading = f" ({chart['heading']})" if chart["heading"] else ""
        lines.append(f"{' '.join(names)}: {chart['title']}{heading}")
    notes = dict.fromkeys(note for chart in charts for note in chart["notes"])
    return "\n".join([*lines, *(["", "For the captions:", *notes] if notes else [])])


def _wanted(charts: Iterable[Chart], settings: PlotSettings) -> list[Chart]:
    """Return the charts to draw: those that have values. Raises ConfigError where nothing fits."""
    values = {
        chart["id"]: [value for row in chart["rows"] for value, _ in points_of(row)]
        for chart in charts
        if chart["kind"] in KINDS
    }
    drawable = [chart for chart in charts if any(value is not None for value in values.get(chart["id"], []))]
    if not drawable:
        raise ConfigError("there is nothing to draw: no run is complete, or none has scores. Give other folders.")
    metrics = {chart["metric"] for chart in drawable}
    if wrong := [name for name in settings.metric if name not in metrics]:
        raise ConfigError(unknown("metric", wrong[0], metrics))
    fitting: set[str] = set()
    for pattern in settings.chart or ("*",):
        fit = {chart["id"] for chart in drawable if pattern == chart["kind"] or fnmatchcase(chart["id"], pattern)}
        if not fit:
            known = [*dict.fromkeys(chart["kind"] for chart in drawable), *(chart["id"] for chart in drawable)]
            raise ConfigError(unknown("chart", pattern, known))
        fitting |= fit
    wanted = settings.metric or [name for name in metrics if definition(name).lead == "first"] or sorted(metrics)
    if not (matches := [chart for chart in drawable if chart["metric"] in wanted and chart["id"] in fitting]):
        raise ConfigError(f"no chart fits both chart={','.join(settings.chart)} and metric={','.join(wanted)}.")
    return matches


if __name__ == "__main__":
    sys.exit(main())
