"""harness league RESULTS…: algorithms and models on one table, by distances that know patterns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from harness.cli import key_value
from harness.errors import ConfigError
from harness.plugins.discovery.league_rows import TITLES, Entry, Seeds, entries_of, metric_of, values_of

if TYPE_CHECKING:
    from harness.tables.table import Cell, Part, Table

HELP = """\
Discovery algorithms and models on one table, by distances that know patterns. Reads finished runs; asks nothing.

  harness discover -m algorithm=hc,pc,boss network=asia,sachs,alarm seed=0,1,2,3,4
  harness league results                          runs of task=causalbench/causality with task.method=2
  harness league results by=network               a row for each network, not the mean over a run's networks
  harness league results truth=dag                against the true DAG, where an effect that a pattern leaves open is
                                                  wrong; without it both stand for their classes, and what data cannot
                                                  tell is no error

  model=, variant=, prompt=     which runs: names or globs
  samples=                      only what was learned from so many samples
  out=                          a file to write: .md, .csv or .json
  chart=                        a figure of error over samples, .png, .pdf or .svg: an algorithm is a line, whoever
                                learns from no data a level (needs the extra [plot])
"""


@dataclass(frozen=True)
class LeagueSettings:
    """Settings of the command, each explained in HELP."""

    model: str | None = None
    variant: str | None = None
    prompt: str | None = None
    samples: int | None = None
    by: Literal["network"] | None = None
    truth: Literal["class", "dag"] = "class"
    out: str | None = None
    chart: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, LeagueSettings, job, arguments)


def job(arguments: list[str], settings: LeagueSettings) -> list[Part]:
    """Return the table and its remarks, and write them where settings say so."""
    from harness.leaderboard.comparable import find_runs, of_other_rules, select_runs
    from harness.storage.atomic_write import atomic_file, check
    from harness.tables.markdown_csv_json import as_csv, as_json, markdown

    files = {"out": (settings.out, (".md", ".csv", ".json")), "chart": (settings.chart, (".png", ".pdf", ".svg"))}
    for name, (file_name, endings) in files.items():
        if file_name is not None:
            if Path(file_name).suffix not in endings:
                raise ConfigError(f"{name}={file_name}: the name has to end in {', '.join(endings)}.")
            check(file_name)
    runs = select_runs(
        find_runs(arguments or ["results"]), model=settings.model, variant=settings.variant, prompt=settings.prompt
    )
    runs = [run for run in runs if run.task == "causalbench/causality" and run.sound]
    entries, remarks = entries_of(runs, samples=settings.samples, by=settings.by, truth=settings.truth)
    if not entries:
        raise ConfigError(
            "none of these runs has graphs of direct causes: harness discover algorithm=hc leaves some, and a model's "
            "run of task=causalbench/causality task.method=2."
        )
    table = table_of(entries, settings)
    parts: list[Part] = [table, *_knowledge(entries), *reversals(entries), *remarks, *of_other_rules(runs)]
    if settings.out is not None:
        written = {".md": lambda: f"# Discovery\n\n{markdown(parts)}", ".csv": lambda: as_csv([table])}
        with atomic_file(settings.out) as file:
            file.write(f"{written.get(Path(settings.out).suffix, lambda: as_json([table]))()}\n")
    if settings.chart is not None:
        from harness.plugins.discovery.league_chart import draw

        draw(entries, settings.chart)
    return parts


def table_of(entries: Mapping[Entry, Seeds], settings: LeagueSettings) -> Table:
    from harness.tables.table import Cell, Column, Line, Table

    columns = [Column(title.lower(), title, "text") for title in ("Name", "Role", "Networks")]
    columns += [Column(title.lower(), title, "count") for title in ("Samples", "Seeds")]
    columns += [
        Column(name, title, "metric", best="high" if name == "f1" else "low" if name != "sid" else None)
        for name, title in TITLES.items()
    ]
    columns.append(Column("changed", "Changed", "count"))
    lines = []
    for entry, seeds in entries.items():
        networks = ", ".join(entry.networks) if len(entry.networks) < 4 else f"{len(entry.networks)} networks"
        graphs = [score for scores in seeds.values() for score in scores.values()]
        changed = fmean(graph.changed for graph in graphs)
        cells = [
            Cell(entry.name, entry.name), Cell(entry.role, entry.role), Cell(networks, " ".join(entry.networks)),
            Cell("–" if entry.samples is None else f"{entry.samples:,}", entry.samples),
            Cell(str(len(seeds)), len(seeds)),
            *(_cell(seeds, name) for name in TITLES),
            Cell(f"{'' if all(graph.exact for graph in graphs) else '≤ '}{changed:.1f}", changed),
        ]  # fmt: skip
        run = {"name": entry.name, "samples": str(entry.samples), "networks": networks}
        lines.append(Line(cells, run=run, ranked=entry.role in ("model", "algorithm")))
    return Table(columns=columns, lines=lines, notes=_notes(settings), spare=("role", "changed", "seeds", "f1"))


def _notes(settings: LeagueSettings) -> list[str]:
    against = {
        "dag": "the true DAG: where a pattern leaves an effect open, it counts as wrong",
        "class": "the true graph's class, a DAG as its class too: what data cannot tell is no error",
    }
    return [
        "AID (Henckel et al. 2024): pairs whose effect the graph would have estimated wrongly, against "
        f"{against[settings.truth]}. A DAG claims every direction, also those that chance has drawn. SHD of CPDAGs: "
        "pairs that differ between the classes. SID: the least and the largest over the DAGs of a pattern; ~ where "
        "none need reach them. SHD (paper) and F1: cells of answers, an edge without direction in both directions. "
        "Means over networks, then over seeds; ± is Student's t over seeds.",
        "Changed: edges changed before the graph was scored by all but SHD (paper) and F1: edges taken from a model's "
        "answers until there is no cycle (≤: perhaps fewer would do), or marks that differ where a pattern is no "
        "class and stands for that of a DAG in it, or, where it has none (≤), of one near it.",
    ]


def _cell(seeds: Seeds, name: str) -> Cell:
    from harness.tables.table import Cell

    if name == "sid":
        low, high = fmean(values_of(seeds, "sid_low")), fmean(values_of(seeds, "sid_high"))
        loose = any(score.bounded for scores in seeds.values() for score in scores.values())
        text = f"{low:.1f}" if low == high else f"{'~' if loose else ''}{low:.1f} … {high:.1f}"
        return Cell(text, low if low == high else text)
    mean, half = metric_of(seeds, name)
    scale = 100 if name == "f1" else 1
    interval = None if half is None else (mean - half, mean + half)
    return Cell(f"{scale * mean:.1f}", mean, interval, "" if half is None else f"± {scale * half:.1f}")


def reversals(entries: Mapping[Entry, Seeds]) -> Iterator[str]:
    """Yield, for each other metric, how many pairs of ranked rows it orders otherwise than parent AID does."""
    ranked = [entry for entry in entries if entry.role in ("model", "algorithm")]
    pairs = [
        (a, b)
        for a, b in combinations(ranked, 2)
        if a.networks == b.networks and (a.samples == b.samples or None in (a.samples, b.samples))
    ]
    for name in ("class_shd", "cell_shd", "f1"):
        turned = [
            f"{worse.name} before {better.name} ({', '.join(_where(worse))})"
            for better, worse in pairs
            if _goodness(entries[better], name) < _goodness(entries[worse], name)
            and _goodness(entries[better], "parent_aid") > _goodness(entries[worse], "parent_aid")
        ]
        if turned:
            more = f" and {len(turned) - 3} more" if len(turned) > 3 else ""
            yield (
                f"{TITLES[name]} ranks {len(turned):,} of {len(pairs):,} pairs of rows the other way round than "
                f"parent AID: {'; '.join(turned[:3])}{more}."
            )


def _knowledge(entries: Mapping[Entry, Seeds]) -> Iterator[str]:
    """Yield what a model's answers change in an algorithm that has them as a prior, over the seeds of both."""
    from harness.scoring.means import mean_and_half_width

    for entry, seeds in entries.items():
        plain = entries.get(replace(entry, name=entry.name.partition("+")[0]), {})
        common = [seed for seed in seeds if seed in plain] if "+" in entry.name else []
        if not common or entry.samples is None:
            continue
        changes = []
        for name in ("parent_aid", "class_shd"):
            with_prior, without = (values_of({seed: of[seed] for seed in common}, name) for of in (seeds, plain))
            mean, half = mean_and_half_width([a - b for a, b in zip(with_prior, without, strict=True)])
            changes.append(f"{TITLES[name]} {mean:+.1f}{'' if half is None else f' ± {half:.1f}'}")
        yield (
            f"Knowledge: {entry.name} against {entry.name.partition('+')[0]} on the same data "
            f"({', '.join(_where(entry))}, {len(common)} seeds): {', '.join(changes)}; less is better."
        )


def _where(entry: Entry) -> Iterator[str]:
    yield entry.networks[0] if len(entry.networks) == 1 else f"{len(entry.networks)} networks"
    if entry.samples is not None:
        yield f"{entry.samples:,} samples"


def _goodness(seeds: Seeds, name: str) -> float:
    value = fmean(values_of(seeds, name))
    return value if name == "f1" else -value


if __name__ == "__main__":
    sys.exit(main())
