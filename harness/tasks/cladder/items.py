"""Questions into items: fields for prompts, the answers of each label set, and what each item counts in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal

from harness.codec import shuffled
from harness.errors import DataError
from harness.tasks.base import subset
from harness.tasks.cladder.models import Variant, rounds
from harness.tasks.cladder.parse_text import read_question
from harness.tasks.cladder.queries import NUMERIC, RUNGS, TITLES, Query
from harness.tasks.cladder.questions import ToldModel, ToldQuestion
from harness.tasks.cladder.stated import stated_answer
from harness.tasks.cladder.stories import GraphStory, graphs_of, invented_names, names, renamed, story
from harness.tasks.data_files import Row, filled, numbered, shipped
from harness.tasks.text_models import UnreadableText
from harness.types import Item

Perturbation = Literal["none", "nonsense", "letters"]
"""
- nonsense: the variables are called invented words, as in the stories of the variant nonsense.
- letters: they are called single letters, drawn for each model.
Ids, clusters, groups, labels and numbers stay as they are.
"""
LETTERS = "BCDFGHJKLMNPQRSTVWZ"
_BY_TITLE = {title: query for query, title in TITLES.items()}


@dataclass(frozen=True)
class QuestionChoice:
    """Which questions are wanted, and how they are told."""

    variants: tuple[Variant, ...]
    queries: tuple[Query, ...] | None
    headline: str
    perturbation: Perturbation
    seed: int

    def takes(self, query: Query, variant: str, difficulty: str) -> bool:
        by_variant = variant in self.variants or (variant == "commonsense" and difficulty in self.variants)
        return by_variant and (self.queries is None or query in self.queries)

    def about(self, models: Iterable[ToldModel]) -> Iterator[ToldQuestion]:
        """Yield the questions about some models that are wanted."""
        for model in models:
            for question in model.questions():
                if self.takes(question.ask.query, model.variant, model.difficulty):
                    yield question

    def told(self, question: ToldQuestion) -> ToldQuestion:
        """Return a question in the words of its item."""
        if self.perturbation == "none":
            return question
        model = question.model
        return replace(question, model=replace(model, story=_renamed(model, self.perturbation, self.seed)))

    def item(self, question: ToldQuestion) -> Item:
        """Return a question as an item."""
        told, model = self.told(question), question.model
        parts = told.model.background, told.given, told.text
        groups = groups_of(question.ask.query, model.scm.graph.name, model.variant, model.difficulty)
        return item_of(question.name, parts, question.labels, model.cluster, groups)

    def subset(self, items: Sequence[Item], limit: int) -> list[Item]:
        """Return so many of the items, of each kind of question and variant its share."""
        return subset(
            items,
            limit,
            stratum=lambda item: (_BY_TITLE[item.groups["query"]], item.groups["variant"]),
            name=lambda item: item.id,
            seed=self.seed,
        )


def item_of(
    name: str, parts: tuple[str, str, str], labels: Mapping[str, int], cluster: str, groups: Mapping[str, str]
) -> Item:
    """Return an item of a text's parts: its background, what it gives, and what it asks."""
    fields = {
        "text": " ".join(filter(None, parts)),
        **dict(zip(("background", "given", "question"), parts, strict=True)),
    }
    return Item(id=name, fields=fields, labels=labels, cluster=cluster, groups=groups)


def groups_of(query: Query, graph: str, variant: str, difficulty: str = "") -> dict[str, str]:
    """Return what an item counts in; not every source tells the difficulty."""
    groups = {"rung": str(RUNGS[query]), "query": TITLES[query], "graph": graph, "variant": variant}
    return groups | ({"difficulty": difficulty} if difficulty else {})


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
        found = (one for one in choice.about(models) if choice.headline != "stated" or one.stated is not None)
        items = [choice.item(one) for one in found if _is_new(one, choice, known)]
        dry = 0 if items else dry + 1
        if dry == DRY_ROUNDS:
            return
        yield from choice.subset(items, left) if len(items) > left else items
        left -= len(items)
        if left <= 0:
            return


def _is_new(question: ToldQuestion, choice: QuestionChoice, known: set[bytes]) -> bool:
    """Test whether a question is not known, and add it to what is."""
    digests = {text_digest(question.whole), text_digest(choice.told(question).whole)}
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
    digests = shipped("cladder/public_texts.bin")
    return frozenset(digests[place : place + 8] for place in range(0, len(digests), 8))


