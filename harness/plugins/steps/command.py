"""Where the reasoning of models breaks: harness steps results/…, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, DataError
from harness.leaderboard.comparable import find_runs, select_runs
from harness.plugins.steps.asked_tables import asked_tables
from harness.plugins.steps.questions import ASKED
from harness.plugins.steps.runs import judged_replies
from harness.plugins.steps.scores import MEASURES, PLACES, StepScores
from harness.runtime.progress import Progress
from harness.storage.atomic_write import atomic_file, check
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.numbers import interval_text, percent_text
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tasks.corr2cause.task import ORDERS
from harness.types import Metric, Scores

HELP = """\
Where does the reasoning break? The claims of replies, each judged by what the premise entails.

  harness steps results/…                   runs of Corr2Cause whose replies are in words, or folders above
  harness model=gpt4 task=corr2cause/fresh prompt=trace task.limit=200        makes a run that argues in claims
  harness steps results/… by=relation chart=steps.pdf

prompt=trace asks for numbered claims, each with what it rests on. Of other replies (prompt=cot) what is said plainly is
read; the rest is no error. A claim is entailed (true in every graph that fits the premise), open (in some), refuted (in
none). It is a leap where it does not follow from the claims that it names and, where it names the premise, from what
that says of their variables. Looked at are all graphs, up to six variables. task=corr2cause/steps asks for the steps
one by one: of its runs the scores of each step are shown.

  by=relation,num_nodes         breakdowns of where replies break first
  model=, prompt=, variant=     which runs: names or globs
  out=                          a file to write: .md, .csv or .json
  chart=                        a figure of where replies break first: .pdf, .svg or .png (needs the extra [plot])
  trust=                        what the items come from, where that is a file of yours
"""


@dataclass(frozen=True)
class StepsSettings:
    """The command's settings; HELP says what each one means."""

    by: Words = ("relation", "num_nodes")
    model: str | None = None
    prompt: str | None = None
    variant: str | None = None
    out: str | None = None
    chart: str | None = None
    trust: Words = ()


TRACE = "trace"
"""The prompt that asks for claims."""
Scored = Sequence[tuple[Run, StepScores]]


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, StepsSettings, job, arguments)


def job(folders: list[str], settings: StepsSettings) -> list[Part]:
    """Return the tables, and write them and the figure where settings say so."""
    for name, forms in (("out", (".md", ".csv", ".json")), ("chart", (".pdf", ".svg", ".png"))):
        if (place := getattr(settings, name)) is not None:
            if Path(place).suffix not in forms:
                raise ConfigError(f"{name}={place}: the name has to end in {', '.join(forms)}.")
            check(place)
    runs = select_runs(
        find_runs(folders or ["results"]), model=settings.model, prompt=settings.prompt, variant=settings.variant
    )
    asked = [run for run in runs if run.task == ASKED and run.sound]
    told = [run for run in runs if run.task != ASKED]
    scored = _scored(told, settings) if told or not asked else []
    parts: list[Part] = [_verdicts(scored), *_remarks(scored), _breaks(scored, settings.by)] if scored else []
    parts += asked_tables(asked, settings.by) if asked else []
    if settings.out is not None:
        tables = [part for part in parts if isinstance(part, Table)]
        written = {".md": lambda: f"# Steps\n\n{markdown(parts)}", ".csv": lambda: as_csv(tables)}
        with atomic_file(settings.out) as file:
            file.write(f"{written.get(Path(settings.out).suffix, lambda: as_json(tables))()}\n")
    if settings.chart is not None:
        if not scored:
            raise ConfigError("chart= draws replies that argue: none of the runs has any.")
        from harness.plugins.steps.chart import draw

        overall = {_name(run, scored): _overall(scores) for run, scores in scored}
        draw({name: [row[f"at {place}"] or 0 for place in PLACES] for name, row in overall.items()}, settings.chart)
    return parts


def _scored(runs: Sequence[Run], settings: StepsSettings) -> Scored:
    """Return the judged replies of each run; those that argue nowhere, and were not asked to, are left out.

    Raises DataError if all are so.
    """
    scored: list[tuple[Run, StepScores]] = []
    problems: list[DataError] = []
    for run in runs:
        scores = StepScores()
        try:
            for reply in Progress(f"steps of {run.model}").watch(judged_replies(run, settings.trust), ()):
                scores.add(reply)
        except DataError as error:
            problems.append(error)
            continue
        if scores.steps or (scores.replies and run.prompt == TRACE):
            scored.append((run, scores))
    if not scored:
        raise (
            problems[0]
            if problems
            else DataError(f"no reply of these runs has claims that can be read: prompt={TRACE} asks for some.")
        )
    for problem in problems:
        print(f"Left out: {problem}", file=sys.stderr)
    return scored


