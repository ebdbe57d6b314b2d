"""What a reply's claims are worth as a reward: numbers from 0 to 1, in milliseconds, without a run (Question.grade)."""

from __future__ import annotations

from collections.abc import Mapping

from harness.causal.statements import class_of
from harness.plugins.steps.traces import read
from harness.tasks.corr2cause.text import read_dag, read_premise
from harness.tasks.text_reasoner import UnreadableText
from harness.types import JSON


def grade(fields: Mapping[str, JSON], reply: str) -> dict[str, float]:
    """Return `entailed` and `sound` of a reply to a question of these fields; {} of one without a premise's sentences.

    entailed: the share of its claims that the premise entails. sound: the share of them before the first one that it
    does not. A claim counts once, however often it is said, and a reply without claims has 0. Whether a claim follows
    from what it names is not looked at: with six variables that takes all 3.8 million graphs.
    """
    try:
        premise = read_premise(str(fields.get("premise", "")))
        graphs = class_of(read_dag(premise))
    except UnreadableText:
        return {}
    claims = dict.fromkeys(step.statement for step in read(reply, premise.names).steps)
    entailed = [graphs.verdict(claim) == "entailed" for claim in claims]
    before = entailed.index(False) if False in entailed else len(entailed)
    number = max(len(entailed), 1)
    return {"entailed": sum(entailed) / number, "sound": before / number}
