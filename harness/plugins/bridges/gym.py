"""The questions in reasoning-gym: `import harness.plugins.bridges.gym`, then `create_dataset("corr2cause_fresh", …)`.

Importing this module registers the data set, with a curriculum over the number of variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition
from reasoning_gym.factory import ProceduralDataset, register_dataset

from harness.tasks.question import Question, questions, score

NAME = "corr2cause_fresh"
SMALLEST, LARGEST = 5, 7


@dataclass
class FreshConfig:
    """What is asked; see configs/task/corr2cause/fresh.yaml."""

    min_nodes: int = SMALLEST
    max_nodes: int = LARGEST
    names: str = "letters"
    balance: str = "even"
    prompt: str | None = None
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Raise AssertionError, as reasoning-gym's own do, for sizes that there are none of."""
        assert SMALLEST <= self.min_nodes <= self.max_nodes <= LARGEST, "premises have 5 to 7 variables"


class FreshDataset(ProceduralDataset):
    """Questions made in a row, kept once they are made: the same index is the same question."""

    def __init__(self, config: FreshConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._source: Iterator[Question] = questions(
            "corr2cause/fresh",
            config.prompt,
            num_nodes=list(range(config.min_nodes, config.max_nodes + 1)),
            names=config.names,
            balance=config.balance,
            seed=self.seed,
        )
        self._made: list[Question] = []

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return a question with its answer. One of several turns is one text here."""
        while len(self._made) <= idx:
            self._made.append(next(self._source))
        question = self._made[idx]
        size = int(question.metadata["num_nodes"])
        return {
            "question": "\n\n".join(turn["content"] for turn in question.messages),
            "answer": question.answer,
            "metadata": {
                "source_dataset": NAME,
                "source_index": idx,
                "difficulty": {"num_nodes": (self.config.min_nodes, self.config.max_nodes)},
                "num_nodes": size,
                "harness": question.metadata,
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return 1 for the right answer, in a reply of whatever form; 0 for a wrong one and for none."""
        return float(score(entry["metadata"]["harness"], answer).correct)


class FreshCurriculum(BaseCurriculum):
    """From premises of five variables to those of seven."""

    def __init__(self) -> None:
        super().__init__(FreshCurriculum.__name__, FreshConfig)
        self._define_attributes(
            RangeAttributeDefinition(
                name="num_nodes",
                levels=list(range(SMALLEST, LARGEST + 1)),
                lower_field_name="min_nodes",
                upper_field_name="max_nodes",
                description="The number of variables of a premise",
            )
        )


register_dataset(NAME, FreshDataset, FreshConfig, FreshCurriculum)
