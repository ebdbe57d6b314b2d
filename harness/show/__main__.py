"""A run's answers, ten at a time: harness show RUN wrong, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from harness.cli import key_value
from harness.compare.pairing import one_run
from harness.errors import ConfigError, nearest
from harness.scoring.grades import GRADES, grade_of
from harness.storage.runs import Run
from harness.types import Line

HELP = """\
Show answers of a run, ten at a time: what was asked, what is right, what was read, and the reply.

  harness show results/…/gpt4o wrong            the first ten that score as wrong
  harness show results/…/gpt4o wrong page=2     the next ten
  harness show results/…/gpt4o unreadable       replies in which no answer was found, which score as wrong, too
  harness show results/…/gpt4o n3-g6-parent-A-B  one item, every word of it

After the folder of a run stands wrong, right, unreadable, failed or all, or an item's id. The page (harness report) has
them all beside graphs and explanations, and exports have a column for each (harness export).

  page=1       which ten of them
"""
KINDS: Mapping[str, Callable[[Run, Line], bool]] = {
    "wrong": lambda run, line: run.right(line) is False,
    "right": lambda run, line: run.right(line) is True,
    "unreadable": lambda run, line: line.answer is not None and line.answer.label is None,
    "failed": lambda run, line: line.failure is not None,
    "all": lambda run, line: True,
}
"""Which answers, by the word on the command line."""
TEN, SHOWN = 10, 700
"""Answers on a page; characters of a long text that are shown: of a question those at its end, where it asks."""


@dataclass(frozen=True)
class ShowSettings:
    """Settings of the command, each explained in HELP."""

    page: Annotated[int, Field(ge=1)] = 1


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, ShowSettings, job, arguments)


def job(arguments: list[str], settings: ShowSettings) -> list[str]:
    """Return a paragraph for each answer, and one that says which of how many they are."""
    if not 1 <= len(arguments) <= 2:
        raise ConfigError(f"give the folder of one run, and which answers: {', '.join(KINDS)}, or an item's id.")
    run, kind = one_run(arguments[0]), [*arguments, "all"][1]
    fits = KINDS.get(kind) or (lambda run, line: line.item == kind)
    first, count, blocks = (settings.page - 1) * TEN, 0, []
    for line in run.records():
        if fits(run, line):
            count += 1
            if first < count <= first + TEN:
                blocks.append(_block(run, line, count, SHOWN if kind in KINDS else None))
    if not count and kind not in KINDS:
        near = nearest(kind, [*KINDS, *dict.fromkeys(line.item for line in run.records())])
        raise ConfigError(f"{run.folder} has no item {kind!r}{near}: say {', '.join(KINDS)}, or an item's id.")
    what = "answers" if kind == "all" or kind not in KINDS else f"{kind} answers"
    if not blocks:
        more = f" on page {settings.page}: the last is {-(-count // TEN)}" if count else ""
        return [f"{run.folder} has no {what}{more}."]
    more = f"; page={settings.page + 1} shows more" if first + len(blocks) < count else ""
    return [*blocks, f"{first + 1:,} to {first + len(blocks):,} of {count:,} {what}{more}."]


def _block(run: Run, line: Line, number: int, most: int | None) -> str:
    """Return an answer as a paragraph; of longer texts than `most` a part."""
    names, answer, response = run.result.answers, line.answer, line.response
    groups = f" ({', '.join(f'{name} {group}' for name, group in line.groups.items())})" if line.groups else ""
    question = "\n\n".join(turn["content"] for turn in line.turns[-1:]) or "(its words are not in the records)"
    if answer is None or response is None:
        read, reply = "– (the call failed)", f"{line.failure.kind}: {line.failure.detail}" if line.failure else ""
    else:
        label = answer.label
        read = "–, no answer was found" if label is None else f"{names[label]}, {GRADES[grade_of(answer)]}"
        reply = response.text or "(empty)"
        if response.reasoning and most is None:
            reply = f"{reply}\n\nthoughts: {response.reasoning}"
    if most is not None:
        question = question if len(question) <= most else f"… {question[-most:]}"
        reply = reply if len(reply) <= most else f"{reply[:most]} …"
    right = f"→ right: {names[line.gold]}; read: {read}"
    return f"{number:,}. {line.item}{groups}\n{question}\n{right}\n→ reply: {reply}"


if __name__ == "__main__":
    sys.exit(main())
