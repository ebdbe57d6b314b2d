"""The questions as a taskset of verifiers 0.4 (Environments Hub, prime-rl): `vf-eval corr2cause-fresh -n 8 …`.

verifiers finds tasksets by the name of an installed package: `pip install "$(harness bridges verifiers)"` installs the
one that names this class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import Field

from harness.tasks.question import ScoredAnswer, grade, questions, score


class QuestionData(vf.TaskData):
    """A question, and what its reply is read by: all of it travels to the server that computes rewards."""

    metadata: dict[str, Any]


class QuestionTask(vf.Task[QuestionData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """Return 1 for the right answer, 0 for a wrong one and for a reply that cannot be read."""
        return float(self._read(trace).correct)

    @vf.reward(weight=0.0)
    async def sound(self, trace: vf.Trace) -> dict[str, float]:
        """Return the share of the reply's claims before its first error; nothing where no claims are asked.

        For prompt=trace. It counts with the weight that --env.taskset.task.rewards gives it.
        """
        answer = self._read(trace)
        graded = grade(self.data.metadata, trace.last_reply, answer=answer)
        return {name: value for name, value in graded.items() if name == "sound"}

    @vf.metric
    async def unreadable(self, trace: vf.Trace) -> float:
        return float(bool(self._read(trace).reason))

    @vf.metric
    async def said_yes(self, trace: vf.Trace) -> float:
        return float(self._read(trace).answer == "Yes")

    def _read(self, trace: vf.Trace) -> ScoredAnswer:
        finished = [call.finish_reason for call in trace.calls if call.error is None]
        return score(self.data.metadata, trace.last_reply, finished[-1] if finished else None)


class QuestionsConfig(vf.TasksetConfig):
    """What is asked; the defaults are questions of Corr2Cause that nobody has seen, made anew from the seed."""

    source: str = "corr2cause/fresh"
    """A task of this project, such as corr2cause/pairs or cladder."""
    prompt: str | None = None
    """One of its prompts, which has the words; null: its first."""
    num_nodes: list[int] | None = None
    """How many variables a premise has: of 5, 6 and 7."""
    names: Literal["letters", "words"] | None = None
    """What they are called, drawn for every premise."""
    balance: Literal["even", "published"] | None = None
    """How often Yes and No follow, and in which relations."""
    seed: int = 0
    limit: int | None = None
    """null: without end (verifiers then needs -n)."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Further settings of the task."""


class QuestionsTaskset(vf.Taskset[QuestionTask, QuestionsConfig]):
    INFINITE = True

    def __init__(self, config: QuestionsConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.limit is None and config.source in ("corr2cause/fresh", "corr2cause/pairs")

    def load(self) -> Iterator[QuestionTask]:
        config = self.config
        named = {name: getattr(config, name) for name in ("num_nodes", "names", "balance")}
        chosen = {name: value for name, value in named.items() if value is not None}
        for question in questions(
            config.source, config.prompt, seed=config.seed, limit=config.limit, **chosen, **config.settings
        ):
            turns = question.messages
            system = turns[0]["content"] if turns[0]["role"] == "system" else None
            asked: Any = turns[1:] if system else turns
            data = QuestionData(
                id=question.id,
                prompt=asked[0]["content"] if len(asked) == 1 else asked,
                system_prompt=system,
                metadata=question.metadata,
            )
            yield QuestionTask(data, config.task)
