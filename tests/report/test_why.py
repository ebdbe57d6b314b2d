"""The explanations agree with the labels by logic, and the graphs they name bear them out."""

from __future__ import annotations

import pytest
from support.thinned import few

from harness.causal.dag import from_edges
from harness.causal.relations import Relation, relations
from harness.tasks.corr2cause import Corr2Cause
from harness.tasks.corr2cause.claim import ItemWriter, claims
from harness.tasks.corr2cause.explain import ClaimExplanations
from harness.types import Item

TEST = [("v2", how) for how in ("none", "paraphrase", "refactorization", "permutation")]


def explained(items):
    classes = ClaimExplanations()
    for item in items:
        classes.add(item)
    texts = classes.json()
    for item, of, why, code in zip(items, texts["of"], texts["why"], texts["names"]["codes"], strict=True):
        yield item, texts["classes"][of], texts["names"]["table"][code], why


def task(**settings):
    return Corr2Cause(name="corr2cause", prompts=("plain",), **settings)


@pytest.mark.parametrize(("version", "perturbation"), few([*TEST, ("v1", "none")], 3))
def test_every_item_of_the_test_sets(version, perturbation):
    differing = 0
    for item, explanation, names, why in explained(list(task(version=version, perturbation=perturbation).items())):
        graph = explanation["members"][why["member"]]
        i, j = (names.index(item.fields[name]) for name in ("var_i", "var_j"))
        holds = relations(from_edges(explanation["nodes"], graph))[Relation(item.fields["relation"])][i] >> j & 1
        assert why["holds"] == item.labels["audited"] == holds
        assert all(edge in graph for edge in why["marked"])
        assert why["said"].startswith("Follows: " if holds else "Does not follow: ")
        assert len(explanation["members"]) <= min(explanation["total"], 60)
        differs = item.labels["published"] != item.labels["audited"]
        assert ("published label" in why["said"]) == differs
        differing += differs
        for a, b in why["marked"]:  # the sentence draws what is marked
            assert f"{names[a]} → {names[b]}" in why["said"] or f"{names[b]} ← {names[a]}" in why["said"]
    assert differing == {"v2": 18, "v1": 37}[version]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("n2-g1-parent-A-B", "in graph 2 of 2, the edge points the other way (B → A). It holds in 1 of the 2."),
        ("n3-g6-collider-A-B", "in the only graph that fits the premise, A and B have a common effect (A → C ← B)."),
        ("n5-g153-parent-A-D", "in graph 1 of 5, no edge joins A and D (A → B → C → D). It holds in none of the 5."),
        (
            "n5-g714-parent-A-E",
            "in every one of the 3 graphs that fit the premise, A is a parent of E (in graph 1 of 3: A → E). The "
            "published label says No; by logic, and in the audited labels, it is Yes.",
        ),
    ],
)
def test_sentences(name, sentence):
    items = [item for item in task().items() if item.id == name]
    assert [why["said"].partition(": ")[2] for *_, why in explained(items)] == [sentence]


def test_large_classes_show_some_members_and_those_that_refute():
    complete = (1 << 15) - 1  # no independence at all: every order of six variables is a member
    items = [ItemWriter("none", 0).item(claim) for claim in claims(6, complete, seed=0)]
    explanations = list(explained(items))
    assert {members["total"] for _, members, _, _ in explanations} == {720}
    members = explanations[0][1]["members"]
    assert 40 < len(members) <= 60 and len({str(graph) for graph in members}) == len(members)
    for item, _, names, why in explanations:
        graph = [(names[a], names[b]) for a, b in members[why["member"]]]
        assert not why["holds"] and f"in graph {why['member'] + 1} of 720" in why["said"]
        if item.fields["relation"] == "parent":
            assert (item.fields["var_j"], item.fields["var_i"]) in graph


def test_words_that_are_not_the_benchmark_s_have_no_class():
    item = Item("x", {"premise": "A rains.", "hypothesis": "B."}, {"published": 1}, "c", {})
    classes = ClaimExplanations()
    classes.add(item)
    assert classes.json() is None
