"""The questions for TRL: a data set and a reward function, as `GRPOTrainer` and its kind take them.

`GRPOTrainer(model, reward_funcs=trl.reward, train_dataset=trl.dataset(rows=2000, num_nodes=[5]))`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from harness.tasks.question import questions, score

if TYPE_CHECKING:
    from datasets import Dataset


def dataset(task: str = "corr2cause/fresh", prompt: str | None = None, rows: int = 1000, **settings: Any) -> Dataset:
    """Return the first `rows` questions of a task: columns `prompt` (messages), `answer`, and `metadata` for `reward`.

    `settings` are those of the task; see `harness.questions`.
    """
    from datasets import Dataset

    columns: dict[str, list[Any]] = {"prompt": [], "answer": [], "metadata": []}
    for question in islice(questions(task, prompt, **settings), rows):
        columns["prompt"].append(question.messages)
        columns["answer"].append(question.answer)
        columns["metadata"].append(json.dumps(question.metadata))  # as text: its keys differ from row to row
    return Dataset.from_dict(columns)


def reward(completions: Sequence[Any], metadata: Sequence[str], **columns: Any) -> list[float]:
    """Return 1 for each right answer, 0 for a wrong one and for a reply that cannot be read.

    `completions` are texts, or for conversational prompts lists of messages. TRL tells no finish reason: a reply that
    was cut off is read as a whole one.
    """
    known = map(json.loads, metadata)
    return [float(score(each, text).correct) for each, text in zip(known, _texts(completions), strict=True)]


def _texts(completions: Sequence[Any]) -> list[str]:
    return [each if isinstance(each, str) else each[-1]["content"] for each in completions]
