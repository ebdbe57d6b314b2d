"""The questions in Inspect: `inspect eval harness/corr2cause -T perturbation=permutation -T limit=60 --model …`.

Inspect imports this module, by the entry point `inspect_ai`, when somebody names a task of it; nothing else does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from harness.scoring.definitions import main_metrics
from harness.tasks.question import Question, ScoredAnswer, questions, score, summarize

Unreadable = Literal["wrong", "no", "unscored"]
_TURNS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
READING = "reading"
"""The name of the scorer."""


@metric
def headline() -> Metric:
    """Return the metric that the task's tables show first, F1 for most, with its interval over clusters.

    Of several epochs it takes each sample's first reply.
    """

    def value(scores: list[SampleScore]) -> dict[str, float]:
        rows = [
            (each.sample_metadata or {}, ScoredAnswer(**each.score.metadata[READING]))
            for each in scores
            if each.score.metadata is not None
        ]
        overall = summarize(rows).overall
        name = main_metrics(overall)[0]
        first = overall.metric(name)
        low, high = (first and first.interval) or (math.nan, math.nan)
        number = math.nan if first is None or first.value is None else first.value
        return {name: number, f"{name}_low": low, f"{name}_high": high}

    return value


@scorer(metrics=[accuracy(), stderr(cluster="cluster"), headline()], name=READING)
def reading(unreadable: Unreadable = "wrong") -> Scorer:
    """Read a reply as a run of this project does. One that was withheld is unscored, with its reason.

    `unreadable`: a reply that cannot be read is wrong | no (it counts as No) | unscored.
    """

    async def read(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        answer = score(state.metadata, text, state.output.stop_reason)
        details = {READING: asdict(answer)}
        if answer.reason == "refused" or (answer.reason and unreadable == "unscored"):
            return Score.unscored(reason=answer.reason, explanation=text, metadata=details)
        value = CORRECT if answer.correct else INCORRECT
        return Score(
            value=value, answer=answer.answer, explanation=text, reason=answer.reason or None, metadata=details
        )

    return read


def sample(question: Question) -> Sample:
    """Return a question as Inspect asks it."""
    return Sample(
        input=[_TURNS[turn["role"]](content=turn["content"]) for turn in question.messages],
        target=question.answer,
        id=question.id,
        metadata=question.metadata,
    )


TASKS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "corr2cause": ("corr2cause", "relation", {}),
    "corr2cause_fresh": ("corr2cause/fresh", "relation", {"limit": 600}),
    "corr2cause_pairs": ("corr2cause/pairs", "relation", {}),
    "cladder": ("cladder", "rung", {"limit": 1000}),
    "causalbench_causality": ("causalbench/causality", "network", {"limit": 1000}),
    "causalbench_correlation": ("causalbench/correlation", "network", {"limit": 1000}),
    "causalbench_skeleton": ("causalbench/skeleton", "network", {"limit": 1000}),
    "causalbench_cot": ("causalbench/cot", "kind", {}),
}
"""By the name that Inspect has: the task here, the breakdown of its accuracy, and settings that -T may change."""


def register(name: str) -> None:
    """Register a task of Inspect's as harness/NAME; -T takes the settings of the task here, `prompt`, `unreadable`."""
    source, by, defaults = TASKS[name]

    def build(prompt: str | None = None, unreadable: Unreadable = "wrong", **settings: Any) -> Task:
        chosen = defaults | settings | ({"unreadable": "no"} if unreadable == "no" else {})
        made = list(questions(source, prompt, **chosen))
        return Task(
            dataset=MemoryDataset(list(map(sample, made)), name=source),
            solver=generate(),
            scorer=reading(unreadable),
            metrics=[accuracy(), stderr(cluster="cluster"), grouped(accuracy(), by, all=False), headline()],
            config=GenerateConfig(max_tokens=made[0].max_tokens),
            version="1-A",
            metadata={"task": source, "settings": chosen, "prompt": prompt},
        )

    build.__name__ = name
    task(name=f"harness/{name}")(build)


for each in TASKS:
    register(each)
