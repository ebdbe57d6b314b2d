"""Believed worlds as tables: a row for each run, size or premise, and the graphs of one premise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Protocol

from harness.causal.sheets import marks
from harness.leaderboard.comparable import sort_key
from harness.plugins.beliefs.belief import Belief, Believed, Coherence, coherence
from harness.plugins.beliefs.classes import Premise, nearest_graphs, true_graph
from harness.scoring.bootstrap import FEWEST
from harness.storage.runs import Run
from harness.tables.numbers import percent_text
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tasks.corr2cause.text import LETTERS

Pairs = Sequence[tuple[Run, Believed]]
_NAMES = ("task", "model", "prompt", "variant", "source")


class Settings(Protocol):
    """What notes say of the command's settings."""

    @property
    def least(self) -> float: ...
    @property
    def shuffles(self) -> int: ...
    @property
    def seed(self) -> int: ...


def summary(pairs: Pairs, *, networks: bool, by_size: bool, settings: Settings) -> Iterator[Part]:
    """Yield the table of means, a line for each run and what was asked, and what is left out of it."""
    pairs = sorted(pairs, key=lambda pair: sort_key(pair[0]))
    names = _names([run for run, _ in pairs])
    lines = [
        Line([*_name_cells(run, names), Cell(group or "–", group), *_means(beliefs)], "", _identity(run))
        for run, believed in pairs
        for group, beliefs in _grouped(believed.beliefs, by_size=by_size)
    ]
    of = "question" if networks else "variables"
    columns = [*(Column(name, name) for name in names), Column(of, of), *_columns(networks)]
    spare = ["answers", "nearest", "answers_off", "yes"]
    shown = networks or by_size
    yield Table(
        columns=columns,
        lines=lines,
        above="Means over networks." if networks else "Means over premises.",
        notes=[*_notes(networks, settings), *_left_out(pairs, networks, settings.least)],
        heading="Nearest acyclic graphs" if networks else "Nearest equivalence classes",
        spare=spare,
        in_caption=() if shown else (of,),
    )


def _grouped(beliefs: Sequence[Belief], *, by_size: bool) -> Iterator[tuple[str, list[Belief]]]:
    """Yield the beliefs by what was asked, and by size where wanted; all together where there are none."""
    keys = {belief: " ".join(filter(None, (belief.group, str(belief.size) * by_size))) for belief in beliefs}
    for key in sorted(set(keys.values())) or [""]:
        yield key, [belief for belief in beliefs if keys[belief] == key]


def _columns(networks: bool) -> Iterator[Column]:
    yield Column("premises", "networks" if networks else "premises", "count")
    yield Column("answers", "answers", "metric")
    yield Column("yes", "Yes", "metric")
    yield Column("flips", "flips", "metric")
    yield Column("shuffled", "shuffled", "metric")
    yield Column("times", "times", "metric")
    yield Column("nearest", "nearest worlds", "metric")
    yield Column("answers_off", "answers off", "metric")
    yield Column("graph_off", "SHD", "metric")


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
    yield _times(means)
    yield _number(means.nearest)
    yield _number(means.answers_off)
    yield _number(means.graph_off)


def _number(value: float | None) -> Cell:
    return Cell("–" if value is None else f"{value:,.2f}", value)


def _times(means: Coherence) -> Cell:
    """Return the ratio; of one without any flips ∞, which files have as nothing."""
    if means.ratio is None:
        return Cell("–")
    value = None if means.ratio == inf else means.ratio
    if means.interval is None:
        return Cell(_ratio(means.ratio), value)
    low, high = means.interval
    return Cell(_ratio(means.ratio), value, None if high == inf else means.interval, f"[{_ratio(low)}, {_ratio(high)}]")


def _ratio(value: float) -> str:
    return "∞" if value == inf else f"{value:.2f}"


def _notes(networks: bool, settings: Settings) -> Iterator[str]:
    if networks:
        yield (
            "Flips: the fewest Yes to take back until no variable causes itself, exactly. Cause and influence ask for "
            "paths, which also have to follow from each other: for these it is the least that any world takes. "
            "Answers off and SHD: how far one nearest graph, of perhaps several, is from the true one."
        )
    else:
        yield (
            "Flips: the fewest answers to change until all are those of one equivalence class, of all labelled ones. "
            "Answers off, SHD: in how many of all hypotheses about a premise that class and the true one differ, and "
            "in how many pairs their essential graphs; where several are as near (nearest worlds), their mean."
        )
    yield (
        f"Shuffled: the flips of the same answers, shuffled among the questions of one relation about the same "
        f"{'network' if networks else 'premise'} ({settings.shuffles:,} times, seed {settings.seed}); times: how many "
        f"times as many that is, 95% over {'networks' if networks else 'premises'}, from {FEWEST} on. –: one answer "
        "to each relation everywhere, so that no shuffle changes anything."
    )


