"""CLadder: can a model climb from association to intervention to counterfactuals? (Jin et al., NeurIPS 2023)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Annotated, Literal

from pydantic import Field

from harness.errors import ConfigError, unknown
from harness.tasks.base import LazyItems, OneOrMore, SourcedTask, in_brackets
from harness.tasks.cladder.graphs import GRAPHS
from harness.tasks.cladder.items import (
    FINITE,
    Perturbation,
    QuestionChoice,
    balanced1000,
    fresh_items,
    joined_clusters,
    published_items,
)
from harness.tasks.cladder.models import Variant, sample
from harness.tasks.cladder.queries import RUNGS, TITLES, Query
from harness.tasks.data_files import shipped
from harness.types import JSON, Item
from harness.types import replace as changed

ORDERS: Mapping[str, Sequence[str]] = {
    "rung": ("1", "2", "3"),
    "query": tuple(TITLES.values()),
    "graph": tuple(GRAPHS),
    "variant": ("commonsense", "anticommonsense", "nonsense"),
    "difficulty": ("easy", "hard", "random"),
}
AS_MANY_AS_PUBLISHED = 10_112
"""Fresh items where no limit says otherwise."""
BALANCED = "balanced1000"
HUB_SPLIT = "full_v1.5_default"
"""Of the Hub's data set: the 10,112 questions of version 1.5."""
BUILTIN = ("fresh", "sample", BALANCED)
"""What is built in: made from the seed, the questions of the authors' repository, and 1,000 of the released set."""

_ONLY_SO_MANY = "Of some kinds ({}) there are only so many questions: seeds share some, and some may be public."


@dataclass(frozen=True)
class CLadder(SourcedTask):
    """The benchmark; configs/task/cladder.yaml says what each setting means."""

    prompts: tuple[str, ...]
    split: str | None = None
    variants: Annotated[tuple[Variant, ...], OneOrMore, Field(min_length=1)] = (
        "commonsense",
        "anticommonsense",
        "nonsense",
    )
    labels: Literal["published", "exact", "stated"] | None = None
    perturbation: Perturbation = "none"
    queries: Annotated[tuple[Query, ...] | None, OneOrMore] = None

    orders = ORDERS
    hub_path = "causalnlp/CLadder"

    def __post_init__(self) -> None:
        """Refuse combinations of settings that mean nothing."""
        self._check_origin()
        if self.labels == "published" and self._is_fresh:
            raise ConfigError(
                "task.labels=published: nobody has published answers to fresh questions; use task.split=sample, "
                "task.source=file or hub, or one of task.labels=stated and exact."
            )
        halves = {"easy", "hard"} & set(self.variants)
        if len(set(self.variants)) < len(self.variants) or ("commonsense" in self.variants and halves):
            raise ConfigError(
                f"task.variants=[{','.join(self.variants)}] names items twice: commonsense is easy and hard together."
            )

    def _check_origin(self) -> None:
        if self.source == "builtin" and self.split not in (None, *BUILTIN):
            raise ConfigError(unknown("task.split", str(self.split), BUILTIN))
        self.check_source()
        if self.source == "file" and self.split:
            raise ConfigError(f"task.source=file takes all rows of the file: leave out task.split={self.split}.")
        if (self.source != "builtin" or self.split == BALANCED) and self.perturbation != "none":
            raise ConfigError(
                f"task.perturbation={self.perturbation} needs questions that are made here (task.split=fresh or "
                "sample); published ones are taken as they are."
            )

    @property
    def headline(self) -> str:
        if self.labels:
            return self.labels
        return "stated" if self._is_fresh else "published"

    @property
    def remarks(self) -> Sequence[str]:
        """How many questions the label set leaves out; of fresh ones, which cannot be new without end."""
        if self._is_fresh:
            finite = [TITLES[query] for query in FINITE if query in (self._choice.queries or RUNGS)]
            return (_ONLY_SO_MANY.format(", ".join(finite)),) if finite else ()
        if self.headline == "published":
            return ()
        left_out, why = self._listed[1], {"stated": "their words leave the answer open", "exact": "no model tells it"}
        if not left_out:
            return ()
        return (f"{left_out:,} questions are left out of task.labels={self.headline}: {why[self.headline]}.",)

    @property
    def _is_fresh(self) -> bool:
        return self.source == "builtin" and self.split in (None, "fresh")

    def items(self) -> Iterable[Item]:
        """Return the questions, one at a time where they are made."""
        return self._fresh_items() if self._is_fresh else self._listed[0]

    def _fresh_items(self) -> Iterable[Item]:
        if set(self._choice.queries or RUNGS) <= set(FINITE):  # how many there are is known when all are made
            items = list(self._fresh(self.limit or 0))
            if not items:
                raise ConfigError(f"no item is left: all of task.queries={in_brackets(self.queries)} are public.")
            return items
        number = self.limit or AS_MANY_AS_PUBLISHED
        return LazyItems(lambda: self._fresh(number), number)

    def _fresh(self, number: int) -> Iterator[Item]:
        """Yield so many fresh items, as many as there are where it is 0. Raises ConfigError where there are fewer."""
        count = 0
        for item in fresh_items(self._choice, number or AS_MANY_AS_PUBLISHED):
            count += 1
            yield item
        if count < number:
            raise ConfigError(
                f"task.limit={number}: there are {count:,} such questions and no more; use task.limit={count}, "
                f"or take others than task.queries={in_brackets(self.queries)}."
            )

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return four solved questions that no split asks."""
        return _solved()

    @cached_property
    def _choice(self) -> QuestionChoice:
        return QuestionChoice(self.variants, self.queries, self.headline, self.perturbation, self.seed)

    @cached_property
    def _listed(self) -> tuple[list[Item], int]:
        """The questions that there are, and how many the label set leaves out."""
        choice, told = self._choice, {}
        if self.source == "builtin" and self.split != BALANCED:
            told = {question.name: question for question in choice.about(sample())}
            items = list(map(replace(choice, perturbation="none").item, told.values()))
        else:
            rows = balanced1000() if self.source == "builtin" else self.rows(self.split or HUB_SPLIT)
            items = list(published_items(rows, choice))
        known = [item for item in items if choice.headline in item.labels]
        if not known:
            raise ConfigError(
                "no item is left: none of the questions is of these task.variants and queries and has an answer by "
                f"task.labels={choice.headline}."
            )
        chosen = known if self.limit is None else choice.subset(known, self.limit)
        clusters = joined_clusters(chosen)
        if choice.perturbation != "none":
            chosen = [choice.item(told[item.id]) for item in chosen]
        return [changed(item, cluster=clusters[item.cluster]) for item in chosen], len(items) - len(known)


@cache
def _solved() -> Sequence[Mapping[str, JSON]]:
    """Return the fields of the examples, with the steps to the answer and the answer."""
    import yaml

    found = yaml.safe_load(shipped("cladder/examples.yaml"))
    return [{"text": f"{one['background']} {one['given']} {one['question']}", **one} for one in found]
