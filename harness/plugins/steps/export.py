"""harness export to=steps: the steps of every reply with their labels, as models of a process reward learn from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.export import number_of
from harness.plugins.steps.judging import kind_of
from harness.plugins.steps.runs import judged_replies
from harness.plugins.steps.wording import in_words
from harness.storage.atomic_write import atomic_file
from harness.storage.runs import Run
from harness.types import JSON

FILE = "steps.jsonl"


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write a line for each reply in which a step could be read; return the sentence that says so."""
    place, replies, steps = out or FILE, 0, 0
    with atomic_file(place) as file:
        for run in runs:
            for line in lines(run):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                replies, steps = replies + 1, steps + len(line["verdicts"])
    return "" if place == "-" else f"{place}: {steps:,} steps in {replies:,} replies of {number_of(runs)}."


def lines(run: Run) -> Iterator[dict[str, JSON]]:
    """Yield each reply as a prompt, its steps in the grammar and their labels (does the premise entail it?).

    The names are those of data for stepwise supervision in TRL. An answer that could be read is the last completion.
    """
    for reply in judged_replies(run):
        if not reply.judged.steps:
            continue
        steps = [step.step.statement for step in reply.judged.steps]
        answer = reply.record.answer.label if reply.record.answer else None
        last = [] if answer is None else [f"Answer: {run.result.answers[answer]}"]
        yield {
            "prompt": f"{reply.texts.premise}\n{reply.texts.hypothesis}",
            "completions": [in_words(statement, reply.premise.names) for statement in steps] + last,
            "labels": [step.sound for step in reply.judged.steps] + [reply.right for _ in last],
            "verdicts": [step.verdict for step in reply.judged.steps],
            "kinds": [kind_of(statement) for statement in steps],
            "supports": [step.support for step in reply.judged.steps],
            "run": dict(run.place),
            "item": reply.record.item,
            "cluster": reply.record.cluster,
            "sample": reply.record.sample,
        }
