"""task=corr2cause/fresh: what the items are, checked by theory that is not the harness's own."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import combinations, islice, product

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.premise_theory import KIND, assert_label, stated
from support.thinned import few

from harness.causal.relations import Relation
from harness.errors import ConfigError
from harness.prompting.fit import choose_prompt
from harness.run import ask
from harness.settings import build
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.fresh.blocks import DECKS
from harness.tasks.corr2cause.reasoner import Reasoner
from harness.tasks.corr2cause.shortcut import Shortcut
from harness.tasks.corr2cause.small_models import HypothesisOnly
from harness.types import ChatRequest

SECTION = {
    "_target_": "harness.tasks.corr2cause.fresh.task.Fresh",
    "name": "corr2cause/fresh",
    "prompts": ["plain", "pair"],
}


def fresh(**settings):
    return build(SECTION | settings, "task")


def items(**settings):
    return list(fresh(**settings).items())


# ── premises that are the same up to renaming ──


def shape(names, independences) -> nx.Graph:
    """Return a graph that is isomorphic to another premise's iff a renaming makes one of the other."""
    graph = nx.Graph()
    graph.add_nodes_from(names, kind="variable")
    for statement in independences:
        graph.add_node(statement, kind="statement")
        for ends, role in zip(statement, ("end", "given"), strict=True):
            graph.add_edges_from(((name, statement) for name in ends), role=role)
    return graph


def same(one: nx.Graph, other: nx.Graph) -> bool:
    by_kind, by_role = (
        nx.isomorphism.categorical_node_match("kind", ""),
        nx.isomorphism.categorical_edge_match("role", ""),
    )
    return nx.is_isomorphic(one, other, by_kind, by_role)


def fingerprint(graph: nx.Graph) -> str:
    return nx.weisfeiler_lehman_graph_hash(graph, node_attr="kind", edge_attr="role", iterations=4)


def isomorphic_pairs(premises: list[str], others: list[str]) -> list[tuple[str, str]]:
    """Return every two premises, the first among `premises`, that are the same up to renaming."""
    texts = [*premises, *others]
    shapes = [shape(*stated(text)) for text in texts]
    places: dict[str, list[int]] = {}
    for k, graph in enumerate(shapes):
        places.setdefault(fingerprint(graph), []).append(k)
    return [
        (texts[a], texts[b])
        for alike in places.values()
        for a, b in combinations(alike, 2)
        if a < len(premises) and same(shapes[a], shapes[b])
    ]


@cache
def public_premises() -> tuple[str, ...]:
    texts = {}
    for version in ("v2", "v1"):
        task = build(
            {
                "_target_": "harness.tasks.corr2cause.Corr2Cause",
                "name": "corr2cause",
                "prompts": ["plain"],
                "version": version,
            },
            "task",
        )
        texts |= {item.cluster: item.fields["premise"] for item in task.items()}
    return tuple(texts.values())


# ── the items ──


@settings(max_examples=6)
@given(seed=st.integers(-10, 10**9), names=st.sampled_from(["letters", "words"]), k=st.sampled_from([1, 2, 12]))
def test_labels_by_brute_force_from_the_words_alone(seed, names, k):
    for item in items(seed=seed, names=names, per_premise=k, limit=5, num_nodes=[5, 6]):
        assert_label(item)


@pytest.mark.slow
def test_labels_over_seven_variables_by_a_bayes_ball_of_the_tests_own():
    for item in items(seed=3, num_nodes=7, limit=12):
        assert_label(item)


def test_no_premise_comes_twice_or_stands_in_a_public_test_set():
    premises = [item.fields["premise"] for item in items(seed=5, num_nodes=[5, 6], limit=96)]
    assert len(set(premises)) == 96 and not isomorphic_pairs(premises, list(public_premises()))
    # The check finds one: a public premise under other names.
    one = next(text for text in public_premises() if "system of 5" in text and "independent" in text)
    renamed = re.sub(r"\b[A-E]\b", lambda name: "CDEAB"["ABCDE".index(name[0])], one)
    assert isomorphic_pairs([renamed], [one])


