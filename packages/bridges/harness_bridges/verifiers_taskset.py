"""The questions as a taskset of verifiers 0.4 (Environments Hub, prime-rl): `vf-eval corr2cause-fresh -n 8 …`.

verifiers finds tasksets by the name of an installed package: `pip install "$(harness bridges verifiers)"` installs the
one that names this class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from harness.tasks.question import ScoredAnswer, questions, score


class QuestionData(vf.TaskData):
    """A question, and what its reply is read by: all of it travels to the server that computes rewards."""

    metadata: dict[str, Any]


class QuestionTask(vf.Task[QuestionData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """Return 1 for the right answer, 0 for a wrong one and for a reply that cannot be read."""
        return float(self._read(trace).correct)

    @vf.metric
    async def unreadable(self, trace: vf.Trace) -> float:
        return float(bool(self._read(trace).reason))

    def _read(self, trace: vf.Trace) -> ScoredAnswer:
        finished = [call.finish_reason for call in trace.calls if call.error is None]
        return score(self.data.metadata, trace.last_reply, finished[-1] if finished else None)


class QuestionsConfig(vf.TasksetConfig):
    """What is asked; the defaults are questions of Corr2Cause that nobody has seen, made anew from the seed."""

    source: str = "corr2cause/fresh"
    """A task of this project, such as corr2cause/pairs or cladder."""
    prompt: str | None = None
    """One of its prompts, which has the words; null: its first."""
    seed: int = 0
    limit: int | None = None
    """null: without end (verifiers then needs -n)."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Further settings of the task, such as {"num_nodes": [6]}."""


class QuestionsTaskset(vf.Taskset[QuestionTask, QuestionsConfig]):
    INFINITE = True

    def __init__(self, config: QuestionsConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.limit is None and config.source in ("corr2cause/fresh", "corr2cause/pairs")

    def load(self) -> Iterator[QuestionTask]:
        config = self.config
        chosen = {"seed": config.seed, "limit": config.limit, **config.settings}
        for question in questions(config.source, config.prompt, **chosen):
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
