"""The items of CausalBench: how many, which words, which labels, and what a sample of them is."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations

import networkx as nx
import pytest
from support.brute_force import graph_of
from support.causalbench_help import ALL_SIX, SIZES, causalbench, items

from harness.tasks.causalbench.networks import NETWORKS, load, meanings

# Zhou et al., Appendix C.A and C.C, of asia and tub.
CORRELATION = {
    "related": "Are asia and tub related?",
    "correlated": "Are asia and tub correlated?",
    "correlation": "Is there a correlation between asia and tub?",
    "relation": "Is there a relation between asia and tub?",
    "connection": "Do asia and tub have a connection?",
}
CAUSALITY = {
    "causally_related": "Are asia and tub causally related?",
    "causal_connection": "Is there a causal connection between asia and tub?",
    "cause": "Does asia cause tub?",
    "influence": "Does asia influence tub?",
    "causality_between": "Is there causality between asia and tub?",
}
STRUCTURES = {
    "direct": "Does asia directly cause the tub?",
    "indirect": "Does asia causes something else which causes tub?",
    "reversed_direct": "Does tub directly cause the asia?",  # not in the appendix
    "reversed_indirect": "Is the tub a cause for the asia but not a direct one?",
    "common_effect": "Is there at least one common effect of asia and the tub?",
    "common_cause": "Is there at least common cause of the asia and the tub?",
}
STATEMENTS = {
    "related": "asia and tub are related.",
    "cause": "asia causes tub.",
    "direct": "asia directly causes tub.",
    "indirect": "asia causes something else which causes tub.",
    "reversed_direct": "tub directly causes asia.",
    "reversed_indirect": "tub is a cause for asia but not a direct one.",
    "common_effect": "There is at least one common effect of asia and tub.",
    "common_cause": "There is at least one common cause of asia and tub.",
}


def fields(item, *names: str) -> tuple:
    return tuple(item.fields[name] for name in names)


# How many


def test_every_ordered_pair_under_every_template():
    for kind, settings, templates in (
        ("Correlation", {}, 5),
        ("Causality", {}, 5),
        ("Causality", {"method": 2}, 6),
    ):
        task = causalbench(kind, networks="all", **settings)
        assert len(task.items()) == templates * sum(n * (n - 1) for n in SIZES.values())
        per_network = Counter(item.groups["network"] for item in items(kind, scale="small", **settings))
        assert per_network == {name: templates * SIZES[name] * (SIZES[name] - 1) for name in NETWORKS[:5]}


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
        pairs_by_template = {t: Counter(i.unit for i in item_list if i.groups["template"] == t) for t in CORRELATION}
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


# What an item is


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("Correlation", {}, CORRELATION),
        ("Causality", {}, CAUSALITY),
        ("Causality", {"method": 2}, STRUCTURES),
    ],
)
def test_the_words_of_the_appendix(kind, settings, words):
    breakdown = "structure" if settings else "template"
    item_list = [item for item in items(kind, networks="asia", **settings) if item.unit == "asia -> tub"]
    assert {item.groups[breakdown]: item.fields["question"] for item in item_list} == words
    assert [item.groups[breakdown] for item in item_list] == list(words)
    for item in item_list:
        question, name = item.fields["question"], item.groups[breakdown]
        assert item.fields["question_within"] == question[0].lower() + question[1:]
        assert item.fields["statement"] == STATEMENTS.get(name, item.fields["statement"])
        assert item.fields["variables"] == "asia and tub"
        assert fields(item, "a", "b") == ("asia", "tub")


def test_the_words_of_the_skeleton():
    exact = {item.id: item for item in items("Skeleton", networks="asia")}
    questions = {re.sub(r"\b(asia|tub)\b", "X", i.fields["question"]) for i in exact.values() if "/asia" in i.id}
    assert "Are X and X directly related?" in questions and "Given smoke, are X and X related?" in questions
    published = items("Skeleton", networks="asia", convention="paper")
    words = {item.groups["template"]: item.fields["question"] for item in published if fields(item, "a") == ("asia",)}
    # Appendix C.B. asia is an ancestor of dysp; of asia and bronc, either has only asia above it, dysp both.
    assert words["directly_related"] == "Are asia and dysp directly related?"
    by_id = {item.id: item for item in published}
    assert by_id["asia/conditionally_related/asia/bronc/dysp"].fields["question"] == (
        "If asia and bronc are not directly related, then asia and bronc are conditionally related under dysp. "
        "Under this condition, are asia and bronc related?"
    )
    assert by_id["asia/not_conditionally_related/asia/bronc/either"].fields["question"] == (
        "If asia and bronc are not directly related, then asia and bronc are not conditionally related under either. "
        "Under this condition, are asia and bronc related?"
    )
    assert by_id["asia/conditionally_related/asia/bronc/dysp"].fields["variables"] == "asia, bronc and dysp"


def test_an_item_tells_where_it_belongs():
    by_id = {item.id: item for item in items("Causality", networks=["asia", "sachs"])}
    item = by_id["asia/cause/asia/xray"]
    assert (item.cluster, item.unit) == ("asia", "asia -> xray")
    assert item.groups == {
        "network": "asia",
        "scale": "small",
        "template": "cause",
        "relation": "indirect",
    }
    relations = {
        "asia/cause/asia/tub": "direct",
        "asia/cause/tub/asia": "reversed_direct",
        "asia/cause/xray/asia": "reversed_indirect",
        "asia/cause/lung/bronc": "common_cause",
        "asia/cause/asia/smoke": "independent",
    }
    assert {name: by_id[name].groups["relation"] for name in relations} == relations
    second = {item.id: item for item in items("Causality", networks="asia", method=2)}
    assert second["asia/common_cause/lung/bronc"].groups == {
        "network": "asia",
        "scale": "small",
        "structure": "common_cause",
        "relation": "common_cause",
    }
    assert second["asia/common_cause/lung/bronc"].unit == "lung -> bronc"
    assert {i.cluster for i in by_id.values()} == {"asia", "sachs"}
    json.dumps([dict(by_id["asia/cause/asia/tub"].fields)])


# Words besides the question


def test_readable_names():
    by_id = {item.id: item for item in items("Causality", networks="asia", names="readable")}
    item = by_id["asia/cause/asia/tub"]
    assert item.fields["question"] == "Does visiting to Asia cause tuberculosis?"
    assert fields(item, "a", "b", "statement", "variables") == (
        "visiting to Asia",
        "tuberculosis",
        "Visiting to Asia causes tuberculosis.",
        "Visiting to Asia and tuberculosis",
    )
    assert item.unit == "asia -> tub"


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


@pytest.mark.parametrize("names", ["original", "readable"])
def test_background_knowledge_holds_the_text_of_every_variable_of_the_question(names):
    texts = meanings("asia")

    def text(variable: str) -> str:
        return f"{variable if names == 'original' else texts[variable].name}: {texts[variable].text}"

    by_id = {i.id: i for i in items("Causality", networks="asia", names=names, format="background")}
    assert by_id["asia/cause/asia/tub"].fields["knowledge"] == f"{text('asia')} Meanwhile, {text('tub')}"
    assert by_id["asia/cause/tub/asia"].fields["knowledge"] == f"{text('tub')} Meanwhile, {text('asia')}"
    third = [i for i in items("Skeleton", networks="asia", names=names, format="background") if i.id.count("/") == 4]
    assert len(third) == 28 * 6
    for item in third:
        variables = item.id.split("/")[2:]
        assert all(text(variable) in item.fields["knowledge"] for variable in variables)
        assert item.fields["knowledge"].count(" Meanwhile, ") == 2
    authors = items("Causality", networks="asia", names=names, format="background", background="authors")
    (item,) = (item for item in authors if item.id == "asia/cause/asia/tub")  # as Figure 22 prints it
    assert item.fields["knowledge"].startswith("The term 'visiting to Asia' itself doesn't have a specific medical")
    assert " one should be aware of. Meanwhile, Tuberculosis (TB) is a potentially serious" in item.fields["knowledge"]
    assert all("knowledge" not in item.fields for item in items("Causality", networks="asia", format="data", rows=5))