@pytest.mark.slow
def test_nothing_of_the_public_sets_is_left_among_all_items_of_five_and_six_variables():
    clusters = {item.cluster for item in items(num_nodes=[5, 6])}
    public = {claim.cluster for version in ("v1", "v2") for claim in public_test(version)}
    assert len(clusters) == 96 + 12 * ((1677 - 48) // 12) and not clusters & public


@pytest.mark.parametrize("balance", ["even", "published"])
@pytest.mark.parametrize("k", few([1, 6, 66], 1))
def test_every_block_has_the_same_relations_and_labels(balance, k):
    if (k, balance) == (66, "even"):
        k = 24
    task = fresh(balance=balance, per_premise=k, num_nodes=[5, 6] if k < 12 else [6], seed=9)
    drawn = list(islice(task.items(), 3 * task.draw_size))
    blocks = [drawn[start : start + task.draw_size] for start in range(0, len(drawn), task.draw_size)]
    strata = [Counter((Relation(b.groups["relation"]), b.labels["audited"]) for b in block) for block in blocks]
    decks = task.draw_size // sum(DECKS[balance].values())
    assert all(counts == {key: decks * n for key, n in DECKS[balance].items()} for counts in strata)
    assert len({tuple(item.groups["relation"] for item in block) for block in blocks}) == 3
    clusters = [item.cluster for item in drawn]
    assert all(len(set(clusters[at : at + k])) == 1 for at in range(0, len(drawn), k))
    assert len(set(clusters)) == len(drawn) // k


def test_the_published_balance_is_that_of_the_public_test_split():
    claims = public_test("v2")
    there = Counter((KIND.get(claim.relation, claim.relation), claim.derived) for claim in claims)
    here = Counter()
    for (relation, label), number in DECKS["published"].items():
        here[KIND.get(relation, relation), label] += number
    assert here.keys() == there.keys()
    size = sum(here.values())
    assert all(abs(here[key] / size - there[key] / len(claims)) < 0.004 for key in here)


def test_claims_of_one_premise_mean_different_things():
    drawn = items(per_premise=24, num_nodes=6, limit=24 * 4, seed=2)
    meanings = set()
    for item in drawn:
        relation, i, j = (item.fields[name] for name in ("relation", "var_i", "var_j"))
        ends = (
            (j, i) if relation in KIND else tuple(sorted((i, j))) if relation in ("collider", "confounder") else (i, j)
        )
        meanings.add((item.cluster, KIND.get(relation, relation), ends))
    assert len(meanings) == len(drawn) == len({(item.fields["input"]) for item in drawn})


@given(seed=st.integers(0, 99), few_=st.integers(1, 40), balance=st.sampled_from(["even", "published"]))
@settings(max_examples=4)
def test_a_longer_run_begins_with_the_items_of_a_shorter_one(seed, few_, balance):
    settings = {"seed": seed, "balance": balance, "num_nodes": [5, 6]}
    assert (
        items(limit=few_, **settings)
        == list(islice(fresh(**settings).items(), few_))
        == items(limit=90, **settings)[:few_]
    )


def test_a_size_that_is_used_up_is_left_out_and_said():
    task = fresh(limit=240, num_nodes=[5, 6])
    drawn = list(task.items())
    (remark,) = task.remarks
    assert remark == "The premises over 5 variables are used up with item 96; those after it have 6."
    assert [k for k, item in enumerate(drawn) if item.fields["num_nodes"] == 5][-1] < 96
    assert Counter(item.fields["num_nodes"] for item in drawn[:12]) == {5: 6, 6: 6}
    assert not fresh(limit=96, num_nodes=[5, 6]).remarks
    with pytest.raises(ConfigError, match=r"task.limit=49: .* give 48 items, as no premise comes twice"):
        fresh(limit=49, num_nodes=5).items()
    assert items(num_nodes=5, limit=48) == items(num_nodes=5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"per_premise": 5}, "a block has 12 items, so 1, 2, 3, 4, 6, 12 or a multiple of 12"),
        ({"per_premise": 24, "balance": "published"}, "a block has 66 items"),
        ({"num_nodes": []}, "at least 1"),
        ({"num_nodes": 8}, "less than or equal to 7"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        fresh(**settings)


SOLVERS = (Reasoner(), Shortcut(), HypothesisOnly())


@pytest.mark.parametrize(("model", "names"), few(product(SOLVERS, ["words", "letters"]), 1))
def test_what_answers_corr2cause_answers_it(model, names):
    task = fresh(limit=24, num_nodes=[5, 6], names=names)
    prompt = choose_prompt(task, model, None)
    records = list(ask(task.items(), prompt, model, ChatRequest))
    assert all(record.answer.label is not None for record in records)
    result = task.summarize(iter(records))
    assert set(result.scores["audited"]) >= {"relation", "num_nodes", "phrasing"}
    if model.name == "reasoner":
        assert result.overall["accuracy"] == 1
