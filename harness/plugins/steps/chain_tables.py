"""Tables of replies to CausalBench's chains of causes: their claims, and which link they say wrongly first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from harness.errors import DataError
from harness.plugins.steps.chains import CHAINS, MEASURES, PLACES, JudgedChain, chain_scores, judged_chains
from harness.plugins.steps.runs import called
from harness.plugins.steps.told_tables import TRACE
from harness.plugins.steps.wording import in_words
from harness.storage.runs import Run
from harness.tables.numbers import metric_cell
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tasks.causalbench.chains import KINDS
from harness.types import Record, Scores

DEFAULT_BY = ("kind",)
Judged = Sequence[tuple[Run, Sequence[tuple[Record, JudgedChain]]]]


def judged_runs(runs: Sequence[Run], trust: Collection[str]) -> Judged:
    """Return the judged replies of each run; those that argue nowhere, and were not asked to, are left out.

    Raises DataError if all are so.
    """
    everything = [(run, list(judged_chains(run, trust))) for run in runs]
    kept = [
        (run, replies)
        for run, replies in everything
        if any(judged.claims for _, judged in replies) or (replies and run.prompt == TRACE)
    ]
    if not kept:
        raise DataError(f"no reply of these runs has claims that can be read: prompt={TRACE} asks for some.")
    return kept


def chain_tables(judged: Judged, by: Sequence[str] | None) -> list[Part]:
    """Return how the claims of each run fare, the links that are wrong first, and where replies break first."""
    return [_claims(judged), *_remarks(judged), _breaks(judged, DEFAULT_BY if by is None else by)]


def _claims(judged: Judged) -> Table:
    columns = [Column("run", "run"), Column("replies", "replies", "count")]
    columns += [Column(name, title, "metric") for name, title in MEASURES.items()]
    lines = []
    for run, replies in judged:
        cells = [Cell(_name(run, judged)), Cell(f"{len(replies):,}", len(replies))]
        lines.append(Line([*cells, *_cells(_overall(replies), MEASURES)], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading=f"Claims about chains, {CHAINS}", notes=[_NOTE])


def _breaks(judged: Judged, by: Sequence[str]) -> Table:
    places = {f"at {name}": title for name, title in PLACES.items()}
    columns = [Column("run", "run"), Column("group", "group")]
    columns += [Column(name, title, "metric", over="breaks first at") for name, title in places.items()]
    lines = []
    for run, replies in judged:
        for group, row in _groups(replies, by):
            cells = [Cell(_name(run, judged)), Cell(group), *_cells(row, places)]
            lines.append(Line(cells, run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading=f"Where it breaks first, {CHAINS}")


_NOTE = (
    "Shares in percent, means over replies, with 95% intervals over questions. A claim that X causes Y is right where "
    "the links lead from X to Y, its denial where they do not. Links said: of the links of the chain those that the "
    "reply says. Other claims are not judged."
)


def chain_shares(judged: Judged) -> dict[str, list[float]]:
    """Return of each run how many of its replies with claims break first at each of PLACES, as shares."""
    rows = [(_name(run, judged), _overall(replies)) for run, replies in judged]
    return {name: [row[f"at {place}"] or 0 for place in PLACES] for name, row in rows}


def _name(run: Run, judged: Judged) -> str:
    return called(run, [other for other, _ in judged])


def _overall(replies: Sequence[tuple[Record, JudgedChain]]) -> Scores:
    return chain_scores(replies, {})["overall"]["all"]


def _groups(replies: Sequence[tuple[Record, JudgedChain]], by: Sequence[str]) -> Iterator[tuple[str, Scores]]:
    known = {name: sorted({record.groups[name] for record, _ in replies if name in record.groups}) for name in by}
    known |= {name: sorted(groups, key=int) for name, groups in known.items() if name == "length"}
    orders = {name: KINDS if name == "kind" else groups for name, groups in known.items()}
    for breakdown, rows in chain_scores(replies, orders).items():
        for group, row in rows.items():
            yield "all" if breakdown == "overall" else f"{breakdown} {group}", row


def _cells(row: Scores, names: Collection[str]) -> list[Cell]:
    metrics = [row.metric(name) for name in names]
    return [metric_cell(metric) if metric else Cell("–") for metric in metrics]


def _remarks(judged: Judged) -> Iterator[str]:
    """Yield a sentence for each run that says something wrong: its first wrong claims."""
    for run, replies in judged:
        first = Counter(
            in_words(one.claims[one.broken].statement, one.links.names) for _, one in replies if one.broken is not None
        )
        if first:
            claims = ", ".join(f"{claim} ({number:,})" for claim, number in first.most_common(4))
            yield f"{_name(run, judged)}: the first wrong claim is mostly {claims}."
