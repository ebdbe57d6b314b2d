"""Where the reasoning of models breaks: harness steps results/…, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, DataError
from harness.leaderboard.comparable import find_runs
from harness.scoring.means import scores_of_means
from harness.storage.runs import Run
from harness.tables.numbers import interval_text, percent_text
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tables.write import form_of, write
from harness.tasks.corr2cause.task import ORDERS
from harness.types import Metric, Scores
from harness_lab.steps import MEASURES, PLACES, StepScores, scores_of

HELP = """\
Where does the reasoning break? The numbered claims of replies, each judged by what the premise entails.

  harness model=gpt4 task=corr2cause/fresh prompt=trace task.limit=200        makes a run that argues in claims
  harness steps results/… by=relation                                         runs, or folders above

prompt=trace asks for claims in a small grammar, each with what it rests on. A claim is entailed (true in every graph
that fits the premise), open (in some), refuted (in none). It is a leap where it does not follow from the claims that it
names and, where it names the premise, from what that says of their variables. Looked at are all graphs, up to six
variables.

  by=relation,num_nodes         breakdowns of where replies break first
  model=, prompt=, variant=     which runs: names or globs
  out=                          a file to write: .md, .csv or .json
"""


@dataclass(frozen=True)
class StepsSettings:
    """The command's settings; HELP says what each one means."""

    by: Words = ("relation", "num_nodes")
    model: str | None = None
    prompt: str | None = None
    variant: str | None = None
    out: str | None = None


Scored = Sequence[tuple[Run, StepScores]]


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, StepsSettings, job, arguments)


def job(folders: list[str], settings: StepsSettings) -> list[Part]:
    """Return the tables, and write them where settings say so."""
    if settings.out is not None:
        form_of(settings.out)
    runs = find_runs(folders or ["results"], model=settings.model, prompt=settings.prompt, variant=settings.variant)
    scored, problems = list[tuple[Run, StepScores]](), list[DataError]()
    for run in runs:
        try:
            scores = scores_of(run)
        except DataError as error:
            problems.append(error)
            continue
        if scores.claims or (scores.replies and run.prompt == "trace"):
            scored.append((run, scores))
    if not scored:
        none = DataError("no reply of these runs has claims that can be read: prompt=trace asks for some.")
        raise problems[0] if problems else none
    parts: list[Part] = [_verdicts(scored), *_remarks(scored), _breaks(scored, settings.by)]
    parts += [f"Left out: {problem}" for problem in problems]
    if settings.out is not None:
        write(parts, settings.out, "Steps")
    return parts


def _means(scores: StepScores, orders: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Scores]]:
    return scores_of_means(scores.rows, [*MEASURES, *(f"at {name}" for name in PLACES)], orders)


def _name(run: Run, scored: Scored) -> str:
    """Return what a run is called among others: its model, and what else tells it from them."""
    parts = ("model", "prompt", "variant", "task")
    telling = [part for part in parts if part == "model" or len({other.place[part] for other, _ in scored}) > 1]
    return ", ".join(run.place[part] for part in telling)


def _verdicts(scored: Scored) -> Table:
    """Return a row for each run: how much of its replies could be read, and how its claims fare."""
    of_claims = dict.fromkeys(("entailed", "open", "refuted", "leaps"), "of the claims")
    columns = [Column("run", "run"), Column("replies", "replies", "count"), Column("claims", "claims", "count")]
    columns += [Column(name, title, "metric", over=of_claims.get(name, "")) for name, title in MEASURES.items()]
    lines = []
    for run, scores in scored:
        row = _means(scores, {})["overall"]["all"]
        counts = [Cell(f"{number:,}", number) for number in (scores.replies, scores.claims)]
        metrics = [_cell(row.metric(name)) for name in MEASURES]
        lines.append(Line([Cell(_name(run, scored)), *counts, *metrics], run=run.place, ranked=False))
    note = (
        "Shares in percent, means over replies, with 95% intervals over premises. Entailed, open and refuted are of "
        "all claims, leaps of those that name what they rest on. Right, chain unsound: of right answers with claims, "
        "those with a claim that the premise does not entail. Sound chain, wrong answer: of chains that it entails "
        "throughout."
    )
    return Table(columns=columns, lines=lines, heading="Claims", notes=[note], spare=("right", "read", "argued"))


def _breaks(scored: Scored, by: Sequence[str]) -> Table:
    """Return where replies break first, overall and in each group of the breakdowns. Raises ConfigError for others."""
    known = {name for _, scores in scored for row in scores.rows for name, _ in row.groups}
    if unknown_names := [name for name in by if name not in known]:
        raise ConfigError(f"by={unknown_names[0]}: the replies have the breakdowns {', '.join(sorted(known))}.")
    columns = [Column("run", "run"), Column("group", "group"), Column("items", "replies with claims", "count")]
    columns += [Column(f"at {name}", name, "metric", over="breaks first at") for name in PLACES]
    lines: list[Line] = []
    for run, scores in scored:
        groups = {name: sorted({group for row in scores.rows for at, group in row.groups if at == name}) for name in by}
        means = _means(scores, {name: ORDERS.get(name) or of for name, of in groups.items()})
        for breakdown, rows in means.items():
            for group, row in rows.items():
                title = "all" if breakdown == "overall" else f"{breakdown.replace('_', ' ')} {group}"
                lines.append(_break_line(run, _name(run, scored), title, row))
    note = (
        "Of the replies with claims: the kind of the first claim that the premise does not entail; last line: all "
        "claims are entailed and the answer is wrong; nowhere: neither."
    )
    return Table(columns=columns, lines=lines, heading="Where it breaks first", notes=[note])


def _break_line(run: Run, name: str, title: str, row: Scores) -> Line:
    count = round((row["argued"] or 0) * row.items)
    cells = [_cell(row.metric(f"at {place}")) for place in PLACES]
    return Line([Cell(name), Cell(title), Cell(f"{count:,}", count), *cells], run=run.place, ranked=False)


def _cell(metric: Metric | None) -> Cell:
    if metric is None:
        return Cell("–")
    return Cell(percent_text(metric.value), metric.value, metric.interval, interval_text(metric.interval))


def _remarks(scored: Scored) -> Iterator[str]:
    """Yield a sentence for each run with claims of which nothing can be said but their verdict."""
    for run, scores in scored:
        others = {name: count for name, count in scores.supports.items() if name not in ("follows", "leap")}
        if others:
            counts = ", ".join(f"{name} {count:,}" for name, count in sorted(others.items()))
            yield f"{_name(run, scored)}: neither following nor a leap: {counts}."


if __name__ == "__main__":
    sys.exit(main())
