"""The paper's tables of data statistics, measured: 1 and 3, graphs and items; 11, which n-grams go with a label.

docs/conventions.md says how the printed numbers of Table 11 come about, and why no counting of texts gives them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import log2

from harness.causal.equivalence import representatives, unlabelled_dags
from harness.tables.table import Part, Table
from harness.tasks.corr2cause.claim import Claim, ItemWriter, claims
from harness.tasks.corr2cause.enumerate import SIZES, premises, public_test, universe


@dataclass(frozen=True)
class SizeCounts:
    """What there is for one number of variables."""

    dags: int
    """DAGs up to renaming."""
    edges: int
    """Edges of these DAGs together."""
    classes: int
    """Markov equivalence classes up to renaming."""
    items: int
    test: int
    dev: int
    train: int
    positives: int
    """Items whose derived label is 1."""

    @property
    def edges_per_dag(self) -> float:
        return self.edges / self.dags

    @property
    def dags_per_class(self) -> float:
        """Mean size of a class, members up to renaming."""
        return self.dags / self.classes

    @property
    def positive_share(self) -> float:
        """Percent of the items."""
        return 100 * self.positives / self.items


def size_counts(n: int) -> SizeCounts:
    """Return the counts for n variables; n = 6 takes a few seconds."""
    dags = unlabelled_dags(n)
    everything = [claim for number in representatives(n) for claim in claims(n, number, seed=0)]
    per_class = len(everything) // len(representatives(n))
    return SizeCounts(
        dags=len(dags),
        edges=sum(number.bit_count() for number in dags),
        classes=len(representatives(n)),
        items=len(everything),
        test=sum(claim.n == n for claim in public_test("v2")),
        dev=len(premises(n, "dev")) * per_class,
        train=len(premises(n, "train")) * per_class,
        positives=sum(claim.derived for claim in everything),
    )


def total(sizes: Sequence[SizeCounts]) -> SizeCounts:
    return SizeCounts(*(sum(getattr(size, name) for size in sizes) for name in SizeCounts.__dataclass_fields__))


# As printed (Jin et al. 2024): for n = 2 … 6, then the total.
TABLE_1 = {
    "DAGs": ("2", "6", "31", "302", "5,984", "6,325"),
    "edges per DAG": ("0.50", "1.67", "3.48", "5.89", "8.77", "8.60"),
    "classes": ("2", "5", "20", "142", "2,207", "2,376"),
    "DAGs per class": ("1.0", "1.2", "1.55", "2.13", "2.71", "2.66"),
}
TABLE_3 = {
    "items": ("12", "90", "720", "8,520", "198,630", "207,972"),
    "test": ("6", "48", "72", "514", "522", "1,162"),
    "dev": ("6", "42", "72", "482", "474", "1,076"),
    "train": ("0", "0", "576", "7,524", "197,634", "205,734"),
    "% positive": ("0.00", "3.33", "7.50", "13.01", "18.85", "18.57"),
}
_CELLS: dict[str, Callable[[SizeCounts], str]] = {
    "DAGs": lambda size: f"{size.dags:,}",
    "edges per DAG": lambda size: f"{size.edges_per_dag:.2f}",
    "classes": lambda size: f"{size.classes:,}",
    "DAGs per class": lambda size: f"{size.dags_per_class:.2f}",
    "items": lambda size: f"{size.items:,}",
    "test": lambda size: f"{size.test:,}",
    "dev": lambda size: f"{size.dev:,}",
    "train": lambda size: f"{size.train:,}",
    "% positive": lambda size: f"{size.positive_share:.2f}",
}
_GRAPHS = """\
Where the numbers differ:
- classes, and with them items: the paper's generator counted six classes of n = 6 twice; 2,201 weighted by their
  labellings give the known 1,067,825 labelled classes. Six classes are 540 items.
- DAGs per class: the paper divides by its 2,207 classes.
- edges per DAG over all n: 54,360 edges in 6,325 DAGs are 8.594; 8.60 is what the paper's rounded columns give."""
_ITEMS = """\
Where the numbers differ:
- items: the paper's generator counted six classes of n = 6 twice (Table 1); six classes are 540 items.
- % positive: these are the derived labels. The published ones come from a generator with two bugs (a node order
  applied the wrong way round, a loop that runs the wrong way), which lose about one positive in eight.
- dev and train: the paper cuts the last premise of each n in two and deduplicates afterwards. Here a premise is
  whole in one split, no premise of the test set is in another, and dev has as many premises as test."""


def table_1() -> list[Part]:
    return [_beside("Table 1: the causal graphs", TABLE_1), _GRAPHS]


def table_3() -> list[Part]:
    return [_beside("Table 3: the items", TABLE_3), _ITEMS]


