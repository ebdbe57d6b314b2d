"""Table 11 of Jin et al.: what its numbers rest on, and what counting gives in their place."""

from collections import Counter
from math import inf, log2

import pytest
from harness_papers.ngrams import NgramCounts, of_test_set

from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import public_test

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
"""As printed: with Non-Ent., with Ent., |Diff|. The last number is ours: the d of the share that it implies."""


def implied(d):
    """Return the two PMI that the share gives with the base rate of v1, those of entailment first."""
    base, share = ENTAILED[0] / ENTAILED[1], (180 - d) / (324 - 2 * d)
    return log2(share / base), log2((1 - share) / (1 - base))


def test_the_printed_numbers_follow_to_the_last_digit_from_the_shares_with_headings_exchanged():
    for ngram, (non_entailed, entailed, difference, d) in TABLE_11.items():
        with_entailed, with_the_other = implied(d)
        assert f"{with_entailed:.6f}" == non_entailed, ngram
        assert f"{with_the_other:.6f}" == entailed and f"{with_entailed - with_the_other:.6f}" == difference


@pytest.mark.parametrize(
    ("version", "items", "entailed", "a_cause"), [("v1", 2246, 342, (375, 28)), ("v2", 1162, 180, (193, 11))]
)
def test_no_counting_of_texts_tells_a_cause_from_a_cause_for(version, items, entailed, a_cause):
    of = of_test_set(version)
    assert (of.items, of.entailed) == (items, entailed)
    for first, second in (("a cause", "a cause for"), ("A causes", "A causes something"), ("for E", "for E but")):
        assert of.holding[first] == of.holding[second] and TABLE_11[first] != TABLE_11[second]
    assert (of.holding["a cause"], of.holding_entailed["a cause"]) == a_cause
    brute = sum("a cause for" in text for text in hypotheses(version))
    assert brute == a_cause[0]


def hypotheses(version):
    writer = ItemWriter("none", 0)
    return [writer.item(claim).fields["input"] for claim in public_test(version)]


def test_pmi_is_in_bits_and_infinite_where_nothing_is_counted():
    of = NgramCounts(10, 4, Counter(x=4, y=2), Counter(x=3))
    assert of.pmi("x", entailed=True) == pytest.approx(log2(3 / 4 / 0.4))
    assert of.pmi("x", entailed=False) == pytest.approx(log2(1 / 4 / 0.6))
    assert of.pmi("y", entailed=True) == -inf
    assert of.difference("y") == pytest.approx(abs(log2(3 / 4 / 0.6) - log2(1 / 4 / 0.4)))
    assert of.top(2) == ["x", "y"]
