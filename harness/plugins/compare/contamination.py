"""How much of a model's score is gone where the same questions have other names: harness contamination."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cli import key_value
from harness.errors import ConfigError
from harness.leaderboard.chains import RunSetting, Series, chains_of
from harness.leaderboard.comparable import find_runs, of_other_rules, select_runs
from harness.plugins.compare.by_setting import differences_to_first
from harness.plugins.compare.measure import holm
from harness.plugins.compare.paired import Difference
from harness.plugins.compare.runs import Loader, making
from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.definitions import definition, main_metrics
from harness.storage.atomic_write import atomic_file, check
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.numbers import metric_text, p_text, signed_text
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of

HELP = """\
Published questions against twins of them under other names: how much of a score is gone?

  harness contamination                    every model with both, of the runs below results/
  harness contamination A B model='gpt*'   of several folders, some models
  harness -m model=gpt4 task.perturbation=none,permutation,refactorization        makes the runs

A twin asks of the same graph with the same answer: permutation (the same letters change places), refactorization
(other letters), varied (places, letters and words are drawn). Items pair by their ids; intervals and p are over whole
premises.
The gap is the original's score less the twin's. It holds what rests on the names, remembered or fitted, and on their
order. One that remembers the answers under any names has no gap; and where a model gives one answer to all twins, as it
may where it cannot read their letters, nothing can be said.

  model=, prompt=, variant=     which runs: names or globs (the variant of the original)
  out=                          a file to write: .md, .csv or .json
"""
TWINS = {
    "permutation": "the same letters have changed places",
    "refactorization": "other letters stand for the variables",
    "varied": "places, letters and words are drawn anew",
}
"""Perturbations that keep each question and its answer, and change names, by what they do."""
_SETTING = RunSetting("task", PERTURBATION)


@dataclass(frozen=True)
class ContaminationSettings:
    """Settings of the command, each explained in HELP."""

    model: str | None = None
    prompt: str | None = None
    variant: str | None = None
    out: str | None = None


@dataclass(frozen=True)
class Gap:
    """A model's runs on the original and on one twin, and their differences (twin less original) by metric."""

    chain: Series
    twin: str
    differences: Mapping[str, Difference | str]
    p_holm: float | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, ContaminationSettings, job, arguments)


def job(arguments: list[str], settings: ContaminationSettings) -> list[Part]:
    """Return the table, a sentence for each model, and the commands that make what is missing."""
    if settings.out is not None:
        if Path(settings.out).suffix not in (".md", ".csv", ".json"):
            raise ConfigError(f"out={settings.out}: the name has to end in .md, .csv or .json.")
        check(settings.out)
    rows = [row for row in find_runs(arguments or ["results"]) if _has_twins(row)]
    rows = select_runs(rows, model=settings.model, prompt=settings.prompt)
    original = next(iter(benchmark_of(rows[0].task).perturbations.values())) if rows else ""
    chains = chains_of(rows, _SETTING)
    if settings.variant is not None:
        originals = [chain.by_step[original] for chain in chains if original in chain.by_step]
        wanted = select_runs(originals, variant=settings.variant)
        chains = [chain for chain in chains if any(row is chain.by_step.get(original) for row in wanted)]
    gaps = _gaps(chains, original)
    parts: list[Part] = [_table(gaps, original), "\n".join(_sentences(gaps)), _METHOD] if gaps else []
    if commands := list(_missing(chains, original)):
        parts.append("\n".join(["Missing, and what makes it:", "", *(f"    {command}" for command in commands)]))
    parts += of_other_rules([row for chain in chains for row in chain.by_step.values()])
    if not parts:
        raise ConfigError(
            "there is no run on questions with twins: harness -m task.perturbation=none,permutation makes some."
        )
    if settings.out is not None:
        tables = [part for part in parts if isinstance(part, Table)]
        written = {".md": lambda: f"# Contamination\n\n{markdown(parts)}", ".csv": lambda: as_csv(tables)}
        with atomic_file(settings.out) as file:
            file.write(f"{written.get(Path(settings.out).suffix, lambda: as_json(tables))()}\n")
    return parts


_METHOD = (
    f"Gap: the original less the twin, in points, on the same questions; 95% over {RESAMPLES:,} resamples of whole "
    "premises, p from swapping the two in whole premises, Holm over the table. It tells that a score rests on names or "
    "their order, not whether these were remembered or fitted; and no gap is no proof that the answers were never seen."
)


def _has_twins(row: Run) -> bool:
    """Return whether a run is on the public test split of a benchmark whose questions can have other names."""
    return (
        bool(TWINS.keys() & benchmark_of(row.task).perturbations.keys()) and row.settings.get("split", "test") == "test"
    )


def _gaps(chains: Sequence[Series], original: str) -> list[Gap]:
    gaps, load = [], Loader()
    for chain in chains:
        twins = [twin for twin in TWINS if twin in chain.by_step]
        if original in chain.by_step and twins:
            measured = differences_to_first(chain, [original, *twins], _metrics(chain), load)
            gaps += [Gap(chain, twin, {name: measured[twin, name] for name in _metrics(chain)}) for twin in twins]
    leading = [gap.differences[_metrics(gap.chain)[0]] for gap in gaps]
    corrected = holm([d.p if isinstance(d, Difference) else None for d in leading])
    return [Gap(gap.chain, gap.twin, gap.differences, p) for gap, p in zip(gaps, corrected, strict=True)]


def _metrics(chain: Series) -> tuple[str, str]:
    return main_metrics(chain.first.result.overall)


