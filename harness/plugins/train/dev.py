"""What a model that learns scores on dev: its adapter answers, the prompt reads, as in any run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from harness.errors import RunStopped
from harness.plugins.train.examples import Example
from harness.prompting.prompts import Prompt
from harness.scoring.classification import Counts, decisions
from harness.types import Failure, Request, Response

Scores = dict[str, float]
"""f1, precision, recall, accuracy as fractions, 0 where undefined; unreadable and failed as counts."""


def scores_of(model: Any, prompt: Prompt, examples: Sequence[Example]) -> Scores:
    """Return the scores of a model's answers; what cannot be read, or failed, counts as wrong.

    Raises RunStopped where the model gives no numbers.
    """
    outcomes: dict[Request, Response | Failure] = {}
    requests = dict.fromkeys(example.request for example in examples)
    outcomes.update(chain.from_iterable(model.respond(requests)))
    kinds: Counter[str] = Counter()
    for example in examples:
        outcome = outcomes[example.request]
        if isinstance(outcome, Failure) and outcome.kind == "invalid_logprobs":
            raise RunStopped(f"the model gives no numbers any more ({outcome.detail}): take a smaller learning rate.")
        answer = None if isinstance(outcome, Failure) else prompt.parse(outcome, example.fields).label
        kinds[_kind(answer, example.label, failed=isinstance(outcome, Failure))] += 1
    counts = Counts(**kinds)
    scores = {metric.name: metric.value or 0.0 for metric in decisions(counts, unreadable="wrong")}
    return scores | {"unreadable": counts.unreadable, "failed": counts.failed}


def _kind(answer: int | None, label: int, *, failed: bool) -> str:
    """Return which of the counts an answer belongs to; a failed one is as an unreadable one, so that it scores."""
    if failed or answer is None:
        return "unreadable_positive" if label else "unreadable_negative"
    return {(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}[answer, label]