def joined_clusters(items: Iterable[Item]) -> Mapping[str, str]:
    """Return the name of each cluster's union with all that it shares a text with: a text is in one cluster."""
    first: dict[str, str] = {}
    union: dict[str, str] = {}

    def root(cluster: str) -> str:
        while (above := union.setdefault(cluster, cluster)) != cluster:
            union[cluster] = cluster = union[above]
        return cluster

    for item in items:
        mine, other = root(item.cluster), root(first.setdefault(str(item.fields["text"]), item.cluster))
        union[mine] = other
    return {cluster: root(cluster) for cluster in union}


@lru_cache(maxsize=64)
def _renamed(model: ToldModel, perturbation: Perturbation, seed: int) -> GraphStory:
    pool = invented_names() if perturbation == "nonsense" else tuple(LETTERS)
    drawn = shuffled(pool, "cladder", perturbation, seed, model.cluster)
    return renamed(model.story, dict(zip(model.story.graph.nodes, drawn, strict=False)))


_OF_THE_GRAPH = re.compile(r" has a direct effect on | is unobserved\.")


def balanced1000() -> Iterator[Row]:
    """Return the first 1,000 questions of the authors' balanced set, as data/README.md says."""
    return numbered(json.loads(shipped("cladder/balanced1000.json.gz")), "balanced1000")


def published_items(rows: Iterable[Row], choice: QuestionChoice) -> Iterator[Item]:
    """Yield the wanted rows, which have the Hub's columns, as items.

    Those of no model's id are in one cluster with all of story, graph and variant.
    """
    for row in rows:
        columns = row.columns
        if not columns.get("prompt") or columns.get("label") in (None, ""):
            raise DataError(
                f"{row.where} needs the columns prompt, label and query_type; it has {filled(columns)}. Questions in "
                "other columns are task=questions."
            )
        query: Any = columns.get("query_type")
        if query not in RUNGS:
            raise DataError(f"{row.where} has the query_type {query!r}; {', '.join(RUNGS)} are CLadder's.")
        label = str(columns["label"]).strip().lower()
        if label not in ("yes", "no"):
            raise DataError(f"{row.where} has the label {columns['label']!r}; yes and no are allowed.")
        text, story_id, graph = str(columns["prompt"]).strip(), str(columns.get("story_id")), columns.get("graph_id")
        variant = _variant(story_id, text)
        if not choice.takes(query, variant, ""):
            continue
        labels = {"published": int(label == "yes"), **_labels(text, query, columns.get("exact"))}
        model = "" if (known := columns.get("model_id")) is None else f"-model{known}"
        cluster, groups = f"{story_id}-{graph}-{variant}{model}", groups_of(query, str(graph), variant)
        yield item_of(row.id(columns.get("id", row.number)), _parted(text), labels, cluster, groups)


def _labels(text: str, query: Query, exact: object) -> dict[str, int]:
    """Return the answers besides the published one; `exact` takes a column, or a question without numbers."""
    try:
        answer = stated_answer(read_question(text))
    except UnreadableText:  # it is in other words, or says two things
        answer = None
    labels = {} if answer is None else {"stated": int(answer)}
    if isinstance(exact, int):
        labels["exact"] = exact
    elif query not in NUMERIC and answer is not None:
        labels["exact"] = int(answer)
    return labels


def _variant(name: str, text: str) -> str:
    """Return which of the three: the words of the story tell, and whether all of them are there."""
    if name.startswith("nonsense"):
        return "nonsense"
    if name not in names(nonsense=False):
        return "commonsense"
    (graph,) = graphs_of(name)
    called = {words.name for words in story(name, graph).words.values()}
    return "commonsense" if all(one.lower() in text.lower() for one in called) else "anticommonsense"


def _parted(text: str) -> tuple[str, str, str]:
    """Return a text's background, what it gives, and what it asks."""
    sentences = re.split(r"(?<=[.:]) ", text)
    last = max((place for place, one in enumerate(sentences) if _OF_THE_GRAPH.search(one)), default=-1)
    parts = sentences[: last + 1], sentences[last + 1 : -1], sentences[-1:]
    background, given, asked = (" ".join(part) for part in parts)
    return background, given, asked