def _beside(title: str, paper_rows: Mapping[str, Sequence[str]]) -> Table:
    sizes = [size_counts(n) for n in SIZES]
    columns = [*sizes, total(sizes)]
    rows = []
    for name, paper in paper_rows.items():
        rows.append([name, "here", *map(_CELLS[name], columns)])
        rows.append(["", "paper", *paper])
    header = [title, "", *(f"n = {n}" for n in SIZES), "all"]
    return Table.of(header, rows, text_columns=2)


LONGEST = 4
"""Words of an n-gram, as in the paper."""
ENTAILED = 77_229, 415_944
"""Positives and items of all of v1: the base rate in every printed number."""
TABLE_11 = {
    "a cause": ("1.692209", "-1.025611", "2.717820", 72),
    "a cause for": ("1.663640", "-0.983790", "2.647430", 60),
    "A causes": ("1.640679", "-0.951610", "2.592289", 48),
    "A causes something": ("1.621820", "-0.926075", "2.547895", 36),
    "a direct": ("1.606052", "-0.905316", "2.511369", 24),
    "a direct one": ("1.592673", "-0.888107", "2.480781", 12),
    "for D": ("1.584826", "-0.878180", "2.463006", 4),
    "for D but": ("1.583897", "-0.877014", "2.460911", 3),
    "for E": ("1.582980", "-0.875864", "2.458844", 2),
    "for E but": ("1.582074", "-0.874728", "2.456802", 1),
}
"""As printed (Jin et al. 2024): with Non-Ent., with Ent., |Diff|. The last number is ours: the d of `implied_share`."""
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


def implied_share(d: int) -> float:
    """Return the share of entailed items that a printed row implies: (180 - d) of (180 - d) + (144 - d)."""
    return (180 - d) / (324 - 2 * d)


def implied(d: int) -> tuple[float, float]:
    """Return the two PMI that the share gives with the base rate of v1, those of entailment first, as printed."""
    base, share = ENTAILED[0] / ENTAILED[1], implied_share(d)
    return log2(share / base), log2((1 - share) / (1 - base))


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


def ngram_counts() -> dict[str, NgramCounts]:
    """Return the counts of both public test sets, by their published labels, and of the train split made here."""

    def together(claims: Sequence[Claim]) -> list[Claim]:
        return sorted(claims, key=lambda claim: claim.cluster)

    return {
        "v1 test": count_ngrams(together(public_test("v1")), "published"),
        "v2 test": count_ngrams(together(public_test("v2")), "published"),
        "train": count_ngrams(universe(split="train", seed=0), "audited"),
    }


_PRINTED = """\
Printed beside what gives it: with the base rate of all of v1 (77,229 of 415,944 items are entailed), logarithms to base
2 and the two headings exchanged, the shares in the column "implied" give all thirty printed numbers to all six
decimals. They are no shares of texts: "a cause" is followed by "for" in every hypothesis that has it, so both n-grams
are in the same items. Measured: of the items that hold the n-gram in premise or hypothesis, how many are entailed."""
_MEASURED = """\
Measured: the ten n-grams whose PMI with the two labels differ most, one added to each count (the PMI shown are without
it; −∞: no item of that label has it). v1 and v2 test by published labels, the train split made here by logic."""


def table_11() -> list[Part]:
    """Return Table 11 with the shares behind the printed numbers, those measured, and the measured top ten."""
    counts = ngram_counts()
    header = ["n-gram", "Non-Ent.", "Ent.", "|Diff|", "implied", *counts]
    body = [
        [ngram, *row[:3], f"{100 * implied_share(row[3]):.2f}%", *(_share(of, ngram) for of in counts.values())]
        for ngram, row in TABLE_11.items()
    ]
    parts: list[Part] = ["Table 11 as printed, and the share of entailed items", Table.of(header, body, text_columns=1)]
    parts += [_PRINTED]
    lines = []
    for name, of in counts.items():
        for ngram in of.top(10):
            bits = [_bits(of.pmi(ngram, entailed=label)) for label in (False, True)]
            lines.append([name, ngram, f"{of.holding[ngram]:,}", *bits, f"{of.difference(ngram):.6f}"])
    titles = ["items of", "n-gram", "items", "PMI with Non-Ent.", "PMI with Ent.", "|Diff|, add one"]
    return [*parts, Table.of(titles, lines, text_columns=2), _MEASURED]


def _share(counts: NgramCounts, ngram: str) -> str:
    if not counts.holding[ngram]:
        return "–"
    return f"{counts.holding_entailed[ngram]:,} of {counts.holding[ngram]:,}"


def _bits(value: float) -> str:
    return "−∞" if value == float("-inf") else f"{value:.6f}"
