"""Which n-grams of Corr2Cause's texts go with a label (Jin et al. 2024, Table 11): python -m harness_papers.ngrams

The README says how the printed numbers come about, and why no counting of texts gives them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import log2

from harness.tables.table import Table
from harness.tables.write import markdown
from harness.tasks.corr2cause.claim import Claim, ItemWriter
from harness.tasks.corr2cause.enumerate import public_test

LONGEST = 4
"""Words of an n-gram, as in the paper."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class NgramCounts:
    """How many items hold each n-gram, and how many of these are entailed."""

    items: int
    entailed: int
    holding: Counter[str]
    holding_entailed: Counter[str]

    def pmi(self, ngram: str, *, entailed: bool, more: int = 0) -> float:
        """Return log2 P(label | n-gram) / P(label), in bits, with `more` added to the count of either label.

        Minus infinity where no item of the label holds the n-gram.
        """
        of_label = self.holding_entailed[ngram] if entailed else self.holding[ngram] - self.holding_entailed[ngram]
        base = self.entailed if entailed else self.items - self.entailed
        share = (of_label + more) / (self.holding[ngram] + 2 * more)
        return log2(share * self.items / base) if share else float("-inf")

    def difference(self, ngram: str) -> float:
        """Return how far the PMI with either label are apart, one added to each count: without it many are infinite."""
        return abs(self.pmi(ngram, entailed=False, more=1) - self.pmi(ngram, entailed=True, more=1))

    def top(self, number: int) -> list[str]:
        """Return the n-grams with the largest difference; of equal ones the shorter, then in alphabetical order."""
        return sorted(self.holding, key=lambda ngram: (-round(self.difference(ngram), 9), len(ngram), ngram))[:number]


def count_ngrams(claims: Iterable[Claim], label_set: str) -> NgramCounts:
    """Count the items that hold each n-gram of up to four words in premise or hypothesis, punctuation left out.

    Claims of one premise have to come together; its n-grams are counted once for all of them.
    """
    writer = ItemWriter("none", 0)
    holding: Counter[str] = Counter()
    entailed: Counter[str] = Counter()
    items = positives = 0
    for _, of_premise in groupby(claims, key=lambda claim: claim.cluster):
        questions = [(writer.item(claim).fields, claim.labels[label_set]) for claim in of_premise]
        premise = frozenset(ngrams(questions[0][0]["premise"]))
        yes = sum(label for _, label in questions)
        items, positives = items + len(questions), positives + yes
        for ngram in premise:
            holding[ngram] += len(questions)
            entailed[ngram] += yes
        for fields, label in questions:
            for ngram in _of_hypothesis(fields["hypothesis"]) - premise:
                holding[ngram] += 1
                entailed[ngram] += label
    return NgramCounts(items, positives, holding, entailed)


def ngrams(text: str) -> Iterator[str]:
    """Yield every run of one to four words of a text."""
    words = _WORD.findall(text)
    for start in range(len(words)):
        for length in range(1, min(LONGEST, len(words) - start) + 1):
            yield " ".join(words[start : start + length])


@lru_cache(maxsize=1024)
def _of_hypothesis(text: str) -> frozenset[str]:
    return frozenset(ngrams(text))


def of_test_set(version: str) -> NgramCounts:
    """Return the counts of a public test set (v1 or v2), by its published labels."""
    return count_ngrams(sorted(public_test(version), key=lambda claim: claim.cluster), "published")


def main() -> None:
    """Print the ten n-grams of each public test set whose PMI with the two labels differ most."""
    lines = []
    for version in ("v1", "v2"):
        counts = of_test_set(version)
        for ngram in counts.top(10):
            bits = [f"{counts.pmi(ngram, entailed=label):.6f}".replace("-inf", "−∞") for label in (False, True)]
            lines.append([version, ngram, f"{counts.holding[ngram]:,}", *bits, f"{counts.difference(ngram):.6f}"])
    titles = ["test set", "n-gram", "items", "PMI with Non-Ent.", "PMI with Ent.", "|Diff|, add one"]
    print(markdown([Table.of(titles, lines, text_columns=2)]))


if __name__ == "__main__":
    main()
