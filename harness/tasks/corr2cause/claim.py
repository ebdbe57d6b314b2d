"""A claim: a hypothesis about a class, its name, its label, and the item that puts it in plain or perturbed words."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, product
from typing import Literal

from harness.causal.dag import DAG, from_integer, relabel
from harness.causal.equivalence import members
from harness.causal.relations import Holds, Relation, common_relations
from harness.codec import shuffled, uniform
from harness.tasks.corr2cause import arguments
from harness.tasks.corr2cause.text import LETTERS, REFACTORED, Hypothesis, as_input, hypothesis, premise
from harness.types import Item, replace


@dataclass(frozen=True, slots=True)
class Claim:
    """A hypothesis about nodes i and j of the class that DAG `number` over n nodes represents.

    `published` is the public label where the claim stands in a public test set, else None.
    """

    n: int
    number: int
    relation: Relation
    i: int
    j: int
    published: int | None = None

    @property
    def cluster(self) -> str:
        """The premise's name: the unit of independence."""
        return f"n{self.n}-g{self.number}"

    @property
    def id(self) -> str:
        """A readable name that no perturbation, split or version changes."""
        return f"n{self.n}-g{self.number}-{self.relation}-{LETTERS[self.i]}-{LETTERS[self.j]}"

    @property
    def derived(self) -> int:
        """1 iff the claim holds in every DAG of the class (§3.5): the audited label."""
        return truth(self.n, self.number)[self.relation][self.i] >> self.j & 1

    @property
    def labels(self) -> Mapping[str, int]:
        """Every label there is, by its label set."""
        if self.published is None:
            return {"audited": self.derived}
        return {"published": self.published, "audited": self.derived}

    @property
    def argument(self) -> Mapping[str, str]:
        """The group of claims with as long a shortest argument (`arguments`); none over seven variables and more."""
        return arguments.groups(self.n, self.number, self.relation, self.i, self.j)


@lru_cache(maxsize=4096)  # all of n = 2 … 6; claims come class by class, so that beyond a few would do
def truth(n: int, number: int) -> Holds:
    """Return the relations that hold throughout a class."""
    return common_relations(members(from_integer(n, number)))


def claims(n: int, number: int, *, seed: int) -> list[Claim]:
    """Return six claims for every pair: one of each two synonymous ones (Table 10), drawn where either will do."""
    lots = _lots(n, number, seed)
    return [
        Claim(n, number, relation, x, y)
        for pair, lot in zip(_forms(n), lots, strict=True)
        for relation, x, y in pair[lot & 15]
    ]


def claim_at(n: int, number: int, place: int, *, seed: int) -> Claim:
    """Return the claim that stands at a place of `claims`."""
    pair, which = divmod(place, 6)
    return Claim(n, number, *_forms(n)[pair][_lots(n, number, seed)[pair] & 15][which])


def count(n: int, numbers: Iterable[int], *, seed: int) -> Counter[Relation]:
    """Count the claims of each relation that the classes have, without making them."""
    pairs = n * (n - 1) // 2
    classes = descendants = 0
    for number in numbers:
        classes += 1
        descendants += sum((lot & 3).bit_count() for lot in _lots(n, number, seed))
    counts = Counter(dict.fromkeys(Relation, classes * pairs))
    counts[Relation.DESCENDANT] = descendants
    counts[Relation.ANCESTOR] = 2 * classes * pairs - descendants
    return counts


