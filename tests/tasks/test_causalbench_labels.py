"""The labels of CausalBench's items, in both conventions."""

from __future__ import annotations

import pytest
from support.causalbench_help import ALL_SIX, items


def labels(kind: str, name: str, /, **settings) -> dict[str, int]:
    return dict({item.id: item.labels for item in items(kind, networks="asia", **settings)}[f"asia/{name}"])


@pytest.mark.parametrize(
    ("kind", "settings", "name", "exact", "paper"),
    [
        ("Correlation", {}, "related/asia/tub", 1, 1),
        ("Correlation", {}, "connection/tub/asia", 1, 1),
        ("Correlation", {}, "correlated/asia/xray", 1, 0),
        ("Correlation", {}, "correlation/lung/bronc", 1, 0),
        ("Correlation", {}, "relation/asia/smoke", 0, 0),
        ("Causality", {}, "cause/asia/tub", 1, 1),
        ("Causality", {}, "cause/tub/asia", 0, 0),
        ("Causality", {}, "influence/asia/xray", 1, 0),
        ("Causality", {}, "causally_related/tub/asia", 1, 0),
        ("Causality", {}, "causal_connection/xray/asia", 1, 0),
        ("Causality", {}, "causality_between/lung/bronc", 0, 0),
        ("Causality", {"method": 2}, "direct/asia/tub", 1, 1),
        ("Causality", {"method": 2}, "indirect/asia/tub", 0, 1),
        ("Causality", {"method": 2}, "indirect/asia/xray", 1, 0),
        ("Causality", {"method": 2}, "reversed_direct/tub/asia", 1, 0),
        ("Causality", {"method": 2}, "reversed_direct/asia/tub", 0, 1),
        ("Causality", {"method": 2}, "reversed_indirect/xray/asia", 1, 0),
        ("Causality", {"method": 2}, "common_effect/asia/smoke", 1, 0),
        ("Causality", {"method": 2}, "common_cause/lung/bronc", 1, 0),
        ("Causality", {"method": 2}, "common_cause/asia/smoke", 0, 0),
    ],
)
def test_labels_of_both_conventions(kind, settings, name, exact, paper):
    for convention in ("exact", "paper"):
        assert labels(kind, name, convention=convention, **settings) == {"exact": exact, "paper": paper}


def test_labels_of_the_skeleton():
    assert {frozenset(item.labels) for item in items("Skeleton", networks="asia")} == {frozenset(("exact",))}
    published = {i.id: dict(i.labels) for i in items("Skeleton", networks="asia", convention="paper")}
    assert published["asia/directly_related/asia/tub"] == {"exact": 1, "paper": 1}
    assert published["asia/directly_related/asia/xray"] == {"exact": 0, "paper": 1}
    # dysp is an effect of both: given it, asia and bronc are d-connected. Given xray, too, asia and smoke are.
    assert published["asia/conditionally_related/asia/bronc/dysp"] == {"exact": 1, "paper": 1}
    assert published["asia/conditionally_related/lung/bronc/smoke"] == {"exact": 0, "paper": 1}
    assert published["asia/not_conditionally_related/asia/smoke/tub"] == {"exact": 0, "paper": 0}


@pytest.mark.parametrize(("kind", "settings"), ALL_SIX)
def test_neither_names_nor_format_touch_ids_labels_or_groups(kind, settings):
    plain = {i.id: (dict(i.labels), i.cluster, dict(i.groups)) for i in items(kind, networks="asia", **settings)}
    for names in ("original", "readable"):
        for form in ("variable_name", "background", "data", "background_data"):
            other = items(kind, networks="asia", names=names, format=form, rows=10, **settings)
            assert {i.id: (dict(i.labels), i.cluster, dict(i.groups)) for i in other} == plain


def test_no_label_reaches_the_fields():
    allowed = {"a", "b", "c", "question", "question_within", "statement", "variables", "knowledge"}
    allowed |= {"network", "parts", "parts_in_words", "announcement"}
    for kind, settings in ALL_SIX:
        for item in items(kind, networks="cancer", format="background_data", rows=10, **settings):
            assert set(item.fields) <= allowed
