"""The numbers beside by=wording: each by its definition, counted another way, and intervals that hold the truth."""

import json
from itertools import combinations
from pathlib import Path
from statistics import mean, variance

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from harness import evaluate
from harness.leaderboard.__main__ import main as leaderboard
from harness.plugins.compare.runs import Replies
from harness.plugins.compare.sensitivity import Answers, answers_of, flips, spread_and_deviation
from harness.storage.replies import Reply


def replies(answers, gold, clusters, unreadable="wrong"):
    """A run that gave these answers; "failed" is a call that failed."""
    by_item = {
        f"item {k}": Reply(
            "", f"c{c}", "", (), (("published", label),), None if a == "failed" else a, a == "failed", ""
        )
        for k, (a, label, c) in enumerate(zip(answers, gold, clusters, strict=True))
    }
    return Replies(Path("run"), {}, "published", unreadable, True, False, by_item)


@st.composite
def several_runs(draw):
    items, runs = draw(st.integers(1, 30)), draw(st.integers(2, 4))
    gold = draw(st.lists(st.integers(0, 1), min_size=items, max_size=items))
    clusters = draw(st.lists(st.integers(0, 8), min_size=items, max_size=items))
    answer = st.sampled_from([0, 1, 0, 1, None, "failed"])
    answers = [draw(st.lists(answer, min_size=items, max_size=items)) for _ in range(runs)]
    return answers, gold, clusters, draw(st.sampled_from(["wrong", "no"]))


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(several_runs())
def test_flips_and_spread_are_what_counting_item_by_item_gives(case):
    answers, gold, clusters, unreadable = case
    found = answers_of([replies(of_run, gold, clusters, unreadable) for of_run in answers])
    rows = [row for row in zip(gold, *answers, strict=True) if "failed" not in row]
    if not rows:
        assert found is None
        return
    flipped, differing = flips(found)
    assert flipped.value == pytest.approx(mean(len(set(row[1:])) > 1 for row in rows))
    assert differing.value == pytest.approx(mean(a != b for row in rows for a, b in combinations(row[1:], 2)))
    as_wrong = [[a if a is not None else 0 if unreadable == "no" else 1 - row[0] for a in row[1:]] for row in rows]
    labels = [row[0] for row in rows]
    f1 = [f1_by_hand(list(zip(labels, run, strict=True))) for run in zip(*as_wrong, strict=True)]
    spread, _ = spread_and_deviation(found, "f1")
    assert spread.value == (None if None in f1 else pytest.approx(max(f1) - min(f1)))


def f1_by_hand(pairs):
    hits, named = pairs.count((1, 1)), sum(map(sum, pairs))
    return 2 * hits / named if named else None


def drawn(rng, rates, clusters=21, noise=0.1):
    """Answers of runs that are right at these rates, a cluster alike, to 40 items in each cluster."""
    cluster = np.repeat(np.arange(clusters), 40)
    right_at = np.clip(np.array(rates) + rng.normal(0, noise, (clusters, 1)), 0, 1)[cluster]
    gold = rng.integers(0, 2, len(cluster))
    right = rng.random(right_at.shape) < right_at
    scored = np.where(right, gold[:, None], 1 - gold[:, None])
    return Answers(gold, cluster, scored, np.zeros((len(gold), 2)))


def test_the_deviation_is_without_the_noise_of_the_items_and_the_spread_is_not():
    found = [spread_and_deviation(drawn(np.random.default_rng(seed), [0.7] * 4), "accuracy") for seed in range(10)]
    assert mean(spread.value for spread, _ in found) > 0.015  # though no run is better than another
    assert all(spread.interval[0] == 0 for spread, _ in found[:5])
    assert mean(sd.value**2 for _, sd in found) < 0.3 * mean((spread.value / 2) ** 2 for spread, _ in found)
    apart = [spread_and_deviation(drawn(np.random.default_rng(s), [0.6, 0.7, 0.8]), "accuracy") for s in range(10)]
    assert mean(sd.value for _, sd in apart) == pytest.approx(variance([0.6, 0.7, 0.8]) ** 0.5, rel=0.15)
    assert all(low <= 0.2 <= high for low, high in (spread.interval for spread, _ in apart[:5]))


@pytest.mark.slow
@pytest.mark.parametrize("rates", [[0.7] * 8, [0.7, 0.75], [0.6, 0.7, 0.7, 0.8], [0.6] * 4 + [0.8] * 4])
def test_the_intervals_hold_the_truth_as_often_as_they_say(rates):
    spread, deviation = max(rates) - min(rates), variance(rates) ** 0.5
    held = np.zeros(2)
    for seed in range(200):
        found = spread_and_deviation(drawn(np.random.default_rng(seed), rates, noise=0.05), "accuracy")
        truth = zip(found, (spread, deviation), strict=True)
        held += [metric.interval[0] - 1e-9 <= true <= metric.interval[1] + 1e-9 for metric, true in truth]
    assert (held >= 0.88 * 200).all(), held / 200


def test_runs_that_agree_have_no_spread_and_no_interval_that_would_claim_certainty():
    gold, clusters = [0, 1] * 12, [k // 2 for k in range(24)]
    same = answers_of([replies([1] * 24, gold, clusters)] * 3)
    for metric in (*spread_and_deviation(same, "f1"), *flips(same)):
        assert metric.value == pytest.approx(0) and metric.interval is None
    few = answers_of([replies([k % 3 % 2 for k in range(24)], gold, [0] * 24), replies([1] * 24, gold, [0] * 24)])
    assert all(metric.interval is None for metric in (*spread_and_deviation(few, "f1"), *flips(few)))
    assert spread_and_deviation(few, "brier")[0].value is None


def test_a_spread_is_over_wordings_and_does_not_know_their_order():
    found = drawn(np.random.default_rng(0), [0.6, 0.7, 0.8])
    turned = Answers(found.gold, found.cluster, found.scored[:, ::-1], found.differing)
    for before, after in zip(spread_and_deviation(found, "f1"), spread_and_deviation(turned, "f1"), strict=True):
        assert (before.value, before.interval) == (pytest.approx(after.value), pytest.approx(after.interval))


def test_by_wording_adds_a_table_of_what_wordings_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for wording in (0, 2):
        evaluate(model="random_uniform", task="corr2cause", wording=wording, limit=120, cache="off")
    assert leaderboard(["by=wording", "format=json"]) == 0
    scores, sensitivity = json.loads(capsys.readouterr().out)["tables"]
    row, of_wordings = scores["rows"][0], sensitivity["rows"][0]
    f1 = [row[f"f1/{step}"]["value"] for step in (0, 2)]
    assert of_wordings["f1/spread"]["value"] == pytest.approx(abs(f1[0] - f1[1])) and f1[0] != f1[1]
    assert 0 < of_wordings["flips"]["value"] == of_wordings["disagreement"]["value"] < 1
    assert (of_wordings["n"], of_wordings["items"]) == (2, 120)