def _overall(scores: StepScores) -> Scores:
    return scores.scores({})["overall"]["all"]


def _name(run: Run, scored: Scored) -> str:
    """Return what a run is called: its model, and what else tells it from the other runs."""
    parts = ("model", "prompt", "variant", "task")
    telling = [part for part in parts if part == "model" or len({other.place[part] for other, _ in scored}) > 1]
    return ", ".join(run.place[part] for part in telling)


def _verdicts(scored: Scored) -> Table:
    """Return a row for each run: how much of its replies could be read, and how its claims fare."""
    columns = [
        Column("run", "run"),
        Column("replies", "replies", "count"),
        Column("steps", "steps", "count"),
        *(Column(name, title, "metric", over=_OVER.get(name, "")) for name, title in MEASURES.items()),
    ]
    lines = []
    for run, scores in scored:
        row = _overall(scores)
        counts = [Cell(f"{number:,}", number) for number in (scores.replies, scores.steps)]
        metrics = [_cell(row.metric(name)) for name in MEASURES]
        lines.append(Line([Cell(_name(run, scored)), *counts, *metrics], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading="Steps", notes=[_NOTE], spare=("right", "read", "argued"))


_OVER = dict.fromkeys(("entailed", "open", "refuted", "leaps"), "of the steps")
_NOTE = (
    "Shares in percent, means over replies, with 95% intervals over premises. Entailed, open and refuted are of all "
    "steps, leaps of those that name what they rest on. Right, chain unsound: of right answers with steps, those with "
    "a step that the premise does not entail. Sound chain, wrong answer: of chains that it entails throughout."
)


def _breaks(scored: Scored, by: Sequence[str]) -> Table:
    """Return where replies break first, overall and in each group of the breakdowns, run by run."""
    columns = [
        Column("run", "run"),
        Column("group", "group"),
        Column("items", "replies with steps", "count"),
        *(Column(f"at {name}", title, "metric", over="breaks first at") for name, title in PLACES.items()),
    ]
    lines: list[Line] = []
    for run, scores in scored:
        orders = {name: ORDERS.get(name) or scores.groups_of(name) for name in by}
        for breakdown, groups in scores.scores(orders).items():
            for group, row in groups.items():
                title = "all" if breakdown == "overall" else f"{breakdown.replace('_', ' ')} {group}"
                lines.append(_break_line(run, _name(run, scored), title, row))
    known = {name for _, scores in scored for row in scores.rows for name, _ in row.groups}
    if unknown_names := [name for name in by if name not in known]:
        raise ConfigError(f"by={unknown_names[0]}: the replies have the breakdowns {', '.join(sorted(known))}.")
    return Table(columns=columns, lines=lines, heading="Where it breaks first", notes=[_BREAKS_NOTE])


def _break_line(run: Run, name: str, title: str, row: Scores) -> Line:
    argued = row["argued"] or 0
    count = round(argued * row.items)
    cells = [_cell(row.metric(f"at {place}")) for place in PLACES]
    return Line([Cell(name), Cell(title), Cell(f"{count:,}", count), *cells], run=run.place, ranked=False)


_BREAKS_NOTE = (
    "Of the replies with steps: the kind of the first claim that the premise does not entail; last line: all claims "
    "are entailed and the answer is wrong; nowhere: neither."
)


def _cell(metric: Metric | None) -> Cell:
    if metric is None:
        return Cell("–")
    return Cell(percent_text(metric.value), metric.value, metric.interval, interval_text(metric.interval, "brackets"))


def _remarks(scored: Scored) -> Iterator[str]:
    """Yield a sentence for each run: its first broken claims, and what nothing can be said of."""
    for run, scores in scored:
        sentence = f"{_name(run, scored)}:"
        if scores.places:
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in scores.first.most_common(4))
            sentence += f" the first claim that is not entailed is mostly claim {median(scores.places):g}: {kinds}."
        else:
            sentence += " no claim is open or refuted."
        others = {name: count for name, count in scores.supports.items() if name not in ("follows", "leap")}
        if others:
            counts = ", ".join(f"{name} {count:,}" for name, count in sorted(others.items()))
            sentence += f" Neither following nor a leap: {counts}."
        if scores.unknown:
            sentence += f" Lines about variables that are not there, or about one twice: {scores.unknown:,}."
        yield sentence


if __name__ == "__main__":
    sys.exit(main())
