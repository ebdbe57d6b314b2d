"""Records into a result."""

import tracemalloc

import pytest
from support.made_records import made

from harness.scoring.classification import AnswerCounts, decisions
from harness.scoring.summary import summarize
from harness.types import Answer, Failure, Response, Usage

FAILED = object()


def record(gold, reading, *, cluster="c", groups=None, labels=None, response=None, probability=None, kind="timeout"):
    """Return a record; `reading` is 1, 0, None (unreadable) or FAILED."""
    failed = reading is FAILED
    return made(
        item="i",
        cluster=cluster,
        groups=groups or {},
        labels={"published": gold} if labels is None else labels,
        request="r",
        outcome=Failure(kind, "") if failed else response or Response("text"),
        answer=None if failed else Answer(reading, probability),
    )


def result_of(*records, headline="published", orders=None, unreadable="wrong"):
    return summarize(records, headline=headline, orders=orders or {}, unreadable=unreadable)


def test_every_outcome_is_counted_where_it_belongs():
    pairs = [(1, 1)] * 3 + [(0, 1)] * 2 + [(1, 0)] + [(0, 0)] * 5 + [(1, None), (0, None), (0, None), (1, FAILED)]
    counts = AnswerCounts(tp=3, fp=2, fn=1, tn=5, unreadable_positive=1, unreadable_negative=2, failed_positive=1)
    for unreadable in ("wrong", "no"):
        overall = result_of(*(record(*pair) for pair in pairs), unreadable=unreadable).overall
        assert (overall.items, overall.positives, overall.unreadable, overall.failed) == (15, 6, 3, 1)
        expected = decisions(counts, unreadable=unreadable)
        assert [(m.name, m.value, m.bounds) for m in overall.metrics] == [(m.name, m.value, m.bounds) for m in expected]


def test_breakdowns_come_in_the_order_asked_for_and_the_rest_by_name():
    groups = [
        {"nodes": "10", "zone": "b", "area": "x", "relation": "child"},
        {"nodes": "9", "zone": "a", "area": "x", "relation": "sibling"},
        {"nodes": "9", "zone": "a", "area": "x", "relation": "cousin"},
        {"nodes": "9", "zone": "a", "area": "x", "relation": "parent"},
    ]
    orders = {"relation": ["parent", "child"], "nodes": ["9", "10"]}
    result = result_of(*(record(1, 1, groups=g) for g in groups), orders=orders)
    rows = {breakdown: list(rows) for breakdown, rows in result.scores["published"].items()}
    assert list(rows) == ["overall", "relation", "nodes", "area", "zone"]
    assert rows == {
        "overall": ["all"],
        "relation": ["parent", "child", "cousin", "sibling"],
        "nodes": ["9", "10"],
        "area": ["x"],
        "zone": ["a", "b"],
    }


def test_a_row_scores_its_own_items_only():
    result = result_of(
        record(1, 1, groups={"relation": "parent"}),
        record(1, 0, groups={"relation": "parent"}),
        record(0, 0, groups={"relation": "child"}),
        record(0, FAILED, groups={"relation": "child"}),
        record(0, None),
    )
    parent, child = (result.scores["published"]["relation"][name] for name in ("parent", "child"))
    assert (parent.items, parent.positives, parent["accuracy"], parent["recall"]) == (2, 2, 0.5, 0.5)
    assert (child.items, child.failed, child["accuracy"], child["recall"]) == (2, 1, 1.0, None)
    assert result.overall.items == 5


def test_each_label_set_is_scored_and_the_headline_comes_first():
    records = [
        record(0, 1, labels={"audited": 0, "published": 1, "zeal": 1}),
        record(0, 0, labels={"audited": 0, "published": 0, "zeal": 0}),
    ]
    result = result_of(*records)
    assert list(result.scores) == ["published", "audited", "zeal"]
    assert result.overall["accuracy"] == 1.0
    assert result.scores["audited"]["overall"]["all"]["accuracy"] == 0.5
    assert result_of(*records, headline="audited").overall["accuracy"] == 0.5
    some = result_of(*records, record(1, 1, labels={"published": 1, "audited": 1}))
    assert list(some.scores) == ["published", "audited"]  # another would score another set of items


def test_what_is_counted_beside_the_answers():
    replies = [Response("", finish_reason="stop", usage=Usage(input=10, output=0)), Response("", usage=Usage(input=5))]
    replies.append(Response("", finish_reason="length"))
    failed = [record(1, FAILED, kind=kind, cluster="b") for kind in ("timeout", "refused", "timeout")]
    result = result_of(*failed, *(record(1, 1, response=reply) for reply in replies))
    assert list(result.failures.items()) == [("refused", 1), ("timeout", 2)] and result.overall.failed == 3
    assert result.overall["accuracy"] == 1.0 and result.clusters == 2
    assert result.finish_reasons == {"length": 1, "stop": 1}
    assert result.usage == Usage(input=15, output=0, cached_input=None, reasoning=None)
    assert [metric.name for metric in result.overall.metrics] == ["f1", "precision", "recall", "accuracy"]


def test_probabilities_are_scored_over_the_items_that_have_one():
    records = [
        record(1, 1, probability=0.75, groups={"relation": "parent"}),
        record(0, 0, probability=0.25, groups={"relation": "parent"}),
        record(0, None, groups={"relation": "child"}),
        record(1, FAILED),
    ]
    result = result_of(*records)
    assert (result.overall["auroc"], result.overall["brier"]) == (1.0, 0.0625)
    rows = result.scores["published"]["relation"]
    assert rows["parent"]["brier"] == 0.0625
    assert [metric.name for metric in rows["child"].metrics][-1] == "brier"
    assert rows["child"]["brier"] is None


@pytest.mark.parametrize("headline", ["published", "exact"])
def test_no_records_at_all(headline):
    result = result_of(headline=headline)
    overall = result.overall
    assert (overall.items, overall.positives, overall.unreadable, overall.failed) == (0, 0, 0, 0)
    assert [metric.value for metric in overall.metrics] == [None] * 4
    assert list(result.scores) == [headline]
    assert (result.clusters, result.failures, result.finish_reasons, result.usage) == (0, {}, {}, Usage())


def test_memory_grows_with_clusters_and_not_with_items():
    def peak(items: int) -> int:
        pairs = ((k % 2, k * 7919 % 3 % 2, f"c{k % 50}") for k in range(items))
        tracemalloc.start()
        try:
            result_of_many = summarize(
                (record(gold, reading, cluster=cluster) for gold, reading, cluster in pairs),
                headline="published",
                orders={},
                unreadable="wrong",
            )
            assert result_of_many.overall.items == items
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(300)  # imports
    assert peak(6000) < 1.1 * peak(3000)
