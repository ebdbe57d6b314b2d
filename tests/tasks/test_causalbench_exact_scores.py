"""CausalBench's scores over questions: perfect, random, unreadable and failed answers, against other libraries."""

from __future__ import annotations

from statistics import fmean

import pytest
from support.causalbench_help import (
    COUNTED,
    FIVE,
    HOLES,
    causalbench,
    except_for,
    records,
    some,
    values,
)
from support.late import Late
from support.thinned import few

from harness.scoring.means import means
from harness.tables.results import result_tables
from harness.tasks.causalbench.networks import NETWORKS
from harness.types import Metric, Record

sklearn_metrics = Late("sklearn.metrics")
# Perfect answers


def test_exact_scores_of_random_answers_by_scikit_learn():
    task = causalbench("Causality", networks=["asia", "cancer", "child"])
    run_records = records(task, some(7))
    scores = task.summarize(run_records).scores

    def metrics(subset: list[Record], label_set: str) -> dict:
        gold = [record.labels[label_set] for record in subset]
        labels = [record.answer.label for record in subset]
        return {"f1": sklearn_metrics.f1_score(gold, labels), "accuracy": sklearn_metrics.accuracy_score(gold, labels)}

    for label_set, gold in (("exact", "exact"), ("direct", "paper")):
        everything = scores[label_set]
        for breakdown in ("network", "scale", "template", "relation"):
            groups = {record.groups[breakdown] for record in run_records}
            assert set(everything[breakdown]) == groups
            for group in groups:
                expected = metrics([record for record in run_records if record.groups[breakdown] == group], gold)
                row = everything[breakdown][group]
                assert row["accuracy"] == pytest.approx(expected["accuracy"])
                assert (row["f1"] or 0) == pytest.approx(expected["f1"])
        pooled = metrics(run_records, gold)
        assert {name: everything["overall"]["all"][name] for name in pooled} == pytest.approx(pooled)
        for name in ("asia", "cancer", "child"):
            for template in task.asked_templates:
                subset = [o for o in run_records if (o.groups["network"], o.groups["template"]) == (name, template)]
                row = everything["network/template"][f"{name}/{template}"]
                assert row.items == len(subset) and row["f1"] == pytest.approx(metrics(subset, gold)["f1"])


@pytest.mark.parametrize(("kind", "settings"), few(FIVE, 2))
def test_the_mean_of_networks_weighs_them_alike(kind, settings):
    task = causalbench(kind, networks=["asia", "cancer", "child"], **settings)
    exact = task.summarize(records(task, some(2))).scores["exact"]
    mean, rows = exact["overall"]["mean of networks"], list(exact["network"].values())
    assert {metric.name for metric in mean.metrics} == {metric.name for metric in rows[0].metrics} >= set(COUNTED)
    for metric in mean.metrics:
        assert metric.value == pytest.approx(fmean(row[metric.name] for row in rows)), metric.name
    assert mean["accuracy"] != exact["overall"]["all"]["accuracy"]
    assert mean.items == exact["overall"]["all"].items


# Intervals


@pytest.mark.slow
def test_rows_of_several_networks_draw_networks_and_rows_of_one_draw_pairs():
    task = causalbench("Causality", networks=[*NETWORKS[:6], "insurance"])
    result = task.summarize(records(task, some(8)))
    exact = result.scores["exact"]
    clusters_drawn = {
        ("overall", "all"): (7, ""),
        ("overall", "mean of networks"): (7, ""),
        ("template", "cause"): (7, ""),
        ("network", "asia"): (28, "pair"),
        ("network", "cancer"): (10, "pair"),
        ("network/template", "asia/cause"): (28, "pair"),
        ("scale", "small"): (5, ""),
    }
    for (breakdown, group), expected in clusters_drawn.items():
        row = exact[breakdown][group]
        assert (row.clusters, row.unit) == expected, group
        assert bool(row.metric("f1").interval) == (group != "small")
    for row in (exact["network"]["asia"], exact["scale"]["small"]):
        assert row.metric("shd").interval is None and row.metric("shd").no_interval
    shds = {name: row["shd"] for name, row in exact["network"].items()}
    expected = means({name: {"shd": Metric("shd", shd)} for name, shd in shds.items()})[0]
    for group in ("all", "mean of networks"):
        assert exact["overall"][group].metric("shd") == expected and expected.interval
    low, high = exact["overall"]["mean of networks"].metric("f1").interval
    assert low < exact["overall"]["mean of networks"]["f1"] < high
    paper = result.scores["paper"]
    assert paper["overall"]["all"].metric("macro_f1").interval and paper["overall"]["all"].clusters == 7
    asia = paper["network"]["asia"]
    assert (asia.clusters, asia.unit, asia.metric("macro_f1").interval) == (1, "", None)


