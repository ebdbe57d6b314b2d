"""A claim into an item, in the plain words or perturbed so that a shortcut no longer carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from harness.causal.dag import relabel
from harness.draws import shuffled
from harness.tasks.corr2cause.text import LETTERS, REFACTORED, as_input, hypothesis, premise
from harness.tasks.corr2cause.universe import Claim, dag_of
from harness.types import Item

Perturbation = Literal["none", "paraphrase", "refactorization", "permutation"]
"""
- paraphrase: the hypothesis in the words of Table 9.
- refactorization: the variables are called Z, Y, X, … instead of A, B, C, … (§4.5). The list and the
  sentences still follow the graph's order.
- permutation: the graph's nodes change places at random, differently for every premise, and the text is
  written from the new graph. In the representatives all edges run from earlier to later letters, so that a
  model can score by the order of letters or sentences; here neither carries anything.
"""


@dataclass(frozen=True)
class Writer:
    """Writes items; the seed draws the permutations."""

    perturbation: Perturbation
    seed: int

    def item(self, claim: Claim) -> Item:
        """The claim as a question. Ids, clusters, groups and labels are those of the unperturbed claim."""
        names = REFACTORED if self.perturbation == "refactorization" else LETTERS
        place = tuple(range(claim.n))
        if self.perturbation == "permutation":
            place = _places(self.seed, claim.cluster, claim.n)
        text = _premise(claim.n, claim.number, place, names)
        var_i, var_j = names[place[claim.i]], names[place[claim.j]]
        claimed = hypothesis(claim.relation, var_i, var_j, paraphrased=self.perturbation == "paraphrase")
        return Item(
            id=claim.id,
            fields={
                "premise": text,
                "hypothesis": claimed,
                "statement": claimed.removesuffix("."),
                "input": as_input(text, claimed),
                "relation": str(claim.relation),
                "var_i": var_i,
                "var_j": var_j,
                "num_nodes": claim.n,
            },
            labels=claim.labels,
            cluster=claim.cluster,
            groups={"relation": str(claim.relation), "num_nodes": str(claim.n)},
        )


@lru_cache(maxsize=64)
def _premise(n: int, number: int, place: tuple[int, ...], names: Sequence[str]) -> str:
    """The premise with node k moved to place[k]. Items come premise by premise, so few need to be kept."""
    return premise(relabel(dag_of(n, number), place), names)


@lru_cache(maxsize=64)
def _places(seed: int, cluster: str, n: int) -> tuple[int, ...]:
    return tuple(shuffled(range(n), seed, "permutation", cluster))
