"""How long the shortest argument for each answer is: `python tools/argument_lengths.py` makes the index anew.

It takes some hours of one core, most of them over six variables.

What an argument is, `harness.tasks.corr2cause.arguments` says. Every labelled class of a size is looked at (1,067,825
over six variables). A class with the other answer is ruled out by each fact in which it differs, so that the fewest
facts are a smallest set that meets all these sets of differences. Of them only those are looked at that turn out to
matter: a smallest set for some is tried on all classes, and what it leaves over is added, until nothing is left over
(implicit hitting sets, Moreno-Centeno and Karp 2013). So the result is exact whatever is added.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, permutations
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import from_integer
from harness.causal.equivalence import representatives
from harness.causal.separation import Independence, conditioning_sets, independences
from harness.tasks.corr2cause.arguments import FILE, SIZES, meanings
from harness.tasks.corr2cause.claim import truth

PLACE = Path(__file__).resolve().parents[1] / "harness" / "data" / FILE
Bits = NDArray[np.uint64]
"""The last axis is a set, 64 members a word."""
AT_ONCE = 3
"""How many of the classes that an argument leaves over are added: the nearest ones."""
NEAREST = 15
"""With how many a search begins."""


@dataclass(frozen=True)
class LabelledClasses:
    """All labelled classes over n variables: which facts are independences in each, and which claims follow."""

    n: int
    numbers: Sequence[int]
    """Of the representatives."""
    independent: NDArray[np.bool_]
    """[representative, fact]"""
    follows: NDArray[np.bool_]
    """[representative, claim]"""

    @classmethod
    def over(cls, n: int) -> LabelledClasses:
        facts, claims, numbers = facts_of(n), meanings(n), representatives(n)
        independent = np.zeros((len(numbers), len(facts)), dtype=bool)
        follows = np.zeros((len(numbers), len(claims)), dtype=bool)
        place = {fact: k for k, fact in enumerate(facts)}
        for k, number in enumerate(numbers):
            independent[k, [place[fact] for fact in independences(from_integer(n, number))]] = True
            holds = truth(n, number)
            follows[k] = [holds[relation][i] >> j & 1 for relation, i, j in claims]
        return cls(n, numbers, independent, follows)

    @cached_property
    def renamings(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where each permutation of the variables takes the facts, and the claims."""
        facts, claims = facts_of(self.n), meanings(self.n)
        fact_at, claim_at = ({x: k for k, x in enumerate(of)} for of in (facts, claims))
        to_facts, to_claims = [], []
        for p in permutations(range(self.n)):
            to_facts.append([
                fact_at[min(p[i], p[j]), max(p[i], p[j]), tuple(sorted(p[x] for x in condition))]
                for i, j, condition in facts
            ])  # fmt: skip
            to_claims.append(
                [claim_at.get((kind, p[i], p[j]), claim_at.get((kind, p[j], p[i]))) for kind, i, j in claims]
            )
        return np.array(to_facts), np.array(to_claims)

    @cached_property
    def _rows(self) -> tuple[Bits, Bits]:
        """Return the facts and the claims of every labelled class, a row each."""
        blocks = [
            np.concatenate([packed(self.independent[:, facts]), packed(self.follows[:, claims])], axis=1)
            for facts, claims in zip(*self.renamings, strict=True)
        ]
        rows = np.concatenate(blocks)
        whole = np.unique(rows.view(f"V{8 * rows.shape[1]}").ravel()).view(np.uint64).reshape(-1, rows.shape[1])
        width = packed(self.independent[:1]).shape[1]
        return np.ascontiguousarray(whole[:, :width]), np.ascontiguousarray(whole[:, width:])

    @property
    def differing(self) -> Bits:
        """[labelled class, fact]"""
        return self._rows[0]

    @property
    def answers(self) -> Bits:
        """[labelled class, claim]"""
        return self._rows[1]

    @cached_property
    def with_fact(self) -> Bits:
        """[fact, labelled class]"""
        return transposed(self.differing, self.independent.shape[1])

    @cached_property
    def with_claim(self) -> Bits:
        """[claim, labelled class]"""
        return transposed(self.answers, self.follows.shape[1])

    @cached_property
    def all(self) -> Bits:
        """The set of all labelled classes."""
        return packed(np.ones((1, len(self.differing)), dtype=bool)).ravel()


def facts_of(n: int) -> list[Independence]:
    """Return what a premise over n variables decides: whether two are independent given some others."""
    return [(i, j, condition) for i, j in combinations(range(n), 2) for condition in conditioning_sets(n, i, j)]


def packed(rows: NDArray[np.bool_]) -> Bits:
    """Return rows of truth values as sets: member k is bit k."""
    as_bytes = np.packbits(rows, axis=1, bitorder="little")
    return np.ascontiguousarray(np.pad(as_bytes, ((0, 0), (0, -as_bytes.shape[1] % 8)))).view(np.uint64)


