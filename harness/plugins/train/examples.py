"""The examples that are learned and those that choose the checkpoint: their order, what is refused, their scores."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

from harness.codec import uniform
from harness.errors import ConfigError, DataError, RunStopped
from harness.prompting.prompts import Prompt
from harness.scoring.classification import AnswerCounts, decisions
from harness.settings import build
from harness.storage.manifest import TracedItems
from harness.tasks.benchmark import Teaching, TeachingTask
from harness.types import JSON, Answer, Failure, Item, PairRequest, Request, Response


class Choosing(Protocol):
    """The settings of a recipe that choose among items."""

    @property
    def yes_share(self) -> float | None:
        """Share of Yes to keep; None keeps the items' own."""

    @property
    def seed(self) -> int:
        """The seed of that choice."""


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

    @property
    def clusters(self) -> int:
        return len({example.cluster for example in self.rows})

    def as_json(self) -> dict[str, JSON]:
        return {"examples": len(self.rows), "yes": self.positives, "premises": self.clusters, "items": dict(self.items)}


def teaching_task(section: Mapping[str, Any]) -> TeachingTask:
    """Return the task of a section of the config. Raises ConfigError if it has nothing to learn from."""
    task: TeachingTask = build(section, "task")
    if not isinstance(task, Teaching):
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

    task: TeachingTask
    prompt: Prompt
    kind: type[Request]
    recipe: Choosing
    dev_limit: int | None = None
    left_out: set[int] = field(default_factory=set)
    """Indices, in each pass, of examples that do not fit into the model."""
    lengths: list[int] = field(default_factory=list)
    """Tokens of the first pass's other examples, once they are counted."""

    @cached_property
    def train(self) -> Examples:
        """The examples of the first pass.

        Raises ConfigError for items of dev or test, DataError if all have the same answer.
        """
        traced = TracedItems(self.task.epoch(0))
        examples = self._examples(traced)
        self._refuse_shared({row.cluster for row in examples})
        if not 0 < sum(row.label for row in examples) < len(examples):
            raise DataError(
                f"all {len(examples):,} examples to learn from have the same answer: choose more of them (task.limit, "
                "task.relations, task.num_nodes)."
            )
        return Examples(self._with_yes_share(examples), traced.summary)

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
        rows = self.train.rows if number == 0 else self._with_yes_share(self._examples(self.task.epoch(number)))
        return [example for place, example in enumerate(rows) if place not in self.left_out]

    def texts(self, also: Iterable[Item] = ()) -> Iterator[str]:
        """Yield premise and hypothesis of all examples of the first pass, and of other items."""
        for row in chain(self.train.rows, self._examples(also)):
            if isinstance(row.request, PairRequest):
                yield from (row.request.premise, row.request.hypothesis)

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
        label = item.labels[self.task.headline]
        return Example(request, label, fields, item.cluster)

    def _refuse_shared(self, clusters: set[str]) -> None:
        dev = {item.cluster for item in self.task.part("dev").items()}
        for name, others in (("test", self.task.held_out()), ("dev", dev)):
            if shared := sorted(clusters & others):
                raise ConfigError(
                    f"{len(shared)} of the {len(clusters):,} premises to learn from are premises of the {name} split, "
                    f"up to names ({', '.join(shared[:3])}{', …' * (len(shared) > 3)}): use task.split=train."
                )

    def _with_yes_share(self, examples: list[Example]) -> list[Example]:
        """Return the examples with recipe.yes_share of Yes; some of the too frequent answer are left out."""
        if (share := self.recipe.yes_share) is None:
            return examples
        yes = sum(example.label for example in examples)
        no = len(examples) - yes
        keep = {1: min(1.0, no * share / (1 - share) / yes), 0: min(1.0, yes * (1 - share) / share / no)}
        return [e for k, e in enumerate(examples) if uniform("yes_share", self.recipe.seed, k) < keep[e.label]]


SORTED_BATCHES = 16
"""Batches whose examples are sorted together: more of them mean less padding and less mixing."""


class ByLength:
    """Draws a new order for each pass: random, sorted by length within SORTED_BATCHES batches, these batches shuffled.

    The order depends on seed and pass alone, so that a resumed training continues in it; transformers' own
    LengthGroupedSampler draws from torch's state, which differs by then.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self._lengths, self._size, self._seed, self._epoch = lengths, batch_size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        """Yield the indices of the examples; a short last batch stays last."""
        draw = random.Random(f"{self._seed} {self._epoch}")
        places = list(range(len(self._lengths)))
        draw.shuffle(places)
        blocks = [
            places[k : k + SORTED_BATCHES * self._size] for k in range(0, len(places), SORTED_BATCHES * self._size)
        ]
        order = [place for block in blocks for place in sorted(block, key=lambda place: self._lengths[place])]
        batches = [order[k : k + self._size] for k in range(0, len(order), self._size)]
        short = [batches.pop()] if len(batches[-1]) < self._size else []
        draw.shuffle(batches)
        for batch in batches + short:
            yield from batch


Scores = dict[str, float]
"""f1, precision, recall, accuracy as fractions, 0 where undefined; the loss; yes, unreadable and failed as counts."""


def scores_of(model: Any, prompt: Prompt, examples: Sequence[Example]) -> Scores:
    """Return the scores of a model's answers; what cannot be read, or failed, counts as wrong.

    Raises RunStopped where the model gives no numbers.
    """
    outcomes: dict[Request, Response | Failure] = {}
    requests = dict.fromkeys(example.request for example in examples)
    outcomes.update(chain.from_iterable(model.respond(requests)))
    kinds: Counter[str] = Counter()
    losses = 0.0
    for example in examples:
        outcome = outcomes[example.request]
        if isinstance(outcome, Failure) and outcome.kind == "invalid_logprobs":
            raise RunStopped(f"the model gives no numbers any more ({outcome.detail}): take a smaller learning rate.")
        answer = None if isinstance(outcome, Failure) else prompt.parse(outcome, example.fields)
        label = answer.label if answer else None
        kinds[_kind(label, example.label, failed=isinstance(outcome, Failure))] += 1
        losses += _loss(answer, example.label)
    counts = AnswerCounts(**kinds)
    scores = {metric.name: metric.value or 0.0 for metric in decisions(counts, unreadable="wrong")}
    counted = {"yes": kinds["tp"] + kinds["fp"], "unreadable": counts.unreadable, "failed": counts.failed}
    return scores | {"loss": losses / len(examples)} | counted


def _loss(answer: Answer | None, label: int) -> float:
    """Return −log of the probability that an answer gives to the label; of nothing as if both were as likely."""
    if answer is None or answer.probability is None:
        return math.log(2)
    return -math.log(max(answer.probability if label else 1 - answer.probability, 1e-12))


def _kind(answer: int | None, label: int, *, failed: bool) -> str:
    """Return the count that an answer adds to; failed ones count as unreadable, so that they lower the score."""
    if failed or answer is None:
        return "unreadable_positive" if label else "unreadable_negative"
    return {(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}[answer, label]