def _left_out(pairs: Pairs, networks: bool, least: float) -> Iterator[str]:
    """Yield for each run how many answers and premises tell nothing, where there are any."""
    of = "networks" if networks else "premises"
    large = "with more than 20 variables on cycles" if networks else "of other sizes than two to six variables"
    for run, believed in pairs:
        counts = {
            f"{of} whose relations have one answer each": sum(b.shuffled is None for b in believed.beliefs),
            f"{of} with answers to less than {100 * least:g}% of all hypotheses (least=)": believed.too_few,
            f"{of} {large}": believed.too_large,
            "answers that cannot be read, or are not there": believed.unread,
            "hypotheses answered with both Yes and No": believed.contradicting,
            "items that name no class": believed.unknown,
        }
        if parts := [f"{number:,} {what}" for what, number in counts.items() if number]:
            yield f"{run.model} ({run.variant}) is without {'; '.join(parts)}."


def per_premise(pairs: Pairs, *, networks: bool) -> Iterator[Part]:
    """Yield the table with a line for each premise of each run."""
    names = _names([run for run, _ in pairs])
    of = "network" if networks else "premise"
    columns = [*(Column(name, name) for name in names), Column(of, of), *([Column("question", "question")] * networks)]
    columns += [column for column in _columns(networks) if column.name not in ("premises", "times")]
    lines = []
    for run, believed in pairs:
        for belief in believed.beliefs:
            cells = [*_name_cells(run, names), Cell(belief.name, belief.name)]
            cells += [Cell(belief.group, belief.group)] * networks
            lines.append(Line([*cells, *_of_premise(belief)], "", _identity(run)))
    yield Table(columns=columns, lines=lines, notes=["–: one answer to each relation: nothing to compare with."])


def _of_premise(belief: Belief) -> Iterator[Cell]:
    share = belief.yes / belief.answers
    yield Cell(f"{belief.answers:,}", belief.answers)
    yield Cell(percent_text(share), share)
    if belief.shuffled is None:
        yield from [Cell("–")] * 5
        return
    yield Cell(f"{belief.flips:,}", belief.flips)
    yield _number(belief.shuffled)
    yield Cell("–" if belief.nearest is None else f"{belief.nearest:,}", belief.nearest)
    yield _number(belief.answers_off)
    yield _number(belief.graph_off)


def graphs(premises: Sequence[tuple[Run, Premise]]) -> list[Part]:
    """Return the table of a premise's pairs: what joins them in the true class, and in the nearest one of each run."""
    first = premises[0][1]
    true = list(marks(first.n, true_graph(first)))
    names = _names([run for run, _ in premises])
    columns = [Column("true", "true class")]
    shown = [[_edge(*mark) for mark in true]]
    notes = []
    for run, premise in premises:
        nearest = nearest_graphs(premise)
        title = " ".join(str(getattr(run, name)) for name in names)
        columns.append(Column(title, title))
        edges = list(marks(premise.n, nearest[0]))
        shown.append([_edge(*mark) + "  ≠" * (mark != other) for mark, other in zip(edges, true, strict=True)])
        if len(nearest) > 1:
            notes.append(f"{title}: {len(nearest):,} classes are as near; this is the one nearest to the true class.")
    lines = [Line([Cell(text, text) for text in row]) for row in zip(*shown, strict=True) if any(map(str.strip, row))]
    above = f"{first.name}, letters as in the ids of items: → a cause in every graph, – a cause one way or the other."
    return [Table(columns=columns, lines=lines, above=above, notes=notes)]


def _edge(i: int, j: int, mark: str) -> str:
    return f"{LETTERS[i]} {mark} {LETTERS[j]}" if mark else ""


def _names(runs: Sequence[Run]) -> list[str]:
    """Return what tells the runs apart, the model in any case; the folder only where nothing else does."""
    names = [name for name in _NAMES if name == "model" or len({getattr(run, name) for run in runs}) > 1]
    rest = [name for name in names if name != "source"]
    return rest if len({tuple(getattr(run, name) for name in rest) for run in runs}) == len(runs) else names


def _name_cells(run: Run, names: Sequence[str]) -> list[Cell]:
    return [Cell(str(getattr(run, name)), str(getattr(run, name))) for name in names]


def _identity(run: Run) -> dict[str, str]:
    return {"model": run.model, "prompt": run.prompt, "variant": run.variant}
