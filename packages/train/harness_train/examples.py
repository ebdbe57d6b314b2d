"""The examples that are learned and those that choose the checkpoint: what is refused, and their scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from harness.errors import ConfigError, DataError, RunStopped
from harness.prompting.prompts import Prompt
from harness.scoring.classification import AnswerCounts, decisions
from harness.settings import build
from harness.storage.manifest import TracedItems
from harness.tasks.corr2cause.task import Corr2Cause
from harness.types import JSON, Failure, Item, Request, Response


@dataclass(frozen=True, slots=True)
class Example:
    """An item as it is learned: a request and the right answer."""

    request: Request
    label: int
    """1 for Yes, 0 for No."""
    fields: Mapping[str, JSON]
    """Those that reading an answer needs."""
    cluster: str


@dataclass(frozen=True)
class Examples:
    """Examples, and the digest of their items."""

    rows: list[Example]
    items: Mapping[str, JSON]

    @property
    def positives(self) -> int:
        return sum(example.label for example in self.rows)

    def as_json(self) -> dict[str, JSON]:
        premises = len({example.cluster for example in self.rows})
        return {"examples": len(self.rows), "yes": self.positives, "premises": premises, "items": dict(self.items)}


def teaching_task(section: Mapping[str, Any]) -> Corr2Cause:
    """Return the task of a section of the config. Raises ConfigError if it has nothing to learn from."""
    task: Corr2Cause = build(section, "task")
    if not isinstance(task, Corr2Cause):
        raise ConfigError(
            f"task={task.name} has no items to learn from apart from those that are scored: leave task= out."
        )
    if task.split == "test":
        raise ConfigError(
            "task.split=test: models are scored on the test split, so nothing is learned from it: use task.split=train."
        )
    if getattr(task, "source", "builtin") == "file":
        raise ConfigError("task.source=file has no splits to learn from and to choose by: use builtin or hub.")
    return task


@dataclass(frozen=True)
class Lessons:
    """A task's examples: those learned, pass by pass, and those that choose the checkpoint."""

    task: Corr2Cause
    prompt: Prompt
    kind: type[Request]
    dev_limit: int | None = None
    left_out: set[int] = field(default_factory=set)
    """Indices, in each pass, of examples that do not fit into the model."""

    @cached_property
    def train(self) -> Examples:
        """The examples of the first pass.

        Raises ConfigError for items of dev or test, DataError if all have the same answer.
        """
        traced = TracedItems(self.task.epoch(0))
        examples = Examples(self._examples(traced), traced.summary)
        self._refuse_shared({row.cluster for row in examples.rows})
        if not 0 < examples.positives < len(examples.rows):
            raise DataError(
                f"all {len(examples.rows):,} examples to learn from have the same answer: choose more of them "
                "(task.limit, task.relations, task.num_nodes)."
            )
        return examples

    @cached_property
    def dev(self) -> Examples:
        """The examples of the dev split. Raises DataError without a Yes, as F1 would be 0 throughout."""
        traced = TracedItems(self.task.part("dev", self.dev_limit).items())
        examples = Examples(self._examples(traced), traced.summary)
        if not examples.positives:
            raise DataError(
                f"none of the {len(examples.rows):,} items of the dev split is a Yes, so that F1 chooses nothing: "
                "choose more of them (dev_limit, task.relations, task.num_nodes)."
            )
        return examples

    def epoch(self, number: int) -> list[Example]:
        """Return the examples of a pass: those of the first, with new names if the task draws them for each pass."""
        rows = self.train.rows if number == 0 else self._examples(self.task.epoch(number))
        return [example for place, example in enumerate(rows) if place not in self.left_out]

    @property
    def renews(self) -> bool:
        """Whether a later pass has other words than the first."""
        first, later = (next(iter(self.task.epoch(number))).fields for number in (0, 1))
        return first != later

    def _examples(self, items: Iterable[Item]) -> list[Example]:
        texts: dict[str, str] = {}
        return [self._example(item, texts) for item in items]

    def _example(self, item: Item, texts: dict[str, str]) -> Example:
        # All items of a premise share its text: 200,000 of them would each keep a copy.
        shared = {k: texts.setdefault(v, v) if isinstance(v, str) else v for k, v in item.fields.items()}
        request = self.prompt.render(shared, (), self.kind)
        fields = self.prompt.parsed_fields({k: v for k, v in shared.items() if k in ("premise", "statement")})
        return Example(request, item.labels[self.task.headline], fields, item.cluster)

    def _refuse_shared(self, clusters: set[str]) -> None:
        dev = {item.cluster for item in self.task.part("dev").items()}
        for name, others in (("test", self.task.held_out()), ("dev", dev)):
            if shared := sorted(clusters & others):
                raise ConfigError(
                    f"{len(shared)} of the {len(clusters):,} premises to learn from are premises of the {name} split, "
                    f"up to names ({', '.join(shared[:3])}{', …' * (len(shared) > 3)}): use task.split=train."
                )


Scores = dict[str, float]
"""f1, precision, recall, accuracy as fractions, 0 where undefined; the loss; yes, unreadable and failed as counts."""


def scores_of(model: Any, prompt: Prompt, examples: Sequence[Example]) -> Scores:
    """Return the scores of a model's answers; what cannot be read, or failed, counts as wrong.

    Raises RunStopped where the model gives no numbers.
    """
    requests = dict.fromkeys(example.request for example in examples)
    outcomes: dict[Request, Response | Failure] = dict(chain.from_iterable(model.respond(requests)))
    kinds: Counter[str] = Counter()
    losses = 0.0
    for example in examples:
        outcome = outcomes[example.request]
        if isinstance(outcome, Failure) and outcome.kind == "invalid_logprobs":
            raise RunStopped(f"the model gives no numbers any more ({outcome.detail}): take a smaller learning rate.")
        answer = None if isinstance(outcome, Failure) else prompt.parse(outcome, example.fields)
        label = answer.label if answer else None
        unread = "unreadable_positive" if example.label else "unreadable_negative"
        kinds[unread if label is None else ("tn", "fp", "fn", "tp")[2 * example.label + label]] += 1
        share = answer.probability if answer and answer.probability is not None else 0.5
        losses -= math.log(max(share if example.label else 1 - share, 1e-12))
    counts = AnswerCounts(**kinds)
    scores = {metric.name: metric.value or 0.0 for metric in decisions(counts, unreadable="wrong")}
    counted = {"yes": kinds["tp"] + kinds["fp"], "unreadable": counts.unreadable, "failed": counts.failed}
    return scores | {"loss": losses / len(examples)} | counted