def _lots(n: int, number: int, seed: int) -> bytes:
    """Return a byte for every pair of nodes; its lower four bits are drawn."""
    text = f"{seed}\x1forder of arguments\x1f{n}\x1f{number}"
    return hashlib.shake_256(text.encode()).digest(n * (n - 1) // 2)[::-1]


@cache
def _forms(n: int) -> list[list[list[tuple[Relation, int, int]]]]:
    """Return the six claims for every pair of nodes and every lot of 0 … 15."""
    return [
        [
            [
                (Relation.PARENT, i, j),
                (Relation.CHILD, i, j),
                (Relation.DESCENDANT, j, i) if a else (Relation.ANCESTOR, i, j),
                (Relation.DESCENDANT, i, j) if b else (Relation.ANCESTOR, j, i),
                (Relation.COLLIDER, *((j, i) if c else (i, j))),
                (Relation.CONFOUNDER, *((j, i) if d else (i, j))),
            ]
            for d, c, b, a in product((False, True), repeat=4)
        ]
        for i, j in combinations(range(n), 2)
    ]


Perturbation = Literal["none", "paraphrase", "refactorization", "permutation", "varied"]
"""
- paraphrase: the hypothesis in the words of Table 9.
- refactorization: the variables are called Z, Y, X, … instead of A, B, C, … (§4.5), in the graph's order.
- permutation: the graph's nodes change places at random, differently for every premise, so that neither the order of
  letters nor that of sentences tells anything. No question stays word for word what it was.
- varied: permutation under names drawn from A to G for every premise, half of the hypotheses in the words of Table 9.
"""
VARIED = 7
"""The letters from which `varied` draws names; as many as there are variables, if these are more."""
WORDINGS = 8
"""Equivalent wordings of each question. The binary digits of a wording's number say what is other in it:

- 1: the hypothesis has the words of Table 9 in the place of Table 2's, or the other way around.
- 2: the variables, and with them the sentences, come from last to first, and the hypothesis is its converse.
- 4: the variables are listed in an order that is drawn for every premise, and the sentences follow it.
"""


@dataclass(frozen=True)
class ItemWriter:
    """Writes items; the seed draws the permutations. `argument`: with the group of that name."""

    perturbation: Perturbation
    seed: int
    wording: int = 0
    argument: bool = False

    def item(self, claim: Claim) -> Item:
        """Return the claim as a question. Ids, clusters, groups and labels are those of the unperturbed claim."""
        page = _page(self.perturbation, self.seed, self.wording, claim.n, claim.number)
        other_words, turned = bool(self.wording & 1), bool(self.wording & 2)
        paraphrased = self._paraphrases(claim) != other_words
        return page.item(claim, paraphrased=paraphrased, turned=turned, argument=self.argument)

    def _paraphrases(self, claim: Claim) -> bool:
        if self.perturbation == "varied":
            return uniform("words", self.seed, claim.id) < 1 / 2
        return self.perturbation == "paraphrase"


@lru_cache(maxsize=4096)
def _words(of: tuple[Relation, str, str], paraphrased: bool, turned: bool) -> str:
    """Return the hypothesis, or its converse."""
    said = Hypothesis(*of).converse if turned else Hypothesis(*of)
    return hypothesis(said.relation, said.i, said.j, paraphrased=paraphrased)


def item_of(
    name: str,
    premise: str,
    hypothesis: str,
    said: tuple[Relation, str, str],
    n: int,
    labels: Mapping[str, int],
    cluster: str,
) -> Item:
    """Return a hypothesis about a premise of n variables as a question; `said` is what it says, of which variables."""
    relation, var_i, var_j = said
    return Item(
        id=name,
        fields={
            "premise": premise,
            "hypothesis": hypothesis,
            "statement": hypothesis.removesuffix("."),
            "input": as_input(premise, hypothesis),
            "relation": str(relation),
            "var_i": var_i,
            "var_j": var_j,
            "num_nodes": n,
        },
        labels=labels,
        cluster=cluster,
        groups={"relation": str(relation), "num_nodes": str(n)},
    )


@dataclass(frozen=True, slots=True)
class Page:
    """What all items of a class have in common."""

    cluster: str
    names: Sequence[str]
    """What each node of the representative is called."""
    premise: str

    def item(self, claim: Claim, *, paraphrased: bool, turned: bool = False, argument: bool = False) -> Item:
        """Return a claim about the class as a question, its hypothesis in the words of Table 2 or of Table 9.

        `turned` has it say the same from its other end (`text.hypothesis`). `argument` groups it by the length of the
        shortest argument, too.
        """
        said = claim.relation, self.names[claim.i], self.names[claim.j]
        words = _words(said, paraphrased, turned)
        item = item_of(claim.id, self.premise, words, said, claim.n, claim.labels, self.cluster)
        return replace(item, groups={**item.groups, **claim.argument}) if argument else item


@lru_cache(maxsize=64)
def _page(perturbation: Perturbation, seed: int, wording: int, n: int, number: int) -> Page:
    """Return what the items of a class share. Items come class by class, so a small cache suffices."""
    names: Sequence[str] = REFACTORED if perturbation == "refactorization" else LETTERS
    cluster, dag, place = f"n{n}-g{number}", from_integer(n, number), tuple(range(n))
    if perturbation in ("permutation", "varied"):
        place = _permutation(dag, seed, "permutation", cluster)
    if perturbation == "varied":
        names = sorted(shuffled(LETTERS[: max(n, VARIED)], seed, "names", cluster)[:n])
    listed = _listing(n, wording, seed, cluster)
    text = premise(relabel(relabel(dag, place), tuple(map(listed.index, range(n)))), [names[k] for k in listed])
    return Page(cluster, [names[k] for k in place], text)


def _listing(n: int, wording: int, *key: object) -> tuple[int, ...]:
    """Return the order in which a premise lists its n nodes. One that is drawn is neither theirs nor its reverse."""
    order = tuple(range(n))
    if wording & 4 and n > 2:
        plain, draws = (order, order[::-1]), (shuffled(order, "wording", *key, number) for number in itertools.count())
        order = next(drawn for drawn in map(tuple, draws) if drawn not in plain)
    return order[::-1] if wording & 2 else order


def _permutation(dag: DAG, *key: object) -> tuple[int, ...]:
    """Draw a permutation of the nodes; draw again while any question would keep its words."""
    order = range(len(dag))
    draws = (tuple(shuffled(order, *key, *([number] if number else []))) for number in itertools.count())
    return next(place for place in draws if not _keeps_a_question(dag, place))


def _keeps_a_question(dag: DAG, place: tuple[int, ...]) -> bool:
    """Test whether two variables stay where they are while the premise reads as before."""
    still = sum(node == k for k, node in enumerate(place))
    return still > 1 and premise(relabel(dag, place)) == premise(dag)
