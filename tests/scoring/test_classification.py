"""Metrics against scikit-learn's."""

import warnings
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.late import Late

from harness.scoring.classification import AnswerCounts, decisions, settle
from harness.scoring.probabilities import probabilities

sklearn_metrics = Late("sklearn.metrics")
few = st.integers(0, 60)
every_count = st.builds(AnswerCounts, *[few] * 8)
clear_counts = st.builds(AnswerCounts, *[few] * 4)
labels_and_shares = st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=1, max_size=60)


def by_name(metrics):
    return {metric.name: metric.value for metric in metrics}


def as_labels(tp, fp, fn, tn):
    gold = [1] * tp + [0] * fp + [1] * fn + [0] * tn
    answers = [1] * tp + [1] * fp + [0] * fn + [0] * tn
    return gold, answers


def by_sklearn(gold, answers):
    """Undefined ones come out as None: scikit-learn gives NaN for them when told to."""
    return {
        "f1": sklearn_metrics.f1_score(gold, answers, zero_division=float("nan")),
        "precision": sklearn_metrics.precision_score(gold, answers, zero_division=float("nan")),
        "recall": sklearn_metrics.recall_score(gold, answers, zero_division=float("nan")),
        "accuracy": sklearn_metrics.accuracy_score(gold, answers),
    }


@given(clear_counts)
def test_decisions_are_scikit_learns_to_the_last_digit(counts):
    assume(counts.items)
    ours = by_name(decisions(counts, unreadable="wrong"))
    theirs = by_sklearn(*as_labels(counts.tp, counts.fp, counts.fn, counts.tn))
    assert ours == {name: None if value != value else value for name, value in theirs.items()}


@given(every_count)
def test_confusion_has_every_item_once_and_leaves_out_nothing_but_zeros(counts):
    confusion = counts.confusion
    assert sum(confusion.values()) == counts.items
    assert {name: confusion.get(name, 0) for name in AnswerCounts.__slots__} == {
        n: getattr(counts, n) for n in AnswerCounts.__slots__
    }
    gold, answers = as_labels(counts.tp, counts.fp, counts.fn, counts.tn)
    matrix = sklearn_metrics.confusion_matrix(gold, answers, labels=[0, 1]) if gold else [[0, 0], [0, 0]]
    assert [[confusion["tn"], confusion["fp"]], [confusion["fn"], confusion["tp"]]] == [list(row) for row in matrix]


@given(every_count, st.sampled_from(["wrong", "no"]))
def test_unreadable_replies_score_as_the_setting_says(counts, unreadable):
    gold, answers = as_labels(counts.tp, counts.fp, counts.fn, counts.tn)
    gold += [1] * counts.unreadable_positive + [0] * counts.unreadable_negative
    answers += [0] * counts.unreadable_positive + [0 if unreadable == "no" else 1] * counts.unreadable_negative
    assume(gold)
    theirs = by_sklearn(gold, answers)
    ours = by_name(decisions(counts, unreadable=unreadable))
    assert ours == {name: None if value != value else value for name, value in theirs.items()}


@given(every_count, st.sampled_from(["wrong", "no"]))
def test_undefined_exactly_where_the_denominator_is_zero(counts, unreadable):
    lost = counts.unreadable_positive, counts.unreadable_negative
    tp, fp, fn, tn = settle((counts.tp, counts.fp, counts.fn, counts.tn), lost, unreadable)
    ours = by_name(decisions(counts, unreadable=unreadable))
    assert (ours["f1"] is None) == (tp + fp + fn == 0)
    assert (ours["precision"] is None) == (tp + fp == 0)
    assert (ours["recall"] is None) == (tp + fn == 0)
    assert (ours["accuracy"] is None) == (tp + fp + fn + tn == 0)


