"""Questions into items: fields for prompts, the answers of each label set, and what each item counts in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, Protocol, TypeVar

from harness.codec import shuffled
from harness.errors import ConfigError
from harness.tasks.base import subset
from harness.tasks.cladder.models import FreshModel, SampleModel, Variant, rounds, sample
from harness.tasks.cladder.queries import RUNGS, TITLES, Query
from harness.tasks.cladder.questions import ToldQuestion
from harness.tasks.cladder.stories import GraphStory, invented_names, renamed
from harness.types import Item

Perturbation = Literal["none", "nonsense", "letters"]
"""
- nonsense: the variables are called invented words, as in the stories of the variant nonsense.
- letters: they are called single letters, drawn for each model.
Ids, clusters, groups, labels and numbers stay as they are.
"""
LETTERS = "BCDFGHJKLMNPQRSTVWZ"


@dataclass(frozen=True)
class QuestionChoice:
    """Which questions are wanted, and how they are told."""

    variants: tuple[Variant, ...]
    queries: tuple[Query, ...] | None
    headline: str
    perturbation: Perturbation
    seed: int

    def takes(self, variant: str, difficulty: str) -> bool:
        return variant in self.variants or (variant == "commonsense" and difficulty in self.variants)


class QuestionSource(Protocol):
    """What an item is made from: a question that is made here, or a row of a data set."""

    @property
    def name(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def query(self) -> Query: ...

    @property
    def graph(self) -> str: ...

    @property
    def variant(self) -> str: ...

    @property
    def difficulty(self) -> str: ...

    @property
    def cluster(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, int]: ...

    def item(self, choice: QuestionChoice) -> Item: ...


S = TypeVar("S", bound=QuestionSource)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A question that may become an item."""

    name: str
    question: ToldQuestion
    model: FreshModel | SampleModel

    def item(self, choice: QuestionChoice) -> Item:
        """Return it as an item."""
        told = self.perturbed(choice)
        return item_of(self, _text(told), told.model.background, told.given, told.text)

    @property
    def text(self) -> str:
        return _text(self.question)

    def perturbed(self, choice: QuestionChoice) -> ToldQuestion:
        """Return the question in the words of the item."""
        if choice.perturbation == "none":
            return self.question
        model = self.question.model
        story = _renamed(model.story, choice.perturbation, self.cluster, choice.seed)
        return ToldQuestion(replace(model, story=story), self.question.ask)

    def wanted(self, choice: QuestionChoice) -> bool:
        """Test whether the candidate has a label of the headline's label set."""
        return choice.headline != "stated" or self.question.stated is not None

    @property
    def query(self) -> Query:
        return self.question.ask.query

    @property
    def graph(self) -> str:
        return self.model.scm.graph.name

    @property
    def labels(self) -> dict[str, int]:
        """Its answers; `stated` where the words decide one."""
        labels = {"exact": self.question.exact}
        if isinstance(self.model, SampleModel):
            labels["published"] = self.question.published()
        if self.question.stated is not None:
            labels["stated"] = self.question.stated
        return labels

    @property
    def variant(self) -> str:
        return self.model.variant

    @property
    def difficulty(self) -> str:
        return self.model.difficulty

    @property
    def cluster(self) -> str:
        """Story and model: what is asked about one model is not independent."""
        return self.model.cluster


def item_of(source: QuestionSource, text: str, background: str, given: str, asked: str) -> Item:
    """Return a question in these words as an item."""
    query, difficulty = source.query, source.difficulty
    groups = {"rung": str(RUNGS[query]), "query": TITLES[query], "graph": source.graph, "variant": source.variant}
    return Item(
        id=source.name,
        fields={"text": text, "background": background, "given": given, "question": asked},
        labels=source.labels,
        cluster=source.cluster,
        groups=groups | ({"difficulty": difficulty} if difficulty else {}),
    )


def _text(question: ToldQuestion) -> str:
    return f"{question.model.background} {question.given} {question.text}"


FINITE: tuple[Query, ...] = ("backadj", "det-counterfactual", "collider_bias")
"""Kinds of questions that print no number, or a single one: there are only so many texts."""
DRY_ROUNDS = 40
"""Rounds without a new text after which there are taken to be no more."""


