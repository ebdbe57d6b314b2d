"""Do a model's answers about one premise fit any world, and which one: harness beliefs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Literal

from pydantic import Field

from harness.cli import key_value
from harness.errors import ConfigError, DataError, unknown
from harness.leaderboard.comparable import find_runs
from harness.leaderboard.rows import of_other_rules
from harness.scoring.bootstrap import FEWEST
from harness.storage.runs import Run
from harness.tables.numbers import percent_text
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tables.write import form_of, write
from harness.tasks.benchmark import benchmark_of
from harness.tasks.corr2cause.text import LETTERS
from harness_lab.beliefs import (
    Belief,
    Believed,
    Premise,
    believe,
    coherence,
    nearest_graphs,
    premises,
    records_of,
    true_graph,
)
from harness_lab.sheets import LARGEST, marks

HELP = """\
Do a model's answers about one premise fit any world? Which one, and how far is that from the true one?

  harness task.split=all task.whole=true task.num_nodes=5 task.limit=100 task.perturbation=permutation model=gpt4o
  harness beliefs results                         the runs below a folder: a row for each
  harness beliefs RUN per=premise                 a row for each premise
  harness beliefs RUN OTHER premise=n5-g117       the graphs believed in beside the true one

Of all labelled Markov equivalence classes over as many variables (up to six) it is the one whose answers to all
hypotheses of Corr2Cause are nearest to the model's; flips are the answers to change.
Flips alone mislead: who always says No needs none. So beside them are those of the same answers shuffled among the
questions of one relation about the same premise, and `times` is how many times as many these need, with its interval
over premises: 1 is a model whose answers hang together no more than that. Where each relation has one answer there is
nothing to compare with, and no number.

  model=, prompt=, variant=     which runs: names or globs
  least=0.5                     the share of a premise's hypotheses that need an answer; fewer fit some world anyway
  shuffles=100                  of each premise
  seed=0                        draws them
  out=                          a file to write: .md, .csv or .json
