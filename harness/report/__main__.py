"""One page for people, from results folders: python -m harness.report results/ out=report.html (--help)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.cli import key_value
from harness.errors import ConfigError
from harness.leaderboard.comparable import find_runs
from harness.report import bundle
from harness.report.build import content
from harness.report.chunks import NO_RECORDS, NOT_WANTED
from harness.storage.atomic_write import cannot_write, check
from harness.types import JSON

HELP = """\
Write a page that opens from disk, in any current browser: leaderboard, charts, graphs, and the answers behind them.

  python -m harness.report results                      report.html from everything below results/
  python -m harness.report A B out=mine.html            several results folders

Answers come from records.jsonl (or .gz); runs without them show their scores only. Runs that are not complete are shown
as such, and ranked nowhere.

  out=report.html       the file to write
  title=                what the page is called
  answers=auto          inside the page up to 20 MB, else in a folder beside it (report_files, to be kept with the
                        page); inside, beside: always so; none: without answers
  trust=                a folder may come from anybody, so nothing that it names is imported or opened: items of a task
                        that does not ship with harness, of a file or of the Hub are shown as the records tell them,
                        unless you name what you trust (module.Class, the file, hub)
"""


@dataclass(frozen=True)
class ReportSettings:
    """Settings of the command, each explained in HELP."""

    out: str = "report.html"
    title: str = "Causal reasoning in language models"
    answers: Literal["auto", "inside", "beside", "none"] = "auto"
    trust: key_value.Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; return the exit code."""
    return key_value.command(HELP, ReportSettings, job, arguments)


def job(arguments: list[str], settings: ReportSettings) -> str:
    """Write the page; return the sentences that tell of it."""
    out = Path(settings.out)
    if out.suffix != ".html":
        raise ConfigError(f"out={settings.out}: the page's name has to end in .html.")
    check(settings.out)
    place = settings.answers if settings.answers in ("inside", "beside") else None
    try:
        rows = find_runs(arguments or ["results"])
        data, chunks = content(rows, settings.title, answers=settings.answers != "none", trust=settings.trust)
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(settings.out, error) from error
        folder = bundle.write(out, settings.title, data, chunks, place)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted: no page was written; one that was there is as it was.") from None
    runs = "1 run" if len(rows) == 1 else f"{len(rows):,} runs"
    sentences = [f"{out}: {runs}{_missing_answers(data)}, {out.stat().st_size / 1e6:.1f} MB.", *_unreadable(data)]
    if folder:
        size = sum(file.stat().st_size for file in folder.iterdir())
        sentences.append(f"{folder}/ holds the answers, {size / 1e6:.1f} MB: keep it beside the page.")
    return "\n".join(sentences)


def _missing_answers(data: dict[str, JSON]) -> str:
    """Return the remark on runs whose answers were wanted but are missing from the page; "" if all are there."""
    missing = sum(not run["answers"] and run["no_answers"] != NOT_WANTED for run in data["runs"])
    return f", {missing:,} without answers" if missing else ""


def _unreadable(data: dict[str, JSON]) -> list[str]:
    """Return a line for each run whose records exist but cannot be read."""
    reasons = (run.get("no_answers") for run in data["runs"])
    return [str(reason) for reason in reasons if reason not in (None, NO_RECORDS, NOT_WANTED)]


if __name__ == "__main__":
    sys.exit(main())
