"""The built-in item that has a text: what makes a row of the Hub the same item as one that is made here."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache

from harness.causal.renaming import smallest
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.hypothesis import Claim, claims
from harness.tasks.corr2cause.parse_text import Premise, Unreadable, read_dag, read_premise
from harness.tasks.corr2cause.perturbation import Perturbation, Writer
from harness.tasks.corr2cause.text import as_input
from harness.types import Item


@lru_cache(maxsize=4096)
def class_of(premise: Premise) -> tuple[int, int]:
    """Return (n, representative) of the premise's class up to renaming. Raises Unreadable."""
    return len(premise.names), smallest(read_dag(premise))


class BuiltinTexts:
    """The built-in items by their texts: those of the public test set, and all six of each pair beside them.

    Only items of a class that is asked about are made. They are kept by the SHA-256 of their text.
    """

    def __init__(self, perturbation: Perturbation, seed: int) -> None:
        """Take the words of a perturbation; `seed` draws the order of arguments where the paper drew it."""
        self._writer, self._seed = Writer(perturbation, seed), seed
        self._classes: dict[tuple[int, int], Mapping[bytes, Claim]] = {}

    def item(self, premise: str, hypothesis: str) -> Item | None:
        """Return the built-in item that reads so; None where there is none."""
        try:
            key = class_of(read_premise(premise))
        except Unreadable:
            return None
        if key not in self._classes:
            self._classes[key] = self._by_text(*key)
        claim = self._classes[key].get(_digest(as_input(premise, hypothesis)))
        return None if claim is None else self._writer.item(claim)

    def _by_text(self, n: int, number: int) -> Mapping[bytes, Claim]:
        everything = [*claims(n, number, seed=self._seed), *self._public[n, number]]
        # The public test set comes last: where both have a text, the claim is the published one.
        return {_digest(str(self._writer.item(claim).fields["input"])): claim for claim in everything}

    @cached_property
    def _public(self) -> Mapping[tuple[int, int], list[Claim]]:
        by_class: dict[tuple[int, int], list[Claim]] = defaultdict(list)
        for claim in public_test("v2"):
            by_class[claim.n, claim.number].append(claim)
        return by_class


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
