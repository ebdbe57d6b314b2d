"""Robustness: the same questions as they are and perturbed, a row for each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.charts.names import labels, places, reference
from harness.charts.sets import interval_of, lines_said, title_of
from harness.charts.values import Chart, Point, RobustnessChart, StepsRow
from harness.codec import digest
from harness.leaderboard.build import differing, items_of, items_text, sort_key
from harness.leaderboard.rows import Row
from harness.storage.run_folder import variant
from harness.tables.metrics import main_metrics
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of


@dataclass
class _Chain:
    """Runs that agree in everything but the perturbation."""

    rest: tuple[str, ...]
    """All that they agree in."""
    steps: Sequence[str]
    """What there may be, in the order of charts."""
    by_step: dict[str, Row] = field(default_factory=dict)

    @property
    def first(self) -> Row:
        """Return the run of the first step that there is."""
        return next(self.by_step[step] for step in self.steps if step in self.by_step)

    def beside(self, other: _Chain) -> bool:
        """Whether both may stand in one chart: the same label set, some step in both, and there the same items."""
        shared = [(items_of(row), items_of(other.by_step[s])) for s, row in self.by_step.items() if s in other.by_step]
        labels = {one.first.result.headline for one in (self, other)}
        return len(labels) == 1 and bool(shared) and all(mine == theirs for mine, theirs in shared)


def charts(task: str, rows: Sequence[Row], names: Mapping[int, str]) -> Iterator[Chart]:
    """A chart for each metric and set of chains; `names` are the runs' by the id() of their rows."""
    chains = [chain for chain in _chains(rows, benchmark_of(task).perturbations) if len(chain.by_step) > 1]
    sets: list[list[_Chain]] = []
    for chain in sorted(chains, key=lambda chain: (chain.first.variant != "default", sort_key(chain.first))):
        for found in sets:
            if all(chain.beside(one) for one in found):
                found.append(chain)
                break
        else:
            sets.append([chain])
    told = places(task, [[_plain(chain.first) for chain in found] for found in sets])
    for found, place, heading in zip(sets, told, _headings(sets), strict=True):
        yield from _charts(task, place, heading, found, names)


def _chains(rows: Sequence[Row], perturbations: Mapping[str, str]) -> list[_Chain]:
    chains: list[_Chain] = []
    for row in rows:
        step = perturbations.get(str(row.settings.get(PERTURBATION, "none")))
        if step is None or not row.complete:
            continue
        rest = (_without(row), row.prompt, row.model, row.folder, _configured(row))
        chain = next((one for one in chains if one.rest == rest and step not in one.by_step), None)
        if chain is None:
            chains.append(chain := _Chain(rest, list(perturbations.values())))
        chain.by_step[step] = row
    return chains


def _others(row: Row) -> dict[str, Any]:
    """Return the settings of a run's task but for the perturbation."""
    return {name: value for name, value in row.settings.items() if name != PERTURBATION}


def _without(row: Row) -> str:
    """Return the variant that the run has without its perturbation."""
    return variant(_others(row)) if PERTURBATION in row.settings else row.variant


def _configured(row: Row) -> str:
    """The configuration but for the perturbation; nothing where it is not known."""
    return digest({**row.configuration, "task": _others(row)}) if row.configuration else ""


def _headings(sets: Sequence[Sequence[_Chain]]) -> list[str]:
    """How each set differs from the others: what variant and labels do not tell, the items of its steps do."""
    if len(sets) == 1:
        return [""]
    plain = ["; ".join(differing({one.rest[0] for one in found}, [one.first for one in found])) for found in sets]
    rows = [{step: row for chain in found for step, row in chain.by_step.items()} for found in sets]
    said = []
    for heading, mine, found in zip(plain, rows, sets, strict=True):
        same = [other for name, other in zip(plain, rows, strict=True) if name == heading]
        own = [
            f"{step}: {items_text(mine[step])}"
            for step in found[0].steps
            if step in mine and any(step not in one or items_of(one[step]) != items_of(mine[step]) for one in same)
        ]
        said.append("; ".join([heading, *own]))
    return said


def _charts(task: str, place: str, heading: str, chains: Sequence[_Chain], names: Mapping[int, str]) -> Iterator[Chart]:
    chains = sorted(chains, key=lambda chain: sort_key(chain.first))
    firsts = [chain.first for chain in chains]
    said = labels([_plain(row) for row in firsts])
    steps = [step for step in chains[0].steps if any(step in chain.by_step for chain in chains)]
    everything = [row.result.overall for chain in chains for row in chain.by_step.values()]
    for metric in dict.fromkeys(name for row in firsts for name in main_metrics(row.result.overall)):
        rows = [
            StepsRow(
                **reference(chain.first, names[id(chain.first)], label),
                points=[_point(chain.by_step.get(step), metric, names) for step in steps],
            )
            for chain, label in zip(chains, said, strict=True)
        ]
        yield RobustnessChart(
            id=f"{place}/robustness/{metric}",
            task=task,
            heading=heading,
            title=f"{title_of(metric)} when the questions are perturbed",
            notes=lines_said(everything),
            metric=metric,
            steps=steps,
            rows=rows,
        )


def _plain(row: Row) -> Row:
    """Return the row with the variant and the settings that all of its chain share."""
    place = {**row.run.place, "variant": _without(row)}
    manifest = {**row.run.manifest, "configuration": {**row.configuration, "task": _others(row)}}
    return replace(row, run=replace(row.run, place=place, manifest=manifest))


def _point(row: Row | None, metric: str, names: Mapping[int, str]) -> Point | None:
    if row is None:
        return None
    overall = row.result.overall
    return Point(run=names[id(row)], value=overall[metric], interval=interval_of(overall, metric))