"""


@dataclass(frozen=True)
class BeliefSettings:
    """Settings of the command, each explained in HELP."""

    model: str | None = None
    prompt: str | None = None
    variant: str | None = None
    least: Annotated[float, Field(ge=0, le=1)] = 0.5
    shuffles: Annotated[int, Field(ge=1, le=10_000)] = 100
    seed: Annotated[int, Field(ge=0)] = 0
    per: Literal["run", "premise"] = "run"
    premise: str | None = None
    out: str | None = None


Pairs = Sequence[tuple[Run, Believed]]
_NAMES = ("task", "model", "prompt", "variant", "source")


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, BeliefSettings, job, arguments)


def job(arguments: list[str], settings: BeliefSettings) -> list[Part]:
    """Return the tables of all runs, or the graphs of one premise, and write them where settings say so."""
    if settings.out is not None:
        form_of(settings.out)
    rows = find_runs(arguments or ["results"], model=settings.model, prompt=settings.prompt, variant=settings.variant)
    runs = [run for run in rows if benchmark_of(run.task).name == "corr2cause"]
    if not runs:
        raise ConfigError(
            f"none of the {len(rows):,} runs asks about premises of Corr2Cause: "
            "harness task.split=all task.whole=true task.num_nodes=5 makes one."
        )
    parts = [_graphs(runs, settings.premise)] if settings.premise else _tables(runs, settings)
    parts += of_other_rules(runs)
    if settings.out is not None:
        write(parts, settings.out, "Believed worlds")
    return parts


def _tables(runs: Sequence[Run], settings: BeliefSettings) -> list[Part]:
    pairs: list[tuple[Run, Believed]] = []
    left_out: list[DataError] = []
    for run in runs:
        try:
            records = records_of(run)
            believed = believe(records, least=settings.least, number=settings.shuffles, seed=settings.seed)
        except DataError as error:
            left_out.append(error)
        else:
            pairs.append((run, believed))
    if not pairs:
        raise left_out[0]
    table = _per_premise(pairs) if settings.per == "premise" else _summary(pairs, settings)
    return [table, *(f"Left out: {error}" for error in left_out)]


def _summary(pairs: Pairs, settings: BeliefSettings) -> Table:
    """Return the table of means, a line for each run, and what is left out of it."""
    names = _names([run for run, _ in pairs])
    lines = [Line([*_name_cells(run, names), *_means(believed.beliefs)], run.place) for run, believed in pairs]
    notes = [
        "Flips: the fewest answers to change until all are those of one equivalence class, of all labelled ones. "
        "Answers off, SHD: in how many of all hypotheses about a premise that class and the true one differ, and "
        "in how many pairs their essential graphs; where several are as near (nearest worlds), their mean.",
        f"Shuffled: the flips of the same answers, shuffled among the questions of one relation about the same "
        f"premise ({settings.shuffles:,} times, seed {settings.seed}); times: how many times as many that is, 95% over "
        f"premises, from {FEWEST} on. –: one answer to each relation everywhere, so that no shuffle changes anything.",
    ]
    return Table(
        columns=[*(Column(name, name) for name in names), *_columns()],
        lines=lines,
        above="Means over premises.",
        notes=[*notes, *_left_out(pairs, settings.least)],
        heading="Nearest equivalence classes",
        spare=["answers", "nearest", "answers_off", "yes"],
    )


def _columns() -> list[Column]:
    titles = {"premises": "premises", "answers": "answers", "yes": "Yes", "flips": "flips", "shuffled": "shuffled"}
    titles |= {"times": "times", "nearest": "nearest worlds", "answers_off": "answers off", "graph_off": "SHD"}
    return [Column(name, title, "count" if name == "premises" else "metric") for name, title in titles.items()]


def _means(beliefs: Sequence[Belief]) -> Iterator[Cell]:
    """Yield the cells of a line: dashes for all but the share of Yes where there is nothing to compare with."""
    means, asked = coherence(beliefs), sum(belief.answers for belief in beliefs)
    share = sum(belief.yes for belief in beliefs) / asked if asked else None
    if means is None:
        yield from (Cell("0", 0), Cell("–"), Cell(percent_text(share), share), *[Cell("–")] * 6)
        return
    yield Cell(f"{means.premises:,}", means.premises)
    yield Cell(f"{means.answers:.1f}", means.answers)
    yield Cell(percent_text(share), share)
    yield _number(means.flips)
    yield _number(means.shuffled)
    yield _times(means.ratio, means.interval)
    yield _number(means.nearest)
    yield _number(means.answers_off)
    yield _number(means.graph_off)


def _number(value: float) -> Cell:
    return Cell(f"{value:,.2f}", value)


def _times(ratio: float | None, interval: tuple[float, float] | None) -> Cell:
    """Return the ratio; of one without any flips ∞, which files have as nothing."""
    if ratio is None:
        return Cell("–")
    value = None if ratio == inf else ratio
    if interval is None:
        return Cell(_ratio(ratio), value)
    low, high = interval
    return Cell(_ratio(ratio), value, None if high == inf else interval, f"[{_ratio(low)}, {_ratio(high)}]")


def _ratio(value: float) -> str:
    return "∞" if value == inf else f"{value:.2f}"


def _left_out(pairs: Pairs, least: float) -> Iterator[str]:
    """Yield for each run how many answers and premises tell nothing, where there are any."""
    for run, believed in pairs:
        counts = {
            "premises whose relations have one answer each": sum(b.shuffled is None for b in believed.beliefs),
            f"premises with answers to less than {100 * least:g}% of all hypotheses (least=)": believed.too_few,
            "premises of other sizes than two to six variables": believed.too_large,
            "answers that cannot be read, or are not there": believed.unread,
            "hypotheses answered with both Yes and No": believed.contradicting,
        }
        if parts := [f"{number:,} {what}" for what, number in counts.items() if number]:
            yield f"{run.model} ({run.variant}) is without {'; '.join(parts)}."


def _per_premise(pairs: Pairs) -> Table:
    """Return the table with a line for each premise of each run."""
    names = _names([run for run, _ in pairs])
    columns = [*(Column(name, name) for name in names), Column("premise", "premise")]
    columns += [column for column in _columns() if column.name not in ("premises", "times")]
    lines = [
        Line([*_name_cells(run, names), Cell(belief.premise, belief.premise), *_of_premise(belief)], run.place)
        for run, believed in pairs
        for belief in believed.beliefs
    ]
    return Table(columns=columns, lines=lines, notes=["–: one answer to each relation: nothing to compare with."])


def _of_premise(belief: Belief) -> Iterator[Cell]:
    share = belief.yes / belief.answers
    yield Cell(f"{belief.answers:,}", belief.answers)
    yield Cell(percent_text(share), share)
    if belief.shuffled is None:
        yield from [Cell("–")] * 5
        return
    yield Cell(f"{belief.flips:,}", belief.flips)
    yield _number(belief.shuffled)
    yield Cell(f"{belief.nearest:,}", belief.nearest)
    yield _number(belief.answers_off)
    yield _number(belief.graph_off)


def _graphs(runs: Sequence[Run], name: str) -> Table:
    """Return the table of a premise's pairs: what joins them in the true class, and in the nearest one of each run."""
    found: list[tuple[Run, Premise]] = []
    known: dict[str, None] = {}
    for run in runs:
        of_run = {premise.name: premise for premise in premises(records_of(run), Believed())}
        known |= dict.fromkeys(of_run)
        found += [(run, of_run[name])] if name in of_run and of_run[name].settled else []
    if not found:
        raise ConfigError(unknown("premise", name, sorted(known)[:20]))
    first = found[0][1]
    if not 2 <= first.n <= LARGEST:
        raise ConfigError(f"premise={name} has {first.n} variables; all classes are looked through up to {LARGEST}.")
    true = list(marks(first.n, true_graph(first)))
    names, columns, notes = _names([run for run, _ in found]), [Column("true", "true class")], list[str]()
    shown = [[_edge(*mark) for mark in true]]
    for run, premise in found:
        nearest = nearest_graphs(premise)
        title = " ".join(str(getattr(run, name)) for name in names)
        columns.append(Column(title, title))
        edges = list(marks(premise.n, nearest[0]))
        shown.append([_edge(*mark) + "  ≠" * (mark != other) for mark, other in zip(edges, true, strict=True)])
        if len(nearest) > 1:
            notes.append(f"{title}: {len(nearest):,} classes are as near; this is the one nearest to the true class.")
    lines = [Line([Cell(text, text) for text in row]) for row in zip(*shown, strict=True) if any(map(str.strip, row))]
    above = f"{name}, letters as in the ids of items: → a cause in every graph, – a cause one way or the other."
    return Table(columns=columns, lines=lines, above=above, notes=notes)


def _edge(i: int, j: int, mark: str) -> str:
    return f"{LETTERS[i]} {mark} {LETTERS[j]}" if mark else ""


def _names(runs: Sequence[Run]) -> list[str]:
    """Return what tells the runs apart, the model in any case; the folder only where nothing else does."""
    names = [name for name in _NAMES if name == "model" or len({getattr(run, name) for run in runs}) > 1]
    rest = [name for name in names if name != "source"]
    return rest if len({tuple(getattr(run, name) for name in rest) for run in runs}) == len(runs) else names


def _name_cells(run: Run, names: Sequence[str]) -> list[Cell]:
    return [Cell(str(getattr(run, name)), str(getattr(run, name))) for name in names]


if __name__ == "__main__":
    sys.exit(main())
