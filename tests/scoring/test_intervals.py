"""The intervals of whole results: which clusters are drawn, that order means nothing, and where there are none."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from support.corr2cause_help import SIZES
from support.late import Late
from support.made_records import made

from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, ONE_CLUSTER, RESTS_ON_FEW
from harness.scoring.classification import AnswerCounts, decisions, ratios
from harness.scoring.intervals import ClusterSums, ratio_intervals
from harness.scoring.means import means
from harness.scoring.summary import summarize
from harness.types import Answer, Failure, Metric, Response, replace

stats = Late("scipy.stats")
sklearn_metrics = Late("sklearn.metrics")


def record(cluster, gold, reading, probability=None, part="", **groups):
    failed = reading == "failed"
    return made(
        item="i",
        cluster=cluster,
        unit=part,
        groups=groups,
        labels={"published": gold},
        request="r",
        outcome=Failure("timeout", "") if failed else Response("text"),
        answer=None if failed else Answer(reading, probability),
    )


def records(seed=0, *, probable=False, other=True, sizes=SIZES):
    draw = random.Random(seed)
    made_records = []
    for number, size in enumerate(sizes):
        share, skill = draw.betavariate(1, 4), draw.betavariate(4, 2)
        for _ in range(size):
            gold = int(draw.random() < share)
            reading = gold if draw.random() < skill else 1 - gold
            odd = draw.random() if other else 1
            reading = None if odd < 0.03 else "failed" if odd < 0.05 else reading
            p = round(draw.betavariate(3, 2) if gold else draw.betavariate(2, 3), 2)
            kind = draw.choice(["x", "y"])
            made_records.append(record(f"premise-{number}", gold, reading, p if probable else None, kind=kind))
    return made_records


def result_of(records, unreadable="wrong", **settings):
    return summarize(
        records, headline="published", orders={}, unreadable=unreadable, **settings
    )  # fmt: skip


def reasons(row):
    return {metric.name: metric.no_interval for metric in row.metrics}


@pytest.mark.parametrize("unreadable", ["wrong", "no"])
def test_a_resample_is_scored_as_any_other_records(unreadable):
    draw = np.random.default_rng(0)
    counts = draw.integers(0, 9, (7, 8)).astype(float)
    [estimates] = ratio_intervals([ClusterSums(counts, ratios(unreadable))])
    weights = np.concatenate(list(bootstrap.draws(7, 10_000)))
    metrics = [decisions(AnswerCounts(*map(int, total)), unreadable=unreadable) for total in weights @ counts]
    for place, name in enumerate(("f1", "precision", "recall", "accuracy")):
        resampled = np.array([row[place].value for row in metrics])
        assert estimates[name].interval == bootstrap.interval(resampled, 7)
        assert estimates[name].error == pytest.approx(resampled.std() * (7 / 6) ** 0.5)


def test_intervals_are_scipys():
    # Over the clusters' numbers as one sample of clusters, as scipy sees them.
    run_records = records(3)
    overall = result_of(run_records).overall
    table = np.zeros((21, 4))
    for record in run_records:
        if record.answer:
            gold = record.labels["published"]
            label = 1 - gold if record.answer.label is None else record.answer.label
            table[int(record.cluster.split("-")[1]), 2 * gold + label] += 1
    fractions = {
        "f1": lambda tn, fp, fn, tp: 2 * tp / (2 * tp + fp + fn),
        "precision": lambda tn, fp, fn, tp: tp / (tp + fp),
        "recall": lambda tn, fp, fn, tp: tp / (tp + fn),
        "accuracy": lambda tn, fp, fn, tp: (tp + tn) / (tp + tn + fp + fn),
    }
    for name, fraction in fractions.items():
        theirs = stats.bootstrap(
            tuple(table.T),
            lambda *columns, axis, of=fraction: of(*(column.sum(axis) for column in columns)),
            paired=True,
            vectorized=True,
            n_resamples=10_000,
            confidence_level=1 - 2 * bootstrap.tail(21),
            method="percentile",
            random_state=np.random.default_rng(0),
        )
        expected = pytest.approx(tuple(theirs.confidence_interval), abs=0.12 * theirs.standard_error)
        assert overall.metric(name).interval == expected, name


@pytest.mark.slow
def test_the_intervals_of_probabilities_are_those_of_scikit_learns_metrics():
    run_records = records(5, probable=True)
    overall = result_of(run_records).overall
    there = [record for record in run_records if record.answer]
    gold = np.array([record.labels["published"] for record in there])
    p_yes = np.array([record.answer.probability for record in there])
    cluster = np.array([sorted({o.cluster for o in run_records}).index(record.cluster) for record in there])
    weights = np.concatenate(list(bootstrap.draws(21, overall.resamples)))[:150, cluster]
    by = {
        "auroc": sklearn_metrics.roc_auc_score,
        "average_precision": sklearn_metrics.average_precision_score,
        "brier": sklearn_metrics.brier_score_loss,
    }
    for name, score in by.items():
        theirs = np.array([score(gold, p_yes, sample_weight=weight) for weight in weights])
        low, high = overall.metric(name).interval
        inside = ((low <= theirs) & (theirs <= high)).mean()
        assert inside == pytest.approx(1 - 2 * bootstrap.tail(21), abs=0.035), name
        assert overall[name] == pytest.approx(score(gold, p_yes))


def test_all_metrics_of_a_row_have_the_same_draws_and_probabilities_change_no_other_interval():
    with_p, without = result_of(records(1, probable=True)).overall, result_of(records(1)).overall
    for metric in without.metrics:
        assert with_p.metric(metric.name) == metric


def test_a_row_draws_the_clusters_that_have_an_item_in_it():
    run_records = records(1)
    run_records = [
        replace(record, groups={"kind": "a" if int(record.cluster[8:]) < 8 else "b"}) for record in run_records
    ]
    rows = result_of(run_records).scores["published"]["kind"]
    assert (rows["a"].clusters, rows["b"].clusters) == (8, 13)
    alone = result_of([record for record in run_records if record.groups["kind"] == "a"]).overall
    assert alone.metrics == rows["a"].metrics


def test_clusters_are_counted_also_where_every_call_failed():
    run_records = [record(str(k), 1, "failed") for k in range(7)]
    overall = result_of(run_records).overall
    assert overall.clusters == 7 and overall["accuracy"] is None
    assert set(reasons(overall).values()) == {""}  # nothing is defined: the dash says it


# Where there is none


@pytest.mark.parametrize(("clusters", "reason"), [(1, ONE_CLUSTER), (2, FEW_CLUSTERS), (5, FEW_CLUSTERS), (6, "")])
def test_few_clusters_have_no_interval(clusters, reason):
    row = result_of(records(4, sizes=(60,) * clusters)).overall
    assert row.clusters == clusters and reasons(row)["accuracy"] == reason
    assert all((metric.interval is None) == bool(metric.no_interval) for metric in row.metrics)
    assert clusters == 6 or set(reasons(row).values()) == {reason}
    assert row.resamples == (0 if reason else 10_000)


def test_positives_in_few_clusters():
    run_records = [
        record(str(k), int(k < 5 and j < 3), int(j in (2, k % 4)), 0.1 * j) for k in range(21) for j in range(8)
    ]
    overall = result_of(run_records).overall
    assert reasons(overall) == {
        "f1": "",
        "precision": "",
        "recall": RESTS_ON_FEW,
        "accuracy": "",
        "auroc": RESTS_ON_FEW,
        "average_precision": RESTS_ON_FEW,
        "brier": "",
    }


def test_a_value_that_no_resample_changes_has_no_interval():
    run_records = [record(str(k), int(j < k % 3), 0) for k in range(21) for j in range(8)]
    overall = result_of(run_records).overall
    assert reasons(overall) == {"f1": CONSTANT, "precision": "", "recall": CONSTANT, "accuracy": ""}
    assert overall["precision"] is None and overall.metric("accuracy").interval
    perfect = result_of([replace(record, answer=Answer(record.labels["published"])) for record in run_records]).overall
    assert set(reasons(perfect).values()) == {CONSTANT}


# Parts of one cluster


def test_a_row_of_one_cluster_draws_its_parts():
    draw = random.Random(0)
    run_records = [
        record(cluster, draw.randrange(2), draw.randrange(2), part=f"{cluster}-{k % 9}", kind=cluster)
        for cluster in "abcdefg"
        for k in range(40)
    ]
    result = result_of(run_records, within=lambda record: record.unit, unit="pair")
    assert (result.overall.clusters, result.overall.unit, result.clusters) == (7, "", 7)
    row = result.scores["published"]["kind"]["c"]
    assert (row.clusters, row.unit) == (9, "pair")
    parts = [replace(record, cluster=record.unit) for record in run_records if record.cluster == "c"]
    assert result_of(parts).overall.metrics == row.metrics
    assert result.overall.metrics == result_of(run_records).overall.metrics


# Means over clusters


def test_means_over_clusters_and_their_intervals():
    values = dict(zip("abcdefgh", [3.0, 5, 8, 2, 9, 4, 4, 7], strict=True))
    (shd,) = means({name: {"shd": Metric("shd", value)} for name, value in values.items()})
    theirs = stats.bootstrap(
        (list(values.values()),),
        np.mean,
        n_resamples=10_000,
        confidence_level=1 - 2 * bootstrap.tail(8),
        method="percentile",
        random_state=np.random.default_rng(0),
    )
    assert shd.value == 5.25
    assert shd.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.12 * theirs.standard_error)
    backwards = {name: {"shd": Metric("shd", values[name])} for name in reversed(values)}
    assert means(backwards) == (shd,)


def test_means_that_have_no_interval():
    def of(values, **more):
        (metric,) = means({str(k): {"shd": Metric("shd", value, **more)} for k, value in enumerate(values)})
        return metric

    assert of([1.0]) == Metric("shd", 1.0, no_interval=ONE_CLUSTER)
    assert of([1.0, 2.0]) == Metric("shd", 1.5, no_interval=FEW_CLUSTERS)
    assert of([1.0] * 7) == Metric("shd", 1.0, no_interval=CONSTANT)
    assert of([1.0] * 7 + [None]) == Metric("shd", None)
    assert of([0.5] * 2, bounds=(0.25, 0.75)).bounds == (0.25, 0.75)


# Time


def test_ten_thousand_resamples_of_the_test_split_take_less_than_a_second():
    run_records = records(0, probable=True)
    result_of(run_records[:200])  # imports
    started = time.process_time()
    result = result_of(run_records)
    assert time.process_time() - started < 3  # 0.3 s here: the machines that test may be slow and busy
    assert result.overall.resamples == 10_000 and len(run_records) == 1162