def fresh_items(choice: QuestionChoice, limit: int) -> Iterator[Item]:
    """Yield `limit` fresh items: whole rounds of models, then a subset of the last round by query and variant.

    No text comes twice, in the words of the item or without a perturbation, and none is public. With `stated` as the
    headline only questions whose words decide the answer count. There may be fewer than `limit`: see `FINITE`.
    """
    left, dry, known = limit, 0, set(public_texts())
    for models in rounds(choice.variants, choice.seed):
        found = _wanted(candidates_of(models), choice)
        candidates = [one for one in found if one.wanted(choice) and _is_new(one, choice, known)]
        dry = 0 if candidates else dry + 1
        if dry == DRY_ROUNDS:
            return
        if len(candidates) > left:
            candidates = _subset(candidates, left, choice.seed)
        for candidate in candidates:
            yield candidate.item(choice)
        left -= len(candidates)
        if not left:
            return


def _is_new(candidate: Candidate, choice: QuestionChoice, known: set[bytes]) -> bool:
    """Test whether a question is not known, and add it to what is."""
    digests = {text_digest(candidate.text)}
    if choice.perturbation != "none":
        digests.add(text_digest(_text(candidate.perturbed(choice))))
    if digests & known:
        return False
    known |= digests
    return True


def text_digest(text: str) -> bytes:
    """Return what stands for a text in data/public_texts.bin: the first eight bytes of its SHA-256."""
    return hashlib.sha256(text.encode()).digest()[:8]


@cache
def public_texts() -> frozenset[bytes]:
    """Return the digests of the authors' public texts (data/README.md says which)."""
    digests = (resources.files("harness") / "data" / "cladder" / "public_texts.bin").read_bytes()
    return frozenset(digests[place : place + 8] for place in range(0, len(digests), 8))


def joined_clusters(sources: Iterable[QuestionSource]) -> Mapping[str, str]:
    """Return the name of each cluster's union with all that it shares a text with: a text is in one cluster."""
    first: dict[str, str] = {}
    union: dict[str, str] = {}

    def root(cluster: str) -> str:
        while (above := union.setdefault(cluster, cluster)) != cluster:
            union[cluster] = cluster = union[above]
        return cluster

    for source in sources:
        mine, other = root(source.cluster), root(first.setdefault(source.text, source.cluster))
        union[mine] = other
    return {cluster: root(cluster) for cluster in union}


def candidates_of(models: Iterable[FreshModel | SampleModel]) -> Iterator[Candidate]:
    """Yield what is asked about the models."""
    for model in models:
        for name, question in model.questions():
            yield Candidate(name, question, model)


def sample_candidates() -> Iterator[Candidate]:
    """Yield the authors' own questions, made again."""
    return candidates_of(sample())


def listed(sources: Iterable[S], choice: QuestionChoice, limit: int | None) -> tuple[list[S], int]:
    """Return the questions that are wanted, and how many more the headline's label set leaves out.

    Raises ConfigError where none is wanted.
    """
    wanted = list(_wanted(sources, choice))
    known = [source for source in wanted if choice.headline in source.labels]
    if not known:
        raise ConfigError(
            "no item is left: none of the questions is of these task.variants and queries and has an answer by "
            f"task.labels={choice.headline}."
        )
    chosen = known if limit is None else _subset(known, limit, choice.seed)
    return chosen, len(wanted) - len(known)


def _wanted(candidates: Iterable[S], choice: QuestionChoice) -> Iterator[S]:
    for candidate in candidates:
        asked = choice.queries is None or candidate.query in choice.queries
        if asked and choice.takes(candidate.variant, candidate.difficulty):
            yield candidate


def _subset(candidates: Sequence[S], limit: int, seed: int) -> list[S]:
    return subset(
        candidates,
        limit,
        stratum=lambda candidate: (candidate.query, candidate.variant),
        name=lambda candidate: candidate.name,
        seed=seed,
    )


@lru_cache(maxsize=64)
def _renamed(story: GraphStory, perturbation: Perturbation, cluster: str, seed: int) -> GraphStory:
    pool = invented_names() if perturbation == "nonsense" else tuple(LETTERS)
    drawn = shuffled(pool, "cladder", perturbation, seed, cluster)
    return renamed(story, dict(zip(story.graph.nodes, drawn, strict=False)))
