"""Which premises and hypotheses are drawn: blocks of one composition, no premise twice, all renamed at random.

Every premise is of a class about which something follows, and something does not, in each of the four kinds of
relation. So which relation is asked about and what the answer is are drawn apart from the premise, which by itself
tells neither. Nothing else is chosen: of each size all such classes are equally likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, permutations
from typing import Literal

from harness.causal.dag import from_integer, relabel
from harness.causal.relations import Relation
from harness.codec import permuted, shuffled, uniform
from harness.tasks.corr2cause.arguments import OTHER_END, SYMMETRIC, Meaning, meaning
from harness.tasks.corr2cause.claim import Claim, Page, truth
from harness.tasks.corr2cause.enumerate import premises, public_test
from harness.tasks.corr2cause.text import LETTERS, premise

SIZES = (5, 6, 7)
PHRASINGS = ("Table 2", "Table 9")
"""Of hypotheses, as groups call them."""
Stratum = tuple[Relation, int]
"""(relation, label)."""

MOST_ORDERS = 10_000
"""There is one that fits: from causes first to effects first, claims of a parent become those of a child one by one."""
ORDERED = (Relation.PARENT, Relation.CHILD)
"""Relations that the order in which a premise lists the two variables tells apart, as in the public data."""
_PUBLISHED = {
    Relation.PARENT: (9, 2),
    Relation.ANCESTOR: (10, 1),
    Relation.CHILD: (9, 2),
    Relation.DESCENDANT: (10, 1),
    Relation.COLLIDER: (7, 4),
    Relation.CONFOUNDER: (10, 1),
}
"""(No, Yes): within a third of a point the audited shares of the public test split v2. There a child never follows, as
every cause has an earlier letter than its effect; here a relation has as many as the same seen from its other end."""
DECKS: Mapping[str, Mapping[Stratum, int]] = {
    "even": {(relation, label): 1 for relation in Relation for label in (0, 1)},
    "published": {(relation, k): pair[k] for relation, pair in _PUBLISHED.items() for k in (0, 1)},
}


@dataclass(frozen=True)
class Blocks:
    """The claims of every block, in order, from a seed."""

    balance: str
    per_premise: int
    sizes: tuple[int, ...]

    @property
    def deck(self) -> int:
        """How many items the balance needs."""
        return sum(DECKS[self.balance].values())

    @property
    def size(self) -> int:
        """The number of items of a block: at least one deck, and one premise."""
        return max(self.deck, self.per_premise)

    @property
    def fits(self) -> bool:
        """Test whether blocks consist of whole premises and of whole decks."""
        return self.size % self.per_premise == 0 and self.size % self.deck == 0

    @property
    def _strata(self) -> list[Stratum]:
        """The strata of a block's items, sorted."""
        return [stratum for stratum, number in DECKS[self.balance].items() for _ in range(number)] * (
            self.size // self.deck
        )

    @property
    def needs(self) -> tuple[tuple[Stratum, int], ...]:
        """How many claims of each kind and label a class must have, whichever strata its premise meets."""
        of_kinds = Counter((OTHER_END.get(relation, relation), label) for relation, label in self._strata)
        return tuple((stratum, min(number, self.per_premise)) for stratum, number in of_kinds.items())

    def plan(self, classes: Mapping[int, DrawnClasses]) -> Iterator[tuple[int, ...]]:
        """Yield the sizes that take part in each block, until none can make a whole one.

        A size of which too few premises are left is left out from there on. Shares are rounded up, so that the plan is
        the same for all seeds.
        """
        number, active = self.size // self.per_premise, self.sizes
        used: Counter[int] = Counter()
        while True:
            share = -(-number // len(active))
            there = tuple(n for n in active if classes[n].has(used[n] + share))
            if not there:
                return
            if there == active:
                used.update(dict.fromkeys(active, share))
                yield active
            active = there

    def premises(self, classes: Mapping[int, DrawnClasses], seed: str) -> Iterator[tuple[int, int, list[Stratum]]]:
        """Yield every premise: its size, the class's number, and the strata of its items."""
        number = self.size // self.per_premise
        streams = {n: iter(classes[n]) for n in self.sizes}
        for block, active in enumerate(self.plan(classes)):
            strata = shuffled(self._strata, seed, "strata", block)
            # As often as it goes all of them in turn, so that blocks are alike.
            extra = shuffled(active, seed, "extra sizes", block)[: number % len(active)]
            turns = shuffled([*active * (number // len(active)), *extra], seed, "sizes", block)
            for place, n in enumerate(turns):
                yield n, next(streams[n]), strata[place * self.per_premise : (place + 1) * self.per_premise]


class DrawnClasses:
    """The classes over n variables that meet some needs, in an order that the seed draws; the ascending one without.

    They are looked at as far as they are asked for. No class of a public test set is among them.
    """

    def __init__(self, n: int, needs: tuple[tuple[Stratum, int], ...], seed: str | None) -> None:
        """Prepare them; nothing is looked at yet."""
        numbers = [number for number in premises(n, "all") if number not in public(n)]
        places = range(len(numbers)) if seed is None else permuted(len(numbers), seed, "classes", n)
        self._source = (numbers[k] for k in places if _meets(n, numbers[k], needs))
        self._numbers: list[int] = []

    def has(self, number: int) -> bool:
        """Test whether there are so many."""
        while len(self._numbers) < number:
            following = next(self._source, None)
            if following is None:
                return False
            self._numbers.append(following)
        return True

    def __iter__(self) -> Iterator[int]:
        for k in count():
            if not self.has(k + 1):
                return
            yield self._numbers[k]


@cache
def public(n: int) -> frozenset[int]:
    """Return the classes of which a premise stands in a public test set, v1 or v2."""
    return frozenset(claim.number for version in ("v1", "v2") for claim in public_test(version) if claim.n == n)


def _meets(n: int, number: int, needs: tuple[tuple[Stratum, int], ...]) -> bool:
    holds = truth(n, number)
    for (kind, label), needed in needs:
        ends = 2 if kind in SYMMETRIC else 1
        yes = sum(map(int.bit_count, holds[kind]))
        if (yes if label else n * (n - 1) - yes) < needed * ends:
            return False
    return True


def deal(n: int, number: int, strata: Sequence[Stratum], *key: object) -> tuple[tuple[int, ...], list[Claim]]:
    """Return the place of each node in a premise's list, and a claim for each stratum, no two of one meaning."""
    for draw in range(MOST_ORDERS):  # several claims of parent and child do not fit into every order
        place = tuple(shuffled(range(n), *key, "places", draw))
        chosen = _choose(n, number, strata, place, *key, "claims", draw)
        if len(chosen) == len(strata):
            return place, chosen
    raise AssertionError(f"no order of n{n}-g{number} has claims for {strata}")


def _choose(n: int, number: int, strata: Sequence[Stratum], place: Sequence[int], *key: object) -> list[Claim]:
    """Return a claim for each stratum, fewer where one has none left. All that fit are equally likely."""
    holds = truth(n, number)
    meanings: set[Meaning] = set()
    chosen: list[Claim] = []
    for k, (relation, label) in enumerate(strata):
        candidates = [
            (i, j)
            for i, j in _pairs(n)
            if holds[relation][i] >> j & 1 == label
            and (relation not in ORDERED or place[i] < place[j])
            and (not meanings or meaning(relation, i, j) not in meanings)
        ]
        if not candidates:
            break
        i, j = candidates[int(uniform(*key, k) * len(candidates))]
        meanings.add(meaning(relation, i, j))
        chosen.append(Claim(n, number, relation, i, j))
    return chosen


@cache
def _pairs(n: int) -> tuple[tuple[int, int], ...]:
    return tuple(permutations(range(n), 2))


def page(n: int, number: int, place: tuple[int, ...], names: Sequence[str]) -> Page:
    """Return what a premise's items share; `names` are those of the list, in its order."""
    # Written once in letters that no name has, as the sentences of a set of names take longer than a premise does.
    text = premise(relabel(from_integer(n, number), place), _STAND_INS[:n])
    for stand_in, name in zip(_STAND_INS, names, strict=False):
        text = text.replace(stand_in, name)
    return Page(f"n{n}-g{number}", [names[k] for k in place], text)


_STAND_INS = tuple(chr(0xE000 + k) for k in range(max(SIZES)))
"""Signs of Unicode's private area."""


Names = Literal["letters", "first", "words"]


def names(kind: Names, n: int, *key: object) -> list[str]:
    """Return n different names, sorted: of the 26 letters, the first letters, or nonsense words."""
    if kind == "first":
        return list(LETTERS[:n])
    if kind == "letters":
        return sorted(shuffled(LETTERS, *key, "letters")[:n])
    words: set[str] = set()
    for k in count():
        words.add(_word(*key, "word", k))
        if len(words) == n:
            return sorted(words)
    raise AssertionError


_SYLLABLES = ("GVZ", "aeiou", "bdfgklmnprstvz", "aeiou", "bdfgklmnprstvz", "iu")


def _word(*key: object) -> str:
    """Return one of 29,400 words such as Vobadi, which end like few in English do."""
    return "".join(letters[int(uniform(*key, k) * len(letters))] for k, letters in enumerate(_SYLLABLES))
