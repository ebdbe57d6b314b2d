"""Corr2Cause with hidden variables: what follows where some cannot be seen? The theory is in latent_classes.py.

The paper assumes that all variables are observed (Jin et al. 2024, Limitations). Here a premise tells the relations
among the observed ones of a system with hidden ones besides, and a hypothesis follows iff it is true in every graph of
such a system with exactly these independences.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Annotated, Literal

from pydantic import Field

from harness.causal.relations import Relation
from harness.codec import shuffled
from harness.errors import ConfigError
from harness.protocols import Traits
from harness.tasks.base import OneOrMore, Share, TaskBase
from harness.tasks.corr2cause.text import (
    LETTERS,
    as_input,
    hypothesis,
    listed,
    read_hypothesis,
    read_premise,
    sentences,
)
from harness.tasks.text_models import TextReasoner, UnreadableText
from harness.types import JSON, Item
from harness_papers.latent_classes import (
    MOST_HIDDEN,
    MOST_OBSERVED,
    Independences,
    LatentClass,
    holds_in_every_graph,
    latent_classes,
    renumbered,
)

Observed = Annotated[int, Field(ge=2, le=MOST_OBSERVED)]

ORDERS: Mapping[str, Sequence[str]] = {
    "relation": tuple(Relation),
    "num_nodes": tuple(map(str, range(2, MOST_OBSERVED + 1))),
    "hidden_needed": tuple(map(str, range(MOST_HIDDEN + 1))),
}
_OPENING = (
    "Suppose there is a system of {observed} observed variables, {names}, and at most {hidden} hidden variable{s}, of "
    "which no statistics are known. A cause is called direct if no other observed variable lies between it and its "
    "effect. All the statistical relations among these {observed} variables are as follows:"
)
_READ = re.compile(
    r"system of (\d+) observed variables, (.+?), and at most (\d+) hidden variables?, .+? among these \d+ variables "
    r"are as follows:"
)


@dataclass(frozen=True)
class Latent(TaskBase):
    """The task; configs/task/corr2cause/latent.yaml says what each setting means."""

    prompts: tuple[str, ...]
    hidden: Annotated[int, Field(ge=0, le=MOST_HIDDEN, strict=True)] = 2
    draw: Literal["balanced", "all"] = "balanced"
    num_nodes: Annotated[tuple[Observed, ...] | None, OneOrMore] = None
    prior: Share = field(default=0.5, kw_only=True)

    orders = ORDERS

    @property
    def headline(self) -> Literal["audited"]:
        """The labels by logic: no others have been published."""
        return "audited"

    def all_items(self) -> Sequence[Item]:
        """Return hypotheses of which as many follow as do not, or all six about every pair of every class.

        They are balanced within each relation and number of variables.
        """
        chosen = self._balanced() if self.draw == "balanced" else self._all
        if not chosen:
            raise ConfigError("no item is left: of task.num_nodes nothing follows, so task.draw=balanced has none.")
        return chosen

    def stratum(self, item: Item) -> tuple[str, int]:
        return item.groups["relation"], item.labels["audited"]

    def _balanced(self) -> list[Item]:
        """Return every hypothesis that follows, and of each relation and size as many drawn ones that do not."""
        strata: dict[tuple[str, ...], tuple[list[Item], list[Item]]] = defaultdict(lambda: ([], []))
        for item in self._all:
            strata[item.groups["num_nodes"], item.groups["relation"]][item.labels["audited"]].append(item)
        kept = {
            item.id
            for stratum, (others, valid) in strata.items()
            for item in (*valid, *shuffled(others, self.seed, "balanced", *stratum)[: len(valid)])
        }
        return [item for item in self._all if item.id in kept]

    @cached_property
    def _all(self) -> list[Item]:
        sizes = dict.fromkeys(self.num_nodes or range(2, MOST_OBSERVED + 1))
        return [item for n in sizes for item in self._items(n)]

    def _items(self, n: int) -> Iterator[Item]:
        for number, latent_class in enumerate(latent_classes(n, self.hidden).values()):
            cluster = f"h{self.hidden}-n{n}-c{number}"
            # In the representatives the order of the letters may tell something.
            place = shuffled(range(n), self.seed, "latent", cluster)
            text = premise(n, self.hidden, renumbered(latent_class.independences, place))
            names = [LETTERS[k] for k in place]
            for (a, b), relation in product(combinations(range(n), 2), Relation):
                yield self._item(latent_class, cluster, text, names, relation, a, b)

    def _item(
        self,
        latent_class: LatentClass,
        cluster: str,
        text: str,
        names: Sequence[str],
        relation: Relation,
        a: int,
        b: int,
    ) -> Item:
        """Return a hypothesis about nodes a and b of a class; `names` says what the text calls each node."""
        var_i, var_j = names[a], names[b]
        claimed = hypothesis(relation, var_i, var_j)
        return Item(
            id=f"{cluster}-{relation}-{LETTERS[a]}-{LETTERS[b]}",  # whatever the seed calls them
            fields={
                "premise": text,
                "hypothesis": claimed,
                "statement": claimed.removesuffix("."),
                "input": as_input(text, claimed),
                "relation": str(relation),
                "var_i": var_i,
                "var_j": var_j,
                "num_nodes": latent_class.observed,
                "hidden": self.hidden,
            },
            labels={"audited": latent_class.holds[relation][a] >> b & 1},
            cluster=cluster,
            groups={
                "relation": str(relation),
                "num_nodes": str(latent_class.observed),
                "hidden_needed": str(latent_class.hidden_needed),
            },
        )


def premise(observed: int, hidden: int, statements: Independences) -> str:
    """Write the relations of observed variables A, B, … in words, and how many hidden ones there may be."""
    names = LETTERS[:observed]
    opening = _OPENING.format(observed=observed, names=listed(names), hidden=hidden, s="" if hidden == 1 else "s")
    return opening + sentences(observed, sorted(statements), names)


@dataclass(frozen=True)
class LatentReasoner(TextReasoner):
    """Answers the task's questions by what holds in every graph of the class that the premise's words describe."""

    name: str = "latent_reasoner"

    @property
    def traits(self) -> Traits:
        return Traits(role="solver", instant=True, tasks=("corr2cause/latent",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "latent reasoner"}

    def answer(self, words: str) -> str:
        return "Yes" if follows(words) else "No"


def follows(words: str) -> bool:
    """Test whether the last question in some words follows.

    Raises UnreadableText where it is in other words than these, or beyond what has been looked at.
    """
    *_, opening = [None, *_READ.finditer(words)]
    if opening is None:
        raise UnreadableText("there is no system of observed and hidden variables")
    observed, hidden = int(opening[1]), int(opening[3])
    body, _, rest = words[opening.end() :].partition("\n")
    text = f"closed system of {observed} variables, {opening[2]}. All the statistical relations among these {observed} "
    stated = read_premise(f"{text}variables are as follows:{body}")
    if stated.silent:
        i, j = stated.silent[0]
        raise UnreadableText(f"the premise says nothing of {stated.names[i]} and {stated.names[j]}")
    if not 2 <= observed <= MOST_OBSERVED or hidden > MOST_HIDDEN:
        raise UnreadableText(f"{observed} observed and {hidden} hidden variables are more than all graphs are known of")
    claim = read_hypothesis(rest, stated.names)
    i, j = stated.names.index(claim.i), stated.names.index(claim.j)
    holds = holds_in_every_graph(observed, hidden, stated.independences, claim.relation, i, j)
    if holds is None:
        raise UnreadableText(f"no graph with at most {hidden} hidden variables has exactly the stated independences")
    return holds