@pytest.mark.parametrize(
    ("counts", "f1", "precision", "recall", "accuracy"),
    [
        (AnswerCounts(), None, None, None, None),
        (AnswerCounts(tn=3), None, None, None, 1.0),
        (AnswerCounts(fn=3), 0.0, None, 0.0, 0.0),
        (AnswerCounts(fp=3), 0.0, 0.0, None, 0.0),
        (AnswerCounts(tp=3), 1.0, 1.0, 1.0, 1.0),
        (AnswerCounts(tp=1, fp=1, fn=2, tn=4), 0.4, 0.5, 1 / 3, 5 / 8),
    ],
)
def test_decisions_by_hand(counts, f1, precision, recall, accuracy):
    expected = {"f1": f1, "precision": precision, "recall": recall, "accuracy": accuracy}
    assert by_name(decisions(counts, unreadable="wrong")) == expected


@given(every_count, st.sampled_from(["wrong", "no"]))
def test_failed_calls_are_in_no_metric(counts, unreadable):
    without = replace(counts, failed_positive=0, failed_negative=0)
    assert by_name(decisions(counts, unreadable=unreadable)) == by_name(decisions(without, unreadable=unreadable))


@given(every_count, st.sampled_from(["wrong", "no"]))
def test_bounds_are_those_of_every_way_in_which_the_missing_could_have_been_answered(counts, unreadable):
    lost = (
        counts.unreadable_positive + counts.failed_positive,
        counts.unreadable_negative + counts.failed_negative,
    )
    for metric in decisions(counts, unreadable=unreadable):
        if not any(lost):
            assert metric.bounds is None
            continue
        if metric.bounds is None:
            continue
        low, high = metric.bounds
        assert low <= high
        for share in (0, 1 / 2, 1):
            right, wrong = (int(lost[0] * share), int(lost[1] * share)), (lost[0], lost[1])
            answered = AnswerCounts(
                tp=counts.tp + right[0],
                fp=counts.fp + wrong[1] - right[1],
                fn=counts.fn + wrong[0] - right[0],
                tn=counts.tn + right[1],
            )
            value = by_name(decisions(answered, unreadable="wrong"))[metric.name]
            assert value is None or low <= value <= high
            assert share != 0 or value == low
            assert share != 1 or value == high


def test_counts_add_up():
    counts = AnswerCounts(
        tp=1, fp=2, fn=4, tn=8, unreadable_positive=16, unreadable_negative=32, failed_positive=64, failed_negative=128
    )
    assert (counts.items, counts.positives, counts.unreadable, counts.failed) == (255, 1 + 4 + 16 + 64, 48, 192)


@given(labels_and_shares)
def test_probabilities_are_scikit_learns(pairs):
    gold, p_yes = [g for g, _ in pairs], [p for _, p in pairs]
    ours = by_name(probabilities(gold, p_yes))
    assert ours["brier"] == pytest.approx(sum((p - g) ** 2 for g, p in pairs) / len(pairs))
    if len(set(gold)) < 2:
        assert ours["auroc"] is None
        assert ours["average_precision"] is None
    else:
        assert ours["auroc"] == sklearn_metrics.roc_auc_score(gold, p_yes)
        assert ours["average_precision"] == sklearn_metrics.average_precision_score(gold, p_yes)


def test_probabilities_by_hand():
    # Of the four pairs of a Yes and a No, three are in the right order.
    ours = by_name(probabilities([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]))
    assert ours["auroc"] == 0.75
    assert ours["average_precision"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert ours["brier"] == pytest.approx((0.01 + 0.36 + 0.25 + 0.01) / 4)


@pytest.mark.parametrize(("gold", "brier"), [([1, 1], 0.29 / 2), ([0, 0], 0.89 / 2), ([], None)])
def test_with_one_class_only_the_brier_score_is_defined(gold, brier):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = by_name(probabilities(gold, [0.8, 0.5][: len(gold)]))
    expected = None if brier is None else pytest.approx(brier)
    assert ours == {"auroc": None, "average_precision": None, "brier": expected}
