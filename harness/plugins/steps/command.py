"""Where the reasoning of models breaks: harness steps results/…, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, DataError
from harness.leaderboard.comparable import find_runs, select_runs
from harness.plugins.steps.asked_tables import asked_shares, asked_tables, form_of
from harness.plugins.steps.chain_tables import chain_shares, chain_tables, judged_runs
from harness.plugins.steps.chains import CHAINS
from harness.plugins.steps.chains import PLACES as CHAIN_PLACES
from harness.plugins.steps.chart import Panel, draw
from harness.plugins.steps.scores import PLACES
from harness.plugins.steps.told_tables import scored_runs, told_shares, told_tables
from harness.storage.atomic_write import atomic_file, check
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.table import Part, Table

HELP = """\
Where does the reasoning break? The claims of replies, each judged by what the premise entails.

  harness steps results/…                   runs whose replies are in words, or folders above
  harness model=gpt4 task=corr2cause/fresh prompt=trace task.limit=200        makes a run that argues in claims
  harness steps results/… by=relation chart=steps.pdf

prompt=trace asks for numbered claims, each with what it rests on. Of other replies (prompt=cot) what is said plainly is
read; the rest is no error. A claim is entailed (true in every graph that fits the premise), open (in some), refuted (in
none). It is a leap where it does not follow from the claims that it names and, where it names the premise, from what
that says of their variables. Looked at are all graphs, up to six variables. Of the chains of CausalBench
(task=causalbench/cot, prompt=trace) it is told which link is said wrongly first. task=corr2cause/steps asks for the
steps one by one: of its runs the scores of each step are shown.

  by=relation,num_nodes         breakdowns of where replies break first; of chains kind
  model=, prompt=, variant=     which runs: names or globs
  out=                          a file to write: .md, .csv or .json
  chart=                        a figure of where replies break first: .pdf, .svg or .png (needs the extra [plot])
  trust=                        what the items come from, where that is a file of yours
"""


@dataclass(frozen=True)
class StepsSettings:
    """The command's settings; HELP says what each one means."""

    by: Words | None = None
    model: str | None = None
    prompt: str | None = None
    variant: str | None = None
    out: str | None = None
    chart: str | None = None
    trust: Words = ()


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
    parts, panels = _of_runs(runs, settings)
    if settings.out is not None:
        tables = [part for part in parts if isinstance(part, Table)]
        written = {".md": lambda: f"# Steps\n\n{markdown(parts)}", ".csv": lambda: as_csv(tables)}
        with atomic_file(settings.out) as file:
            file.write(f"{written.get(Path(settings.out).suffix, lambda: as_json(tables))()}\n")
    if settings.chart is not None:
        draw(panels, settings.chart)
    return parts


def _of_runs(runs: Sequence[Run], settings: StepsSettings) -> tuple[list[Part], list[Panel]]:
    """Return the tables and what the figure shows: of replies with claims, of chains, of runs asked for the steps.

    Raises DataError where there is nothing to show of any run.
    """
    parts, panels, problems = list[Part](), list[Panel](), list[DataError]()
    forms = {run.folder: form for run in runs if (form := form_of(run))}
    chains = [run for run in runs if run.task == CHAINS]
    told = [run for run in runs if run.task != CHAINS and run.folder not in forms]
    try:
        if told:
            scored = scored_runs(told, settings.trust)
            parts += told_tables(scored, settings.by)
            panels.append(Panel("replies with claims", tuple(PLACES.values()), told_shares(scored)))
    except DataError as error:
        problems.append(error)
    try:
        if chains:
            judged = judged_runs(chains, settings.trust)
            parts += chain_tables(judged, settings.by)
            panels.append(Panel(CHAINS, tuple(CHAIN_PLACES.values()), chain_shares(judged)))
    except DataError as error:
        problems.append(error)
    for form in dict.fromkeys(forms.values()):
        asked = [run for run in runs if run.sound and forms.get(run.folder) == form]
        if asked:
            parts += asked_tables(asked, form, settings.by)
            panels.append(Panel(form.task, form.places, asked_shares(asked, form)))
    if not parts:
        raise problems[0] if problems else DataError("none of these runs is sound: start their command again.")
    for problem in problems:
        print(f"Left out: {problem}", file=sys.stderr)
    return parts, panels


if __name__ == "__main__":
    sys.exit(main())