def transposed(rows: Bits, columns: int) -> Bits:
    """Return for each of the members in how many rows it is: sets of rows."""
    return np.concatenate([
        packed((rows[:, None, k // 64] >> np.uint64(k % 64) & np.uint64(1)).astype(bool).T) for k in range(columns)
    ])  # fmt: skip


class Arguments:
    """The shortest arguments about one class."""

    def __init__(self, classes: LabelledClasses, which: int) -> None:
        """Look at how the other classes differ from representative number `which`."""
        self._classes, self._which = classes, which
        self._own = packed(classes.independent[which : which + 1])[0]
        self._distance = np.zeros(len(classes.differing), dtype=np.uint16)
        for word, column in zip(self._own, classes.differing.T, strict=True):
            self._distance += np.bitwise_count(column ^ word)
        ranks = np.bincount(self._distance).cumsum()
        near = np.flatnonzero(self._distance <= np.searchsorted(ranks, 20 * NEAREST))
        self._known = [self._met(k) for k in near[np.argsort(self._distance[near], kind="stable")]]
        self._agreeing: dict[int, Bits] = {}

    def _met(self, k: int) -> tuple[int, int]:
        """Return in which facts a labelled class differs, and what follows in it."""
        differs, answers = self._classes.differing[k] ^ self._own, self._classes.answers[k]
        return int.from_bytes(differs.tobytes(), "little"), int.from_bytes(answers.tobytes(), "little")

    def lengths(self) -> list[int]:
        """Return the length for each claim; claims that a symmetry exchanges have the same one."""
        facts, claims = self._classes.renamings
        own = self._classes.independent[self._which]
        first = claims[(own[facts] == own).all(axis=1)].min(axis=0).tolist()
        length = {claim: self.shortest(claim).bit_count() for claim in set(first)}
        return [length[claim] for claim in first]

    def shortest(self, claim: int) -> int:
        """Return a shortest argument for the answer to a claim, as a set of facts."""
        label = bool(self._classes.follows[self._which, claim])
        other = self._classes.with_claim[claim]
        other = self._classes.all & ~other if label else other
        sets = list(
            islice((differs for differs, answers in self._known if bool(answers >> claim & 1) != label), NEAREST)
        )
        while True:
            argument = smallest_hitting_set(sets)
            left = self._left_over(other, argument)
            if not len(left):
                return argument
            added = [self._met(k) for k in left[np.argsort(self._distance[left], kind="stable")][:AT_ONCE]]
            self._known[:0] = added
            sets += [differs for differs, _ in added]

    def _left_over(self, classes: Bits, argument: int) -> NDArray[np.int64]:
        """Return labelled classes that no fact of the argument rules out: some where there are many, one if any."""
        for fact in members(argument):
            if fact not in self._agreeing:
                same = self._classes.with_fact[fact]
                self._agreeing[fact] = same if self._classes.independent[self._which, fact] else ~same
            classes = classes & self._agreeing[fact]
        words = np.flatnonzero(classes)[:2000]
        row, place = np.nonzero(np.unpackbits(classes[words].view(np.uint8), bitorder="little").reshape(-1, 64))
        return words[row] * 64 + place


def members(number: int) -> Iterator[int]:
    """Yield the members of a set that is the bits of a number, ascending."""
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1


def smallest_hitting_set(sets: Sequence[int]) -> int:
    """Return a smallest set that has a member of each of the sets; none of them is empty."""
    minimal: list[int] = []
    for one in sorted(set(sets), key=lambda one: (one.bit_count(), one)):
        if not any(smaller & one == smaller for smaller in minimal):  # whoever meets that one meets this
            minimal.append(one)
    size = 0
    while (hitting := _of_size(minimal, size)) is None:
        size += 1
    return hitting


def _of_size(sets: Sequence[int], size: int) -> int | None:
    """Return a hitting set of at most so many members, or None: branch and bound, the bound being disjoint sets."""
    if not sets:
        return 0
    met = disjoint = 0
    for one in sets:
        if not one & met:
            met, disjoint = met | one, disjoint + 1
    if disjoint > size:
        return None
    first, tried = min(sets, key=int.bit_count), 0
    for member in sorted(members(first), key=lambda member: -sum(one >> member & 1 for one in sets)):
        rest = [one & ~tried for one in sets if not one >> member & 1]
        if all(rest) and (more := _of_size(rest, size - 1)) is not None:
            return more | 1 << member
        tried |= 1 << member
    return None


_CLASSES: LabelledClasses


def _begin(n: int) -> None:
    global _CLASSES
    _CLASSES = LabelledClasses.over(n)


def _row(which: int) -> list[str]:
    return [str(_CLASSES.n), str(_CLASSES.numbers[which]), " ".join(map(str, Arguments(_CLASSES, which).lengths()))]


def rows(n: int) -> Iterator[list[str]]:
    """Yield a row of the file for each class over n variables: n, number, lengths."""
    with Pool(initializer=_begin, initargs=(n,)) as pool:
        yield from pool.imap(_row, range(len(representatives(n))), chunksize=8)


def main() -> None:
    """Write the file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(row for n in SIZES for row in rows(n))
    PLACE.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


if __name__ == "__main__":
    main()
