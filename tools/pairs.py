"""Make the index of matched pairs anew: `python tools/pairs.py`, in some minutes.

It looks at every class over five to seven variables but those of public test sets, and takes each premise once.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.causal.separation import independences
from harness.tasks.corr2cause.arguments import SYMMETRIC
from harness.tasks.corr2cause.claim import truth
from harness.tasks.corr2cause.enumerate import premises
from harness.tasks.corr2cause.fresh.blocks import SIZES, public
from harness.tasks.corr2cause.fresh.pairs import FILE, Matching
from harness.tasks.corr2cause.shortcut import CLAIMS, FEATURES, SentenceCounts, count, features

FOLDER = Path(__file__).parents[1] / "harness" / "data"
MATCHED: Mapping[Matching, tuple[str, ...]] = {
    "counts": FEATURES,
    "strict": (
        *FEATURES,
        "sentences with 0, 1, 2, … variables in the condition: of the premise, and about the pair",
        "of all variables, sorted: independent of, independent given, in the condition",
        "of the cause, and of the effect (sum and difference where the claim is symmetric): all of that, variables in "
        "the conditions of its sentences, and with how many others it is independent given something",
        "of every other variable, sorted: independent of, independent given, and in the condition, with or of the two "
        "of the pair; and the same of all",
    ),
}
"""What the two halves of a pair have in common, besides the kind of claim."""


@dataclass(frozen=True)
class Sentences:
    """How many sentences a premise has, by what they name, and by the size of the condition."""

    counts: SentenceCounts
    sizes: NDArray[np.int64]
    """[i, j, s], symmetric: sentences about i and j with s variables in the condition."""


def sentences_of(n: int, number: int) -> Sentences:
    """Count the sentences of a class."""
    statements = independences(from_integer(n, number))
    sizes = np.zeros((n, n, n - 1), dtype=np.int64)
    for i, j, condition in statements:
        sizes[i, j, len(condition)] += 1
    return Sentences(count(n, statements), sizes + sizes.transpose(1, 0, 2))


def matched(
    matching: Matching, sentences: Sentences, kind: Relation, i: NDArray[np.int64], j: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return what `MATCHED` names, a row for each claim about variables i and j."""
    simple = features(sentences.counts, kind, i, j)
    if matching == "counts":
        return simple
    counts, sizes = sentences.counts, sentences.sizes
    about = np.column_stack([
        counts.marginal.sum(axis=1),
        counts.conditional.sum(axis=1),
        counts.conditions.sum(axis=0) // 2,
        counts.conditions.sum(axis=1),
        (counts.conditional > 0).sum(axis=1),
    ])  # fmt: skip
    whole = np.concatenate([sizes.sum(axis=(0, 1)) // 2, np.sort(about[:, :3], axis=0).T.ravel()])
    first, second = about[i], about[j]
    ends = [first + second, abs(first - second)] if kind in SYMMETRIC else [first, second]
    if kind in SYMMETRIC:
        ends.append(abs(counts.conditions[i, j] - counts.conditions[j, i])[:, None])
    return np.column_stack([simple, np.tile(whole, (len(i), 1)), sizes[i, j], *ends, _others(counts, about, i, j)])


def _others(
    counts: SentenceCounts, about: NDArray[np.int64], i: NDArray[np.int64], j: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return six numbers of every variable but i and j, the variables sorted by them."""
    n = len(about)
    pair = [table[i] + table[j] for table in (counts.marginal, counts.conditional, counts.conditions)]
    table = np.stack([*pair, *(np.tile(column, (len(i), 1)) for column in about[:, :3].T)], axis=2)
    codes = table @ (1024 ** np.arange(5, -1, -1))  # no count reaches 1,024: the order of codes is that of the rows
    row = np.arange(len(i))
    codes[row, i] = codes[row, j] = -1
    order = np.argsort(codes, axis=1)[:, 2:]
    return np.take_along_axis(table, order[:, :, None], axis=1).reshape(len(i), 6 * (n - 2))


@dataclass(frozen=True)
class _Claims:
    """Claims of one kind: arrays, an entry each."""

    number: NDArray[np.int64]
    i: NDArray[np.int64]
    j: NDArray[np.int64]
    label: NDArray[np.int64]
    keys: Mapping[Matching, NDArray[np.uint64]]
    """Equal where all that is matched is equal: sums of the features, each times an odd number of 64 bits."""


def _claims(n: int) -> list[_Claims]:
    """Return the claims of each kind about all classes over n variables that no public test set has."""
    parts: list[list[list[NDArray[Any]]]] = [[] for _ in CLAIMS]
    square = np.ones((n, n), dtype=int)
    for number in premises(n, "all"):
        if number in public(n):
            continue
        sentences, holds = sentences_of(n, number), truth(n, number)
        for kind, claims in zip(CLAIMS, parts, strict=True):
            i, j = np.nonzero(np.triu(square, 1) if kind in SYMMETRIC else square - np.eye(n, dtype=int))
            label = np.array(holds[kind])[i] >> j & 1
            keys = [_key(matched(matching, sentences, kind, i, j)) for matching in MATCHED]
            claims.append([np.full(len(i), number), i, j, label, *keys])
    made = []
    for claims in parts:
        numbers, i, j, label, *keys = (np.concatenate(column) for column in zip(*claims, strict=True))
        made.append(_Claims(numbers, i, j, label, dict(zip(MATCHED, keys, strict=True))))
    return made


def _key(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    odd = np.frombuffer(hashlib.shake_256(b"pairs").digest(8 * rows.shape[1]), dtype="<u8") | np.uint64(1)
    return rows.astype(np.uint64) @ odd


def _strata(claims: _Claims, key: NDArray[np.uint64]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the places of claims that follow and that do not, of every key that has both; all in a drawn order."""
    random = np.random.default_rng(0)
    order = random.permutation(len(key))
    order = order[np.argsort(key[order], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(key[order]) > 0))
    ends = np.append(starts[1:], len(order))
    follow = np.add.reduceat(claims.label[order], starts)
    mixed = np.flatnonzero((follow > 0) & (follow < ends - starts))
    for stratum in random.permutation(mixed).tolist():
        places = order[starts[stratum] : ends[stratum]]
        label = claims.label[places] == 1
        yield places[label].tolist(), places[~label].tolist()


def _disjoint(claims: Sequence[_Claims], keys: Sequence[NDArray[np.uint64]], *, same: bool) -> Iterator[list[int]]:
    """Yield rows of the index without n: pairs of each kind in turn, as long as there are any, no premise twice."""
    used: set[int] = set()

    def pairs(place: int) -> Iterator[list[int]]:
        of, number = claims[place], claims[place].number.tolist()
        for follow, others in _strata(of, keys[place]):
            free = (k for k in others if number[k] not in used)
            for yes in follow:
                if number[yes] in used:
                    continue
                no = next((k for k in free if same or number[k] != number[yes]), None)
                if no is None:
                    break
                used.update((number[yes], number[no]))
                yield [place, *(int(x[k]) for k in (yes, no) for x in (of.number, of.i, of.j))]

    turns = deque(pairs(place) for place in range(len(claims)))
    while turns:
        if (row := next(turns[0], None)) is None:
            turns.popleft()
        else:
            yield row
            turns.rotate(-1)


def make(n: int) -> dict[str, list[list[int]]]:
    """Return the rows of every list of the index for n variables. Which premises have only been drawn for one pair."""
    claims = _claims(n)
    lists = {}
    for matching in MATCHED:
        keys = [of.keys[matching] for of in claims]
        own = [of.keys[matching] + of.number.astype(np.uint64) * np.uint64(2**64 - 59) for of in claims]
        for name, each, same in ((matching, keys, False), (f"{matching}_same", own, True)):
            lists[name] = [[n, *row] for row in _disjoint(claims, each, same=same)]
    return lists


def main() -> None:
    """Write the index."""
    made = [make(n) for n in SIZES]
    lists = {name: [row for lists in made for row in lists[name]] for name in made[0]}
    arrays: dict[str, Any] = {name: np.array(rows, dtype=np.int32) for name, rows in lists.items()}
    np.savez_compressed(FOLDER / FILE, **arrays)


if __name__ == "__main__":
    main()