def _table(gaps: Sequence[Gap], original: str) -> Table:
    """Return a row for each model and twin."""
    metrics = _metrics(gaps[0].chain)
    names = ["model", *(["prompt"] if len({gap.chain.first.prompt for gap in gaps}) > 1 else [])]
    variants = {id(gap.chain): _SETTING.other_variant(gap.chain.first) for gap in gaps}
    names += ["variant"] if len(set(variants.values())) > 1 else []
    columns = [Column(name, name) for name in (*names, "twin")]
    for name in metrics:
        title = definition(name).title
        columns += [Column(f"{name}/original", title, "metric"), Column(f"{name}/twin", "twin", "metric")]
        columns.append(Column(f"{name}/gap", f"gap in {title}", "metric"))
    columns.append(Column("p_holm", "p (Holm)", "metric"))
    lines = []
    for gap in gaps:
        first = gap.chain.first
        identity = {"model": first.model, "prompt": first.prompt, "variant": variants[id(gap.chain)]}
        cells = [*(Cell(identity[name], identity[name]) for name in names), Cell(gap.twin, gap.twin)]
        for name in metrics:
            cells += _cells(gap, original, name)
        lines.append(Line([*cells, Cell(p_text(gap.p_holm), gap.p_holm)], "", identity, ranked=first.ranked))
    return Table(gaps[0].chain.first.task, columns, lines, above="Best first, metrics in percent.")


def _cells(gap: Gap, original: str, metric: str) -> Iterator[Cell]:
    scores = [gap.chain.by_step[step].result.overall[metric] for step in (original, gap.twin)]
    yield from (Cell(metric_text(metric, score), score) for score in scores)
    difference = gap.differences[metric]
    if not isinstance(difference, Difference) or difference.value is None:
        yield Cell(f"– {difference}" if isinstance(difference, str) else "–")
        return
    ends = _ends(difference)
    shown = f"[{signed_text(ends[0], 1)}, {signed_text(ends[1], 1)}]" if ends else ""
    lost = 0.0 - difference.value  # which is never −0
    yield Cell(signed_text(lost), lost, ends, shown)


def _ends(difference: Difference) -> tuple[float, float] | None:
    """Return the interval of what is lost."""
    return (-difference.interval[1], -difference.interval[0]) if difference.interval else None


def _sentences(gaps: Sequence[Gap]) -> Iterator[str]:
    """Yield a sentence for each model, prompt and variant."""
    for chain in dict.fromkeys(id(gap.chain) for gap in gaps):
        yield _sentence([gap for gap in gaps if id(gap.chain) == chain])


def _sentence(gaps: Sequence[Gap]) -> str:
    """Return what a model loses under other names, or that it loses no more than chance can make."""
    chain = gaps[0].chain
    metric = _metrics(chain)[0]
    first, title = chain.first, definition(metric).title
    several = _SETTING.other_variant(first)
    name = f"{first.model} ({', '.join([first.prompt, *([several] if several != 'default' else [])])})"
    alike = [gap for gap in gaps if _one_answer(gap)]
    pairs = [(gap, gap.differences[metric]) for gap in gaps if gap not in alike]
    measured = [(gap, d) for gap, d in pairs if isinstance(d, Difference) and d.value is not None]
    said = "; ".join(f"where {TWINS[gap.twin]} it gives one answer to all, which tells nothing" for gap in alike)
    if not measured:
        return f"{name}: {said or f'nothing can be said, as the runs cannot be paired or {title} is undefined'}."
    lost = [(gap, d) for gap, d in measured if (d.value or 0) < 0 and gap.p_holm is not None and gap.p_holm <= 0.05]
    points = " and ".join(_points(d, title, TWINS[gap.twin]) for gap, d in lost or measured)
    meaning = ": that much of its score rests on names that it has seen, or on their order"
    verb = "loses" if lost else "loses no more than chance can make:"
    return f"{name} {verb} {points}{meaning if lost else ''}{f'; {said}' if said else ''}."


def _one_answer(gap: Gap) -> bool:
    """Return whether the twin's questions all had the same answer, or none that could be read."""
    counts = gap.chain.by_step[gap.twin].result.overall.confusion
    yes, no = (counts.get(a, 0) + counts.get(b, 0) for a, b in (("tp", "fp"), ("fn", "tn")))
    return 0 in (yes, no)


def _points(difference: Difference, title: str, where: str) -> str:
    ends = _ends(difference)
    interval = f" [{', '.join(f'{100 * end:.1f}'.replace('-', '−') for end in ends)}]" if ends else ""
    lost = f"{0 - 100 * (difference.value or 0):.1f}".replace("-", "−")
    return f"{lost} points of {title}{interval} where {where}"


def _missing(chains: Sequence[Series], original: str) -> Iterator[str]:
    """Yield the command that makes what a language model lacks, one of them for each chain."""
    for chain in chains:
        there = [twin for twin in TWINS if twin in chain.by_step]
        missing = [*(["none"] if original not in chain.by_step else []), *(twin for twin in TWINS if twin not in there)]
        if chain.first.role != "model" or (not there and original not in chain.by_step) or missing == ["varied"]:
            continue
        yield _command(chain.first, missing)


def _command(run: Run, missing: Sequence[str]) -> str:
    settings: dict[str, Any] = {**_SETTING.other_settings(run)}
    if missing != ["none"]:
        settings[PERTURBATION] = ",".join(missing)
    command = making(run.model, run.task, run.variant, run.prompt, settings)
    return command.replace("harness ", "harness -m ", 1) if len(missing) > 1 else command


if __name__ == "__main__":
    sys.exit(main())
