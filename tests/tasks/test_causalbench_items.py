"""The items of CausalBench: how many, which words, which labels, and what a sample of them is."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import fields as fields_of
from itertools import pairwise

import networkx as nx
import pytest
from brute_force import graph_of

from harness.errors import ConfigError
from harness.settings import build
from harness.tasks.causalbench import task as task_module
from harness.tasks.causalbench.networks import NETWORKS, load, meanings, sample

SIZES = {
    "asia": 8, "cancer": 5, "earthquake": 5, "survey": 6, "sachs": 11, "child": 20, "insurance": 27, "water": 32,
    "mildew": 35, "alarm": 37, "barley": 48, "hailfinder": 56, "hepar2": 70, "win95pts": 76, "pathfinder": 109,
}  # fmt: skip

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


def causalbench(task: str, /, **settings):
    section = {
        "_target_": f"harness.tasks.causalbench.{task}",
        "name": f"causalbench/{task.lower()}",
        "prompts": ["closed", "pair"],
    }
    return build(section | settings, "task")


def items(task: str, /, **settings) -> list:
    return list(causalbench(task, **settings).items())


def fields(item, *names: str) -> tuple:
    return tuple(item.fields[name] for name in names)


ALL_SIX = [
    ("Correlation", {}),
    ("Correlation", {"kind": "direct"}),
    ("Causality", {}),
    ("Causality", {"method": 2}),
    ("Skeleton", {}),
    ("Skeleton", {"convention": "paper"}),
]


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
    found = Counter(item.groups["network"] for item in items("Skeleton", scale="small"))
    assert found == {name: SIZES[name] * (SIZES[name] - 1) ** 2 // 2 for name in NETWORKS[:5]}
    published = items("Skeleton", networks=["asia", "sachs"], convention="paper")
    # Zhou et al.'s rule: asia 156 items, 84 of them positive; sachs 638 and 80.
    assert Counter(item.groups["network"] for item in published) == {"asia": 156, "sachs": 638}
    assert sum(item.labels["paper"] for item in published) == 84 + 80


@pytest.mark.parametrize(("kind", "settings"), ALL_SIX)
def test_the_number_is_known_and_the_items_are_the_same_at_every_call(kind, settings):
    task = causalbench(kind, networks=["asia", "survey"], **settings)
    first = list(task.items())
    assert len(task.items()) == len(first) and list(task.items()) == first
    assert items(kind, networks=["asia", "survey"], **settings) == first


@pytest.mark.parametrize("name", ["asia", "sachs", "child"])
def test_kinds_of_correlation(name):
    graph, names = graph_of(load(name).dag), load(name).variables
    wanted = {"all": set(), "direct": set(), "indirect": set()}
    for a in graph:
        for b in set(graph) - {a}:
            pair = f"{names[a]} -> {names[b]}"
            adjacent = graph.has_edge(a, b) or graph.has_edge(b, a)
            wanted["all"].add(pair)
            if adjacent or nx.is_d_separator(graph, a, b, set()):
                wanted["direct"].add(pair)
            if not adjacent:
                wanted["indirect"].add(pair)
    for kind, pairs in wanted.items():
        found = items("Correlation", networks=name, kind=kind)
        asked = {t: Counter(i.unit for i in found if i.groups["template"] == t) for t in CORRELATION}
        assert all(counted == Counter(pairs) for counted in asked.values()), kind


# Which networks


def test_without_a_choice_the_papers_fourteen():
    assert causalbench("Correlation").chosen_networks == NETWORKS[:14]
    assert "pathfinder" not in NETWORKS[:14]
    assert len(causalbench("Correlation").items()) == 5 * sum(n * (n - 1) for n in list(SIZES.values())[:14])


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"networks": "asia"}, ["asia"]),
        ({"networks": ["sachs", "asia", "sachs"]}, ["asia", "sachs"]),
        ({"networks": ["pathfinder"]}, ["pathfinder"]),
        ({"networks": "all"}, list(NETWORKS)),
        ({"networks": ["asia", "all"]}, list(NETWORKS)),
        ({"scale": "small"}, ["asia", "cancer", "earthquake", "survey", "sachs"]),
        ({"scale": ["medium"]}, ["child", "insurance", "water", "mildew", "alarm", "barley"]),
        ({"scale": "large"}, ["hailfinder", "hepar2", "win95pts"]),
        ({"scale": ["very_large"]}, ["pathfinder"]),
        ({"scale": ["very_large", "small"]}, ["asia", "cancer", "earthquake", "survey", "sachs", "pathfinder"]),
        ({"scale": "all"}, list(NETWORKS)),
    ],
)
def test_networks_are_chosen_by_name_or_scale(settings, wanted):
    task = causalbench("Causality", **settings)
    assert list(task.chosen_networks) == wanted
    assert len(task.items()) == 5 * sum(SIZES[name] * (SIZES[name] - 1) for name in wanted)


def test_items_come_network_by_network_and_know_their_scale():
    seen = []
    for item in causalbench("Causality", scale="all").items():
        if not seen or seen[-1] != (item.groups["network"], item.groups["scale"]):
            seen.append((item.groups["network"], item.groups["scale"]))
    assert seen == list(zip(NETWORKS, ["small"] * 5 + ["medium"] * 6 + ["large"] * 3 + ["very_large"], strict=True))


# What an item is


@pytest.mark.parametrize(("kind", "settings"), ALL_SIX)
def test_ids_are_unique_and_stay_with_their_question(kind, settings):
    found = items(kind, networks=["asia", "cancer", "earthquake"], **settings)
    assert len({item.id for item in found}) == len(found)
    alone = {item.id: item for item in items(kind, networks="earthquake", **settings)}
    assert alone == {item.id: item for item in found if item.groups["network"] == "earthquake"}


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
    found = [item for item in items(kind, networks="asia", **settings) if item.unit == "asia -> tub"]
    assert {item.groups[breakdown]: item.fields["question"] for item in found} == words
    assert [item.groups[breakdown] for item in found] == list(words)
    for item in found:
        question, name = item.fields["question"], item.groups[breakdown]
        assert item.fields["question_within"] == question[0].lower() + question[1:]
        assert item.fields["statement"] == STATEMENTS.get(name, item.fields["statement"])
        assert item.fields["variables"] == "asia and tub"
        assert fields(item, "a", "b") == ("asia", "tub")


def test_every_template_has_a_statement_about_both():
    for kind, settings in ALL_SIX:
        for item in items(kind, networks="cancer", **settings):
            a, b = fields(item, "a", "b")
            assert re.search(rf"\b{a}\b", item.fields["statement"]) and re.search(rf"\b{b}\b", item.fields["statement"])
            assert item.fields["statement"].endswith(".") and "?" not in item.fields["statement"]


def test_the_words_of_the_skeleton():
    exact = {item.id: item for item in items("Skeleton", networks="asia")}
    asked = {re.sub(r"\b(asia|tub)\b", "X", i.fields["question"]) for i in exact.values() if "/asia" in i.id}
    assert "Are X and X directly related?" in asked and "Given smoke, are X and X related?" in asked
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
    found = {item.id: item for item in items("Causality", networks=["asia", "sachs"])}
    item = found["asia/cause/asia/xray"]
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
    assert {name: found[name].groups["relation"] for name in relations} == relations
    second = {item.id: item for item in items("Causality", networks="asia", method=2)}
    assert second["asia/common_cause/lung/bronc"].groups == {
        "network": "asia",
        "scale": "small",
        "structure": "common_cause",
        "relation": "common_cause",
    }
    assert second["asia/common_cause/lung/bronc"].unit == "lung -> bronc"
    assert {i.cluster for i in found.values()} == {"asia", "sachs"}
    json.dumps([dict(found["asia/cause/asia/tub"].fields)])


# Labels


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
    allowed |= {"network", "parts", "parts_in_words"}
    for kind, settings in ALL_SIX:
        for item in items(kind, networks="cancer", format="background_data", rows=10, **settings):
            assert set(item.fields) <= allowed


@pytest.mark.parametrize(("convention", "headline"), [("exact", "exact"), ("paper", "paper")])
def test_the_convention_is_the_headline(convention, headline):
    for kind in ("Correlation", "Causality", "Skeleton"):
        task = causalbench(kind, networks="cancer", convention=convention)
        assert task.headline == headline
        assert all(headline in item.labels for item in task.items())


# Words besides the question


def test_readable_names():
    found = {item.id: item for item in items("Causality", networks="asia", names="readable")}
    item = found["asia/cause/asia/tub"]
    assert item.fields["question"] == "Does Visiting to Asia cause Tuberculosis?"
    assert fields(item, "a", "b", "variables") == (
        "Visiting to Asia",
        "Tuberculosis",
        "Visiting to Asia and Tuberculosis",
    )
    assert item.unit == "asia -> tub"


@pytest.mark.parametrize("names", ["original", "readable"])
def test_background_knowledge_holds_the_text_of_every_variable_of_the_question(names):
    said = meanings("asia")

    def text(variable: str) -> str:
        return f"{variable if names == 'original' else said[variable].name}: {said[variable].text}"

    found = {i.id: i for i in items("Causality", networks="asia", names=names, format="background")}
    assert found["asia/cause/asia/tub"].fields["knowledge"] == f"{text('asia')} Meanwhile, {text('tub')}"
    assert found["asia/cause/tub/asia"].fields["knowledge"] == f"{text('tub')} Meanwhile, {text('asia')}"
    third = [i for i in items("Skeleton", networks="asia", names=names, format="background") if i.id.count("/") == 4]
    assert len(third) == 28 * 6
    for item in third:
        variables = item.id.split("/")[2:]
        assert all(text(variable) in item.fields["knowledge"] for variable in variables)
        assert item.fields["knowledge"].count(" Meanwhile, ") == 2
    assert all("knowledge" not in item.fields for item in items("Causality", networks="asia", format="data", rows=5))


def matrix_of(item) -> tuple[list[str], list[list[list[int]]]]:
    """(header, the rows of each part) of the data in an item."""
    parts = [part.split("\n") for part in item.fields["parts"]]
    assert len({part[0] for part in parts}) == 1
    return parts[0][0].split(" | "), [[list(map(int, row.split(" | "))) for row in part[1:]] for part in parts]


def test_data_comes_in_five_parts_of_a_hundred_rows():
    found = items("Causality", networks=["asia", "survey", "win95pts", "hepar2"], format="data")
    first = {item.groups["network"]: item for item in reversed(found)}
    for name, item in first.items():
        header, parts = matrix_of(item)
        assert header == list(load(name).variables)
        assert [len(part) for part in parts] == [100] * 5
        assert {len(row) for part in parts for row in part} == {SIZES[name]}
        assert item.fields["parts_in_words"] == "five"
    titles = {name: item.fields["network"] for name, item in first.items()}
    assert titles == {"asia": "Asia", "survey": "Survey", "win95pts": "Win95PTS", "hepar2": "Hepar II"}
    # All items of a network show the same data.
    assert all(item.fields["parts"] is first[item.groups["network"]].fields["parts"] for item in found)


def test_states_are_coded_in_alphabetical_order():
    (item, *_) = items("Causality", networks="asia", format="data", rows=500)
    header, parts = matrix_of(item)
    rows = [row for part in parts for row in part]

    def share(variable: str, code: int) -> float:
        return sum(row[header.index(variable)] == code for row in rows) / 500

    # yes stands before no in the file, but no is 0: P(asia=yes) = 0.01, P(xray=yes) = 0.11.
    assert share("asia", 1) < 0.05 and share("asia", 0) > 0.95 and share("xray", 1) < 0.2
    (item, *_) = items("Causality", networks="survey", format="data", rows=500)
    header, parts = matrix_of(item)
    rows = [row for part in parts for row in part]
    # A: young 0.3, adult 0.5, old 0.2 in the file's order; alphabetical: adult, old, young.
    assert [round(share("A", code), 1) for code in range(3)] == [0.5, 0.2, 0.3]


def test_rows_that_do_not_divide_evenly():
    (item, *_) = items("Correlation", networks="cancer", format="background_data", rows=7, parts=3)
    assert [len(part) for part in matrix_of(item)[1]] == [3, 2, 2]
    assert item.fields["parts_in_words"] == "three"
    (item, *_) = items("Correlation", networks="cancer", format="data", rows=12, parts=12)
    assert [len(part) for part in matrix_of(item)[1]] == [1] * 12
    assert item.fields["parts_in_words"] == "12"
    (item, *_) = items("Correlation", networks="cancer", format="data", rows=4, parts=1)
    assert len(item.fields["parts"]) == 1 and item.fields["parts_in_words"] == "one"


def test_the_data_is_drawn_from_the_seed():
    def drawn(**settings):
        (item, *_) = items("Causality", networks="alarm", format="data", rows=60, **settings)
        return matrix_of(item)

    assert drawn() == drawn() == drawn(seed=0)
    assert drawn(seed=1)[1] != drawn()[1]
    # Cut elsewhere or named otherwise, the same rows, and those that algorithms learn from.
    rows = [row for part in drawn()[1] for row in part]
    assert rows == sample("alarm", 60, seed=0).tolist()
    assert [row for part in drawn(parts=2)[1] for row in part] == rows
    readable = drawn(names="readable")
    assert readable[1] == drawn()[1] and readable[0] == [m.name for m in meanings("alarm").values()]


# Limit


def share(found: list, kind: str, settings: dict) -> None:
    """Networks and labels of a sample have their shares."""
    task = causalbench(kind, **settings)
    everything, label = list(task.items()), task.headline
    networks, labels = (
        [Counter(item.groups["network"] for item in some) for some in (everything, found)],
        [Counter((item.groups["network"], item.labels[label]) for item in some) for some in (everything, found)],
    )
    for network, number in networks[0].items():
        assert abs(networks[1][network] - len(found) * number / len(everything)) < 1, network
    for (network, gold), number in labels[0].items():
        assert abs(labels[1][network, gold] - networks[1][network] * number / networks[0][network]) < 1, network


@pytest.mark.parametrize("limit", [1, 7, 50, 333])
@pytest.mark.parametrize(("kind", "settings"), ALL_SIX)
def test_a_limit_gives_every_network_and_label_its_share(kind, settings, limit):
    settings = {"scale": "small", **settings}
    found = items(kind, limit=limit, **settings)
    assert len(found) == limit == len(causalbench(kind, limit=limit, **settings).items())
    share(found, kind, settings)
    everything = {item.id: k for k, item in enumerate(items(kind, **settings))}
    places = [everything[item.id] for item in found]
    assert places == sorted(set(places))


@pytest.mark.parametrize(
    ("kind", "settings", "limit"),
    [("Causality", {"method": 2}, 42), ("Causality", {}, 77), ("Correlation", {}, 17), ("Skeleton", {}, 189)],
)
def test_a_limit_gives_every_network_its_share_whatever_the_labels(kind, settings, limit):
    settings = {"scale": "small", **settings}
    size = Counter(item.groups["network"] for item in items(kind, **settings))
    got = Counter(item.groups["network"] for item in items(kind, limit=limit, **settings))
    off = {name: got[name] - limit * number / size.total() for name, number in size.items()}
    assert all(abs(value) < 1 for value in off.values()), off


def test_a_limit_is_a_seeded_sample_and_not_the_first_items():
    first = [item.id for item in items("Causality", limit=100)]
    assert first == [item.id for item in items("Causality", limit=100)]
    other = [item.id for item in items("Causality", limit=100, seed=1)]
    assert first != other and len(set(first) & set(other)) < 20
    assert len({item.split("/")[1] for item in first}) == 5


@pytest.mark.parametrize(("kind", "settings"), ALL_SIX)
def test_a_smaller_sample_is_part_of_a_larger_one(kind, settings):
    # Within one network and label; across them the shares decide.
    for networks in ("sachs", ["sachs", "asia"]):
        small, large = (
            {item.id for item in items(kind, networks=networks, limit=limit, **settings)} for limit in (40, 120)
        )
        assert small < large


def test_what_is_drawn_of_a_network_does_not_depend_on_the_others():
    def taken(**settings) -> dict:
        found: dict = {}
        for item in items("Causality", **settings):
            found.setdefault((item.groups["network"], item.labels["exact"]), set()).add(item.id)
        return found

    together, alone = taken(networks=["asia", "sachs"], limit=200), taken(networks="asia", limit=100)
    for label in (0, 1):
        one, other = together["asia", label], alone["asia", label]
        assert one <= other or other <= one


def test_a_limit_beyond_the_items_takes_all():
    everything = items("Causality", networks="cancer")
    for limit in (100, 101, 10**6):
        assert items("Causality", networks="cancer", limit=limit) == everything


def test_a_limit_takes_the_same_questions_in_every_format_and_under_every_name():
    ids = {
        tuple(item.id for item in items("Skeleton", networks="asia", limit=30, rows=10, **settings))
        for settings in ({}, {"format": "background_data"}, {"names": "readable"})
    }
    assert len(ids) == 1


def test_a_sample_of_888000_questions_makes_no_more_items_than_it_has(monkeypatch):
    made = []
    item_class = task_module.Item

    def counted(**fields):
        made.append(fields["id"])
        return item_class(**fields)

    monkeypatch.setattr(task_module, "Item", counted)
    task = causalbench("Skeleton", convention="paper", limit=50)
    found = list(task.items())
    assert len(found) == len(made) == 50
    assert {item.groups["network"] for item in found} >= {"win95pts", "hepar2", "hailfinder"}
    assert causalbench("Skeleton", convention="paper").items() and len(made) == 50
    assert len(causalbench("Skeleton", convention="paper").items()) == 889_154 and len(made) == 50


# Bad settings


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"networks": ["asia"], "scale": "small"}, r"task\.networks and task\.scale both choose networks"),
        ({"networks": "assia"}, r"task\.networks=assia: .*did you mean asia\?"),
        ({"networks": ["asia", "alrm"]}, r"task\.networks=alrm: .*did you mean alarm\?"),
        ({"networks": []}, r"no network is left"),
        ({"scale": []}, r"no network is left"),
        ({"scale": "smal"}, r"task\.scale=smal: .*did you mean small\?"),
        ({"rows": 4}, r"task\.parts=5 .*task\.rows=4"),
        ({"rows": 10, "parts": 11}, r"task\.parts=11 .*task\.rows=10"),
        ({"rows": 0}, r"task\.rows=0: .*greater than 0"),
        ({"parts": "five"}, r"task\.parts=five: .*integer"),
        ({"format": "backgroud"}, r"task\.format=backgroud: .*did you mean background\?"),
        ({"names": "readible"}, r"task\.names=readible: .*did you mean readable\?"),
        ({"convention": "papr"}, r"task\.convention=papr: .*did you mean paper\?"),
        ({"limit": 0}, r"task\.limit=0: .*greater than 0"),
        ({"limit": 2.5}, r"task\.limit=2\.5: .*integer"),
        ({"unreadable": "skip"}, r"task\.unreadable=skip: "),
        ({"seed": "x"}, r"task\.seed=x: .*integer"),
        ({"method": 3}, r"task\.method=3: .*1 or 2"),
        ({"kind": "all"}, r"no setting .?task\.kind"),
        ({"limt": 3}, r"no setting .?task\.limt.*did you mean 'task\.limit'"),
    ],
)
def test_a_setting_that_does_not_fit_gets_one_sentence(settings, sentence):
    with pytest.raises(ConfigError, match=sentence) as refused:
        causalbench("Causality", **settings)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 500


def test_a_kind_of_correlation_that_does_not_exist():
    with pytest.raises(ConfigError, match=r"task\.kind=indirct: .*did you mean indirect\?"):
        causalbench("Correlation", kind="indirct")


def test_the_format_of_the_prompt():
    assert causalbench("Causality").prompt_format == ""
    for form in ("background", "data", "background_data"):
        assert causalbench("Causality", format=form).prompt_format == form
    assert causalbench("Chains").prompt_format == ""


# Chains


def said(item) -> tuple[nx.DiGraph, str, str]:
    """(graph, from, to) as the words of a chain question have them."""
    graph = nx.DiGraph(re.findall(r"(?=\b([A-Z]) causes ([A-Z])\b)", item.fields["question"]))
    ((a, b),) = re.findall(r"does ([A-Z]) cause ([A-Z])\?$", item.fields["question"])
    graph.add_nodes_from((a, b))
    return graph, a, b


def test_24_published_chains_whose_answer_is_yes():
    published = [item for item in items("Chains") if item.groups["kind"] == "chain"]
    assert [int(item.groups["length"]) for item in published] == list(range(3, 27))
    # Zhou et al., Appendix C.D: the first, the third and the last.
    assert published[0].fields["question"] == "If A causes B and B causes C, does A cause C?"
    assert published[2].fields["question"] == (
        "If A causes B, B causes C, C causes D and D causes E, does A cause E?"
    )  # fmt: skip
    assert published[-1].fields["question"] == (
        "If A causes B, B causes C, C causes D, D causes E, E causes F, F causes G, G causes H, H causes I, "
        "I causes J, J causes K, K causes L, L causes M, M causes N, N causes O, O causes P, P causes Q, Q causes R, "
        "R causes S, S causes T, T causes U, U causes V, V causes W, W causes X, X causes Y and Y causes Z, "
        "does A cause Z?"
    )
    assert all(dict(item.labels) == {"exact": 1} for item in published)
    assert published[0].fields["premise"] == "A causes B and B causes C."
    assert published[0].fields["statement"] == "A causes C."


def test_as_many_chains_whose_answer_is_no():
    found = items("Chains")
    others = [item for item in found if item.groups["kind"] != "chain"]
    assert len(found) == 48 and len(others) == 24
    assert Counter(item.groups["kind"] for item in others) == {"reversed": 8, "broken": 8, "shuffled": 8}
    assert sorted(int(item.groups["length"]) for item in others) == list(range(3, 27))
    assert all(dict(item.labels) == {"exact": 0} for item in others)
    assert len({item.id for item in found}) == len({item.fields["question"] for item in found}) == 48


def test_the_labels_of_chains_are_what_the_words_say():
    for item in items("Chains"):
        graph, a, b = said(item)
        assert nx.has_path(graph, a, b) == item.labels["exact"], item.id
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: int(item.groups["length"])]
        assert set(re.findall(r"\b[A-Z]\b", item.fields["question"])) == set(letters)
        whole = set(pairwise(letters))
        match item.groups["kind"]:
            case "reversed":
                assert (a, b) == (letters[-1], letters[0]) and set(graph.edges) == whole
            case "broken":
                assert (a, b) == (letters[0], letters[-1]) and len(whole - set(graph.edges)) == 1
                assert set(graph.edges) < whole
            case "shuffled":
                listed = re.findall(r"([A-Z]) causes ([A-Z])", item.fields["premise"])
                assert set(listed) == whole and listed != sorted(listed)
                # Asked from the first letter said to the last one said, as in the published questions.
                assert (a, b) == (listed[0][0], listed[-1][1])


def test_only_the_shuffled_chains_depend_on_the_seed():
    by_seed = [{item.id: item.fields["question"] for item in items("Chains", seed=seed)} for seed in (0, 0, 1)]
    assert by_seed[0] == by_seed[1]
    changed = {name for name, question in by_seed[0].items() if by_seed[2][name] != question}
    assert changed <= {name for name in by_seed[0] if name.startswith("shuffled/")} and len(changed) >= 6


def test_a_limit_of_chains_keeps_both_answers():
    for limit in (2, 10, 47):
        found = items("Chains", limit=limit)
        assert len(found) == limit
        assert abs(sum(item.labels["exact"] for item in found) - limit / 2) <= 0.5
    assert items("Chains", limit=48) == items("Chains", limit=500) == items("Chains")


def test_chains_take_no_setting_of_networks():
    assert not {"networks", "format", "names", "convention"} & {f.name for f in fields_of(causalbench("Chains"))}
    with pytest.raises(ConfigError, match=r"no setting .?task\.networks"):
        causalbench("Chains", networks="asia")