@pytest.mark.parametrize(("kind", "settings"), few(FIVE, 2))
def test_the_interval_of_one_network_is_over_pairs_in_either_order(kind, settings):
    task = causalbench(kind, networks="survey", **settings)
    run_records = records(task, some(3))
    row = task.summarize(run_records).scores["exact"]["overall"]["all"]
    pairs = {frozenset(record.unit.split(" -> ")) for record in run_records}
    assert (row.clusters, row.unit) == (len(pairs), "pair") and len(pairs) <= 15
    assert row.metric("accuracy").interval
    mean = task.summarize(run_records).scores["exact"]["overall"]["mean of networks"]
    assert (mean.clusters, mean.resamples) == (1, 0) and mean.metric("accuracy").interval is None


def test_bounds_are_of_the_decisions_and_of_their_means():
    task = causalbench("Causality", networks=["asia", "cancer"])
    exact = task.summarize(records(task, except_for(HOLES))).scores["exact"]
    assert exact["network/template"]["asia/cause"].metric("accuracy").bounds == (54 / 56, 1)
    assert exact["network"]["cancer"].metric("accuracy").bounds is None
    asia = exact["network"]["asia"].metric("accuracy").bounds
    assert exact["overall"]["mean of networks"].metric("accuracy").bounds == ((asia[0] + 1) / 2, 1)


# Which label sets there are


@pytest.mark.parametrize(
    ("kind", "settings", "label_sets"),
    [
        ("Correlation", {}, ["exact", "paper"]),
        ("Correlation", {"convention": "paper"}, ["paper", "exact"]),
        ("Causality", {}, ["exact", "direct", "paper"]),
        ("Causality", {"convention": "paper"}, ["paper", "exact", "direct"]),
        ("Causality", {"method": 2}, ["exact", "paper"]),
        ("Skeleton", {}, ["exact"]),
        ("Skeleton", {"convention": "paper"}, ["paper", "exact"]),
    ],
)
def test_label_sets_and_the_one_that_comes_first(kind, settings, label_sets):
    task = causalbench(kind, networks="cancer", **settings)
    result = task.summarize(records(task, some()))
    assert list(result.scores) == label_sets and result.headline == label_sets[0]
    if "paper" in label_sets:
        assert "f1" not in values(result.scores["paper"]["overall"]["all"])
    if "direct" in label_sets:
        assert set(values(result.scores["direct"]["overall"]["all"])) == set(COUNTED)
        positives = {name: result.scores[name]["template"]["cause"].positives for name in ("exact", "direct")}
        # cancer: 4 edges, and 4 longer paths.
        assert positives == {"exact": 8, "direct": 4}


def test_an_unreadable_reply_and_a_failed_call_are_counted_beside():
    task = causalbench("Causality", networks=["asia", "cancer"])
    result = task.summarize(records(task, except_for(HOLES)))
    for label_set in ("exact", "direct", "paper"):
        for breakdown, group in (
            ("overall", "all"),
            ("network", "asia"),
            ("scale", "small"),
            ("template", "cause"),
            ("network/template", "asia/cause"),
        ):
            row = result.scores[label_set][breakdown][group]
            assert (row.unreadable, row.failed) == (1, 1), (label_set, breakdown)
        assert result.scores[label_set]["network"]["cancer"].unreadable == 0
    assert result.failures == {"timeout": 1}
    asia = result.scores["exact"]["network/template"]["asia/cause"]
    # 56 questions, 18 positive: one wrong, one not counted.
    assert asia["accuracy"] == 54 / 55 and asia["recall"] == 16 / 17 and asia["precision"] == 1


# Results


@pytest.mark.parametrize(("kind", "settings"), few([*FIVE, ("Chains", {})], 1))
def test_no_records_at_all(kind, settings):
    task = causalbench(kind, **settings)
    result = task.summarize([])
    assert result.headline == task.headline and result.overall.items == 0 and not result.files
    assert set(values(result.overall).values()) == {None}
    result_tables(result)
