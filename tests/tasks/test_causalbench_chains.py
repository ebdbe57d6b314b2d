"""The chains of CausalBench: which are published, what is asked about them, and what is true."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import networkx as nx
import pytest
from support.causalbench_help import MISSED, causalbench, except_for, items, records, right, values

from harness.tasks.causalbench.chains import longest


def graph_and_ends(item) -> tuple[nx.DiGraph, str, str]:
    """Return (graph, from, to) as the words of a chain question have them."""
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
    chains = items("Chains")
    kinds = Counter(item.groups["kind"] for item in chains)
    assert kinds == {"chain": 24, "reordered": 8, "reversed": 16, "broken": 8, "shuffled": 8}
    assert {int(item.groups["length"]) for item in chains if not item.labels["exact"]} == set(range(3, 27))
    assert Counter(item.labels["exact"] for item in chains) == {0: 32, 1: 32}
    assert all(item.labels["exact"] == (item.groups["kind"] in ("chain", "reordered")) for item in chains)
    assert len({item.id for item in chains}) == len({item.fields["question"] for item in chains}) == 64


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_order_of_the_statements_tells_nothing(seed):
    """Once every question out of order was a No."""
    labels = {True: Counter(), False: Counter()}
    for item in items("Chains", seed=seed):
        links = re.findall(r"([A-Z]) causes ([A-Z])", item.fields["premise"])
        labels[links == sorted(links)][item.labels["exact"]] += 1
    assert labels == {True: {0: 24, 1: 24}, False: {0: 8, 1: 8}}


def test_the_labels_of_chains_are_what_the_words_say():
    for item in items("Chains"):
        graph, a, b = graph_and_ends(item)
        assert nx.has_path(graph, a, b) == item.labels["exact"], item.id
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: int(item.groups["length"])]
        assert set(re.findall(r"\b[A-Z]\b", item.fields["question"])) == set(letters)
        all_links = set(pairwise(letters))
        match item.groups["kind"]:
            case "reversed":
                assert (a, b) == (letters[-1], letters[0]) and set(graph.edges) == all_links
            case "broken":
                assert (a, b) == (letters[0], letters[-1]) and len(all_links - set(graph.edges)) == 1
                assert set(graph.edges) < all_links
            case "shuffled" | "reordered":
                links = re.findall(r"([A-Z]) causes ([A-Z])", item.fields["premise"])
                assert set(links) == all_links and links != sorted(links)
                # Asked from the first letter said to the last one said, as in the published questions.
                assert (a, b) == (links[0][0], links[-1][1])


def test_the_longest_chain_has_every_shorter_one_right():
    assert longest({3: True, 4: True, 5: True}.items()) == 5
    assert longest({3: True, 4: False, 5: True}.items()) == 3
    assert longest({5: True, 3: True, 4: False, 26: True}.items()) == 3
    assert longest({3: False, 4: True}.items()) == 0
    assert longest({6: True, 9: True}.items()) == 9
    assert longest({}.items()) is None


def chains(respond, **settings):
    task = causalbench("Chains", **settings)
    return task.summarize(records(task, respond)).scores["exact"]


def test_perfect_answers_to_chains():
    scores = chains(right)
    assert scores["overall"]["all"]["f1"] == 1 and scores["overall"]["all"]["longest_chain"] == 26
    assert {kind: row["longest_chain"] for kind, row in scores["kind"].items()} == {
        "chain": 26,
        "reordered": 26,
        "reversed": 26,
        "broken": 25,
        "shuffled": 26,
    }
    assert list(scores["length"]) == [str(length) for length in range(3, 27)]
    for length, row in scores["length"].items():
        assert row.items == (4 if int(length) % 3 == 2 else 2) and row["accuracy"] == 1
    assert "longest_chain" not in values(scores["length"]["3"])


@pytest.mark.parametrize(("hole", "letters"), [("No", 10), ("Could be.", 10), (MISSED, None)])
def test_the_longest_chain_ends_before_the_first_that_was_not_right(hole, letters):
    scores = chains(except_for({"chain/11": hole}))
    assert scores["kind"]["chain"]["longest_chain"] == letters == scores["overall"]["all"]["longest_chain"]
    assert scores["kind"]["reversed"]["longest_chain"] == 26
    assert (scores["overall"]["all"].failed, scores["overall"]["all"].unreadable) == (
        int(hole is MISSED),
        int(hole == "Could be."),
    )
