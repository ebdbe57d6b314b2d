"""The questions in Inspect: `inspect eval harness/corr2cause -T perturbation=permutation -T limit=60 --model …`.

Inspect imports this module, by the entry point `inspect_ai`, when somebody names a task of it; nothing else does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Literal

from inspect_ai import SampleSource, Task, task
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
from inspect_ai.util import registry_info

from harness.plugins.bridges.rounds import Rounds
from harness.scoring.definitions import main_metrics
from harness.tasks.question import Question, QuestionWriter, ScoredAnswer, questions, score, summarize

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


class UntilKnown(SampleSource):
    """Samples of whole draws in random order, until the interval of a metric is narrow enough (docs/money.md)."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds

    def initial_samples(self) -> list[Sample]:
        return [sample(question) for question in self._rounds.following()]

    async def sample_complete(self, sample: Any) -> None:
        read = (sample.scores or {}).get(READING)
        details = read.metadata if read is not None else None
        self._rounds.answers[str(sample.id)] = ScoredAnswer(**details[READING]) if details else None

    async def next_samples(self) -> list[Sample] | None:
        return [sample(question) for question in self._rounds.following()] or None


def _task(
    name: str, by: str, prompt: str | None, unreadable: Unreadable, until: str | None, settings: Mapping[str, Any]
) -> Task:
    """Return a task of Inspect's, its accuracy also by a breakdown of the questions."""
    settings = {**settings, "unreadable": "no"} if unreadable == "no" else dict(settings)
    metrics = [accuracy(), stderr(cluster="cluster"), grouped(accuracy(), by, all=False), headline()]
    dataset: Any
    if until is None:
        made = list(questions(name, prompt, **settings))
        dataset, room = MemoryDataset(list(map(sample, made)), name=name), made[0].max_tokens
    else:
        writer = QuestionWriter.of(name, prompt, settings)
        dataset = UntilKnown(Rounds(writer, until))
        room = writer.question(next(iter(writer.task.items()))).max_tokens
    return Task(
        dataset=dataset,
        solver=generate(),
        scorer=reading(unreadable),
        metrics=metrics,
        config=GenerateConfig(max_tokens=room),
        version="1-A",
        metadata={"task": name, "settings": settings, "prompt": prompt},
    )


def registered(build: Callable[..., Task]) -> Any:
    """Register a task as harness/NAME.

    Inspect puts the package's name before a task's, but not where the package is an editable install of a distribution
    that is called otherwise.
    """
    known = task(build)
    package, name = __name__.partition(".")[0], build.__name__
    return known if registry_info(known).name == f"{package}/{name}" else task(name=f"{package}/{name}")(build)


@registered
def corr2cause(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """Corr2Cause: does a causal hypothesis follow from the correlations? -T takes the settings of task=corr2cause."""
    return _task("corr2cause", "relation", prompt, unreadable, until, settings)


@registered
def corr2cause_fresh(
    prompt: str | None = None,
    unreadable: Unreadable = "wrong",
    until: str | None = None,
    limit: int | None = None,
    **settings: Any,
) -> Task:
    """Corr2Cause made anew from -T seed=…: 600 questions, or -T limit=…, or as many as -T until=width:5 takes."""
    number = {} if limit is None and until is not None else {"limit": limit or 600}
    return _task("corr2cause/fresh", "relation", prompt, unreadable, until, settings | number)


@registered
def corr2cause_pairs(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """Corr2Cause in matched pairs: two claims alike in all that is counted, of which one follows."""
    return _task("corr2cause/pairs", "relation", prompt, unreadable, until, settings)


@registered
def cladder(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """CLadder, drawn from the seed: association, intervention, counterfactuals."""
    return _task("cladder", "rung", prompt, unreadable, until, {"limit": 1000, **settings})


@registered
def causalbench_causality(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """CausalBench: does one variable of a known network cause another? 1,000 pairs, or -T limit=…."""
    return _task("causalbench/causality", "network", prompt, unreadable, until, {"limit": 1000, **settings})


@registered
def causalbench_correlation(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """CausalBench: are two variables of a known network correlated? 1,000 pairs, or -T limit=…."""
    return _task("causalbench/correlation", "network", prompt, unreadable, until, {"limit": 1000, **settings})


@registered
def causalbench_skeleton(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """CausalBench: which variables of a known network are directly related? 1,000 pairs, or -T limit=…."""
    return _task("causalbench/skeleton", "network", prompt, unreadable, until, {"limit": 1000, **settings})


@registered
def causalbench_cot(
    prompt: str | None = None, unreadable: Unreadable = "wrong", until: str | None = None, **settings: Any
) -> Task:
    """CausalBench: chains of causes."""
    return _task("causalbench/cot", "kind", prompt, unreadable, until, settings)
