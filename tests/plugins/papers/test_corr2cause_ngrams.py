"""Table 11 of Jin et al.: what its numbers rest on, and what counting gives in their place."""

from collections import Counter
from math import inf, log2

import pytest

from harness.plugins.papers import command as published
from harness.plugins.papers import statistics
from harness.plugins.papers.statistics import TABLE_11, NgramCounts, count_ngrams, implied, ngrams
from harness.tasks.corr2cause.enumerate import public_test


def counted(version):
    return count_ngrams(sorted(public_test(version), key=lambda claim: claim.cluster), "published")


def test_the_printed_numbers_follow_to_the_last_digit_from_the_shares_with_headings_exchanged():
    for ngram, (non_entailed, entailed, difference, d) in TABLE_11.items():
        with_entailed, with_the_other = implied(d)
        assert f"{with_entailed:.6f}" == non_entailed, ngram
        assert f"{with_the_other:.6f}" == entailed and f"{with_entailed - with_the_other:.6f}" == difference


@pytest.mark.parametrize(
    ("version", "items", "entailed", "a_cause"), [("v1", 2246, 342, (375, 28)), ("v2", 1162, 180, (193, 11))]
)
def test_no_counting_of_texts_tells_a_cause_from_a_cause_for(version, items, entailed, a_cause):
    of = counted(version)
    assert (of.items, of.entailed) == (items, entailed)
    for first, second in (("a cause", "a cause for"), ("A causes", "A causes something"), ("for E", "for E but")):
        assert of.holding[first] == of.holding[second] and TABLE_11[first] != TABLE_11[second]
    assert (of.holding["a cause"], of.holding_entailed["a cause"]) == a_cause
    brute = sum("a cause for" in text for text in hypotheses(version))
    assert brute == a_cause[0]


def hypotheses(version):
    writer = statistics.ItemWriter("none", 0)
    return [writer.item(claim).fields["input"] for claim in public_test(version)]


def test_ngrams_have_one_to_four_words_and_no_signs():
    assert list(ngrams("B is a cause, but"))[:5] == ["B", "B is", "B is a", "B is a cause", "is"]
    assert "a cause but" in set(ngrams("B is a cause, but"))


def test_pmi_is_in_bits_and_infinite_where_nothing_is_counted():
    of = NgramCounts(10, 4, Counter(x=4, y=2), Counter(x=3))
    assert of.pmi("x", entailed=True) == pytest.approx(log2(3 / 4 / 0.4))
    assert of.pmi("x", entailed=False) == pytest.approx(log2(1 / 4 / 0.6))
    assert of.pmi("y", entailed=True) == -inf
    assert of.difference("y") == pytest.approx(abs(log2(3 / 4 / 0.6) - log2(1 / 4 / 0.4)))
    assert of.top(2) == ["x", "y"]


def test_the_command_shows_both(monkeypatch, capsys):
    monkeypatch.setattr(statistics, "ngram_counts", lambda: {"v2 test": counted("v2")})
    assert published.main(["table=11"]) == 0
    printed = capsys.readouterr().out
    assert "1.692209" in printed and "60.00%" in printed and "11 of 193" in printed and "directly causes" in printed
