"""The items of CausalBench: how many, which words, which labels, and what a sample of them is."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import networkx as nx
import pytest
from support.brute_force import graph_of
from support.causalbench_help import ALL_SIX, SIZES, causalbench, items

from harness.tasks.causalbench import templates
from harness.tasks.causalbench.networks import NETWORKS, load, meanings

# How many


def test_every_ordered_pair_under_every_template():
    for kind, settings, number in (
        ("Correlation", {}, 5),
        ("Causality", {}, 5),
        ("Causality", {"method": 2}, 6),
    ):
        task = causalbench(kind, networks="all", **settings)
        assert len(task.items()) == number * sum(n * (n - 1) for n in SIZES.values())
        per_network = Counter(item.groups["network"] for item in items(kind, scale="small", **settings))
        assert per_network == {name: number * SIZES[name] * (SIZES[name] - 1) for name in NETWORKS[:5]}


def test_an_unordered_pair_and_every_third_variable_in_the_skeleton():
    counts = Counter(item.groups["network"] for item in items("Skeleton", scale="small"))
    assert counts == {name: SIZES[name] * (SIZES[name] - 1) ** 2 // 2 for name in NETWORKS[:5]}
    published = items("Skeleton", networks=["asia", "sachs"], convention="paper")
    # Zhou et al.'s rule: asia 156 items, 84 of them positive; sachs 638 and 80.
    assert Counter(item.groups["network"] for item in published) == {"asia": 156, "sachs": 638}
    assert sum(item.labels["paper"] for item in published) == 84 + 80


@pytest.mark.parametrize("name", ["asia", "sachs", "child"])
def test_kinds_of_correlation(name):
    graph, names = graph_of(load(name).dag), load(name).variables
    pairs_of_kind = {"all": set(), "direct": set(), "indirect": set()}
    for a in graph:
        for b in set(graph) - {a}:
            pair = f"{names[a]} -> {names[b]}"
            adjacent = graph.has_edge(a, b) or graph.has_edge(b, a)
            pairs_of_kind["all"].add(pair)
            if adjacent or nx.is_d_separator(graph, a, b, set()):
                pairs_of_kind["direct"].add(pair)
            if not adjacent:
                pairs_of_kind["indirect"].add(pair)
    for kind, pairs in pairs_of_kind.items():
        item_list = items("Correlation", networks=name, kind=kind)
        pairs_by_template = {
            t: Counter(i.unit for i in item_list if i.groups["template"] == t) for t in templates.CORRELATION
        }
        assert all(counts == Counter(pairs) for counts in pairs_by_template.values()), kind


# Which networks


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"networks": "asia"}, ["asia"]),
        ({"networks": ["sachs", "asia", "sachs"]}, ["asia", "sachs"]),
        ({}, list(NETWORKS[:14])),
        ({"networks": ["asia", "all"]}, list(NETWORKS)),
        ({"scale": "small"}, ["asia", "cancer", "earthquake", "survey", "sachs"]),
        ({"scale": ["very_large", "small"]}, ["asia", "cancer", "earthquake", "survey", "sachs", "pathfinder"]),
        ({"scale": "all"}, list(NETWORKS)),
    ],
)
def test_networks_are_chosen_by_name_or_scale(settings, wanted):
    task = causalbench("Causality", **settings)
    assert list(task.chosen_networks) == wanted
    assert len(task.items()) == 5 * sum(SIZES[name] * (SIZES[name] - 1) for name in wanted)


# Words besides the question


def test_a_readable_name_brings_its_article_and_no_other():
    by_id = {i.id: i for i in items("Causality", networks=["asia", "alarm"], method=2, names="readable")}
    assert by_id["asia/reversed_indirect/either/smoke"].fields["question"] == (
        "Is smoking a cause for the combined disease indicator but not a direct one?"
    )
    assert by_id["alarm/direct/HR/BP"].fields["question"] == (
        "Does the heart rate directly cause the blood pressure?"
    )  # fmt: skip
    for item in by_id.values():
        assert not re.search(r"\b(?:the|a|an) (?:the|an?)\b", item.fields["question"]), item.id


@pytest.mark.parametrize("name", NETWORKS)
def test_a_readable_name_stands_in_a_sentence_as_one_thing(name):
    texts = meanings(name).values()
    for meaning in texts:
        # "Given Photosynthesis, period 1, are …", "an effect of Port thread and print processor and the …"
        assert "," not in meaning.within and not {"and", "or"} & set(meaning.within.split()), meaning.within
        first = re.sub(r"^(?:the|an?) ", "", meaning.within)
        assert first[0].islower() or re.match(r"[A-Z]([A-Z]|\W|jeldahl|ostScript)", first), meaning.within
        assert meaning.name[0].isupper() and meaning.name[1:] == first[1:]
    assert len({meaning.name.casefold() for meaning in texts}) == len(texts)


@pytest.mark.parametrize("names", ["original", "readable"])
def test_no_two_networks_ask_the_same(names):
    """So that a model can be right about all of them, and that no answer is shared by two clusters.

    Every question names two variables: where no two networks have two names in common, none asks what another asks
    (the strength of one variable's causes is asked with the network's name where that is needed).
    """
    called = {
        n: set(load(n).variables) if names == "original" else {m.within for m in meanings(n).values()} for n in NETWORKS
    }
    shared = {name for a, b in combinations(NETWORKS, 2) for name in called[a] & called[b]}
    assert shared == ({"Age"} if names == "original" else set())
    for kind, settings in ALL_SIX:
        asked = Counter()
        for network in ("asia", "cancer"):  # which share three variables
            asked.update({item.fields["question"] for item in items(kind, networks=network, names=names, **settings)})
        assert set(asked.values()) == {1}, kind


# Labels, and a limit


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


def test_what_is_drawn_of_a_network_does_not_depend_on_the_others():
    def subset_by_network(**settings) -> dict:
        subset: dict = {}
        for item in items("Causality", **settings):
            subset.setdefault((item.groups["network"], item.labels["exact"]), set()).add(item.id)
        return subset

    together, alone = (
        subset_by_network(networks=["asia", "sachs"], limit=200),
        subset_by_network(networks="asia", limit=100),
    )
    for label in (0, 1):
        among_others, on_its_own = together["asia", label], alone["asia", label]
        assert among_others <= on_its_own or on_its_own <= among_others
