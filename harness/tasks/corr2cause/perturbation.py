"""A claim into an item, in the plain words or perturbed so that a shortcut no longer carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Literal

from harness.causal.dag import DAG, from_integer, relabel
from harness.causal.relations import Relation
from harness.seeding import shuffled, uniform
from harness.tasks.corr2cause.hypothesis import Claim
from harness.tasks.corr2cause.text import LETTERS, REFACTORED, as_input, hypothesis, premise
from harness.types import Item

Perturbation = Literal["none", "paraphrase", "refactorization", "permutation", "varied"]
"""
- paraphrase: the hypothesis in the words of Table 9.
- refactorization: the variables are called Z, Y, X, … instead of A, B, C, … (§4.5). The list and the
  sentences still follow the graph's order.
- permutation: the graph's nodes change places at random, differently for every premise, and the text is
  written from the new graph. In the representatives all edges run from earlier to later letters, so that a
  model can score by the order of letters or sentences; here neither carries anything. No question stays word
  for word what it was.
- varied: permutation under names that are drawn from A to G for every premise, and half of the hypotheses in the
  words of Table 9. For models to learn from that are to hold under all of it.
"""
VARIED = 7
"""From so many letters varied draws names, or from as many as there are variables."""


@dataclass(frozen=True)
class Writer:
    """Writes items; the seed draws the permutations."""

    perturbation: Perturbation
    seed: int

    def item(self, claim: Claim) -> Item:
        """Return the claim as a question. Ids, clusters, groups and labels are those of the unperturbed claim."""
        page = _page(self.perturbation, self.seed, claim.n, claim.number)
        relation, var_i, var_j = str(claim.relation), page.names[claim.i], page.names[claim.j]
        claimed, statement = _words(claim.relation, var_i, var_j, self._paraphrases(claim))
        return Item(
            id=claim.id,
            fields={
                "premise": page.premise,
                "hypothesis": claimed,
                "statement": statement,
                "input": as_input(page.premise, claimed),
                "relation": relation,
                "var_i": var_i,
                "var_j": var_j,
                "num_nodes": claim.n,
            },
            labels=claim.labels,
            cluster=page.cluster,
            groups={"relation": relation, "num_nodes": page.num_nodes},
        )

    def _paraphrases(self, claim: Claim) -> bool:
        if self.perturbation == "varied":
            return uniform("words", self.seed, claim.id) < 1 / 2
        return self.perturbation == "paraphrase"


@lru_cache(maxsize=4096)
def _words(relation: Relation, var_i: str, var_j: str, paraphrased: bool) -> tuple[str, str]:
    """Return the hypothesis with and without its full stop."""
    claimed = hypothesis(relation, var_i, var_j, paraphrased=paraphrased)
    return claimed, claimed.removesuffix(".")


@dataclass(frozen=True, slots=True)
class _Page:
    """What all items of a class have in common."""

    cluster: str
    names: Sequence[str]
    """What each node of the representative is called."""
    premise: str
    num_nodes: str


@lru_cache(maxsize=64)
def _page(perturbation: Perturbation, seed: int, n: int, number: int) -> _Page:
    """Return what the items of a class share; they come class by class, so few pages need to be kept."""
    names: Sequence[str] = REFACTORED if perturbation == "refactorization" else LETTERS
    cluster, dag, place = f"n{n}-g{number}", from_integer(n, number), tuple(range(n))
    if perturbation in ("permutation", "varied"):
        place = _permutation(dag, seed, "permutation", cluster)
    if perturbation == "varied":
        names = sorted(shuffled(LETTERS[: max(n, VARIED)], seed, "names", cluster)[:n])
    return _Page(cluster, [names[k] for k in place], premise(relabel(dag, place), names), str(n))


def _permutation(dag: DAG, *key: object) -> tuple[int, ...]:
    """Draw where each node goes, again as long as some question would stay word for word as it is."""
    order = range(len(dag))
    draws = (tuple(shuffled(order, *key, *([number] if number else []))) for number in count())
    return next(place for place in draws if not _keeps_a_question(dag, place))


def _keeps_a_question(dag: DAG, place: tuple[int, ...]) -> bool:
    """Test whether two variables stay where they are while the premise reads as before."""
    still = sum(node == k for k, node in enumerate(place))
    return still > 1 and premise(relabel(dag, place)) == premise(dag)
