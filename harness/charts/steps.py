"""Robustness: the same questions as they are and perturbed, a row for each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.charts.names import id_prefixes, labels, reference
from harness.charts.sets import interval_notes_of, interval_of, title_of
from harness.charts.values import Chart, Point, RobustnessChart, StepsRow
from harness.codec import digest
from harness.leaderboard.build import differing, items_of, items_text, sort_key
from harness.leaderboard.rows import Row
from harness.storage.places import variant
from harness.tables.metrics import main_metrics
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of


@dataclass
class _Chain:
    """Runs that agree in everything but the perturbation."""

    rest: tuple[str, ...]
    """All that they agree in."""
    steps: Sequence[str]
    """All steps that a chain may have, in the order of charts."""
    by_step: dict[str, Row] = field(default_factory=dict)

    @property
    def first(self) -> Row:
        """The run of the first step that there is."""
        return next(self.by_step[step] for step in self.steps if step in self.by_step)

    def beside(self, other: _Chain) -> bool:
        """Return whether both may stand in one chart: the same labels, some step in both, and there the same items."""
        shared = [(items_of(row), items_of(other.by_step[s])) for s, row in self.by_step.items() if s in other.by_step]
        labels = {chain.first.result.headline for chain in (self, other)}
        return len(labels) == 1 and bool(shared) and all(mine == theirs for mine, theirs in shared)


def charts(task: str, rows: Sequence[Row], names: Mapping[int, str]) -> Iterator[Chart]:
    """Yield a chart for each metric and set of chains; `names` are the runs' by the id() of their rows."""
    chains = [chain for chain in _chains(rows, benchmark_of(task).perturbations) if len(chain.by_step) > 1]
    sets: list[list[_Chain]] = []
    for chain in sorted(chains, key=lambda chain: (chain.first.variant != "default", sort_key(chain.first))):
        for members in sets:
            if all(chain.beside(member) for member in members):
                members.append(chain)
                break
        else:
            sets.append([chain])
    prefixes = id_prefixes(task, [[_unperturbed(chain.first) for chain in members] for members in sets])
    for members, prefix, heading in zip(sets, prefixes, _headings(sets), strict=True):
        yield from _charts(task, prefix, heading, members, names)


def _chains(rows: Sequence[Row], perturbations: Mapping[str, str]) -> list[_Chain]:
    chains: list[_Chain] = []
    for row in rows:
        step = perturbations.get(str(row.settings.get(PERTURBATION, "none")))
        if step is None or not row.complete:
            continue
        rest = (_unperturbed_variant(row), row.prompt, row.model, row.folder, _unperturbed_digest(row))
        chain = next((other for other in chains if other.rest == rest and step not in other.by_step), None)
        if chain is None:
            chains.append(chain := _Chain(rest, list(perturbations.values())))
        chain.by_step[step] = row
    return chains


def _other_settings(row: Row) -> dict[str, Any]:
    """Return the settings of a run's task but for the perturbation."""
    return {name: value for name, value in row.settings.items() if name != PERTURBATION}


def _unperturbed_variant(row: Row) -> str:
    """Return the variant that the run has without its perturbation."""
    return variant(_other_settings(row)) if PERTURBATION in row.settings else row.variant


def _unperturbed_digest(row: Row) -> str:
    """Return the digest of the configuration but for the perturbation; nothing where it is not known."""
    return digest({**row.configuration, "task": _other_settings(row)}) if row.configuration else ""


def _headings(sets: Sequence[Sequence[_Chain]]) -> list[str]:
    """Return how each set differs from the others: where variant and labels do not tell, by the items of its steps."""
    if len(sets) == 1:
        return [""]
    plain = [
        "; ".join(differing({chain.rest[0] for chain in members}, [chain.first for chain in members]))
        for members in sets
    ]
    rows = [{step: row for chain in members for step, row in chain.by_step.items()} for members in sets]
    headings = []
    for heading, mine, members in zip(plain, rows, sets, strict=True):
        same = [other for name, other in zip(plain, rows, strict=True) if name == heading]
        own = [
            f"{step}: {items_text(mine[step])}"
            for step in members[0].steps
            if step in mine
            and any(step not in other or items_of(other[step]) != items_of(mine[step]) for other in same)
        ]
        headings.append("; ".join([heading, *own]))
    return headings


def _charts(
    task: str, prefix: str, heading: str, chains: Sequence[_Chain], names: Mapping[int, str]
) -> Iterator[Chart]:
    chains = sorted(chains, key=lambda chain: sort_key(chain.first))
    firsts = [chain.first for chain in chains]
    run_labels = labels([_unperturbed(row) for row in firsts])
    steps = [step for step in chains[0].steps if any(step in chain.by_step for chain in chains)]
    scores = [row.result.overall for chain in chains for row in chain.by_step.values()]
    for metric in dict.fromkeys(name for row in firsts for name in main_metrics(row.result.overall)):
        rows = [
            StepsRow(
                **reference(chain.first, names[id(chain.first)], label),
                points=[_point(chain.by_step.get(step), metric, names) for step in steps],
            )
            for chain, label in zip(chains, run_labels, strict=True)
        ]
        yield RobustnessChart(
            id=f"{prefix}/robustness/{metric}",
            task=task,
            heading=heading,
            title=f"{title_of(metric)} when the questions are perturbed",
            notes=interval_notes_of(scores),
            metric=metric,
            steps=steps,
            rows=rows,
        )


def _unperturbed(row: Row) -> Row:
    """Return the row with the variant and the settings that all of its chain share."""
    place = {**row.run.place, "variant": _unperturbed_variant(row)}
    manifest = {**row.run.manifest, "configuration": {**row.configuration, "task": _other_settings(row)}}
    return replace(row, run=replace(row.run, place=place, manifest=manifest))


def _point(row: Row | None, metric: str, names: Mapping[int, str]) -> Point | None:
    if row is None:
        return None
    overall = row.result.overall
    return Point(run=names[id(row)], value=overall[metric], interval=interval_of(overall, metric))
