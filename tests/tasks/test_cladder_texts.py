"""An item is its text: asked once, in one cluster, and fresh where it is not public."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.cladder_help import sample_questions, task
from support.thinned import few

from harness.errors import ConfigError
from harness.tasks.cladder.items import joined_clusters, public_texts, text_digest
from harness.types import Item

FEW = settings(max_examples=6, phases=[Phase.generate])


@FEW
@given(
    st.integers(-10, 10**6),
    st.sampled_from(["none", "nonsense", "letters"]),
    st.sampled_from([None, ["backadj", "det-counterfactual"], ["collider_bias", "ate"]]),
    st.sampled_from([["commonsense", "nonsense"], ["easy"], ["anticommonsense"]]),
)
def test_no_text_of_a_run_comes_twice_and_none_is_public(seed, perturbation, queries, variants):
    settings = {"seed": seed, "queries": queries, "variants": variants, "limit": 40}
    items = list(task(**settings | {"limit": 300 if queries else 2000}, perturbation=perturbation).items())
    assert len({item.fields["text"] for item in items}) == len(items)
    assert not {text_digest(str(item.fields["text"])) for item in items} & public_texts()
    plain = {item.id: item for item in task(**settings).items()}
    assert not {text_digest(str(item.fields["text"])) for item in plain.values()} & public_texts()


@pytest.mark.slow
def test_of_kinds_without_numbers_there_are_only_so_many():
    anti = {"queries": ["backadj"], "variants": ["anticommonsense"]}
    items = list(task(**anti).items())
    assert len(items) > 50 and len({item.fields["text"] for item in items}) == len(items)
    with pytest.raises(ConfigError, match=f"there are {len(items)} such questions and no more"):
        list(task(**anti, limit=5000).items())
    with pytest.raises(ConfigError, match=r"no item is left: .* are public"):
        list(task(queries=["backadj"], variants=["easy"]).items())
    assert len(list(task(queries=["backadj"], limit=100).items())) == 100
    (remark,) = task().remarks
    assert "back-door adjustment set, deterministic counterfactual" in remark and not task(queries=["ate"]).remarks


def test_every_text_of_the_authors_sample_is_public():
    texts = {text_digest(one.whole) for one in sample_questions()}
    assert texts < public_texts() and (len(texts), len(public_texts())) == (3866, 4709)


def test_a_text_of_the_authors_sample_stands_in_one_cluster_and_a_model_too():
    items = list(task(split="sample").items())
    clusters = defaultdict(set)
    for item in items:
        clusters[item.fields["text"]].add(item.cluster)
        clusters[item.id.rpartition("-model")[2].partition("-")[0]].add(item.cluster)
    assert all(len(names) == 1 for names in clusters.values())
    assert len({item.cluster for item in items}) == 240
    assert max(Counter(item.cluster for item in items).values()) < 100


def test_clusters_are_joined_through_others_and_keep_the_first_name():
    texts = [("a", "1"), ("b", "2"), ("b", "3"), ("a", "3"), ("c", "4")]
    items = [Item("id", {"text": text}, {}, cluster, {}) for text, cluster in texts]
    assert joined_clusters(items) == {"1": "1", "2": "1", "3": "1", "4": "4"}


@pytest.mark.parametrize("settings", few([{"limit": 4000}, {"split": "sample"}], 1))
@pytest.mark.parametrize("query", ["all", pytest.param("back-door adjustment set", marks=pytest.mark.slow)])
def test_intervals_are_as_wide_as_answers_by_the_text_vary(settings, query):
    """Of 300 answerers who are right about each text by a coin of their own: spread of their scores, errors of each."""
    items = [item for item in task(**settings).items() if query in ("all", item.groups["query"])]
    texts, clusters = (np.unique([key(item) for item in items], return_inverse=True)[1] for key in (_text, _cluster))
    draws = np.random.default_rng(1)
    scores, errors = [], []
    for _ in range(300):
        right = (draws.random(texts.max() + 1) < 0.7)[texts]
        scores.append(right.mean())
        sums = np.bincount(clusters, weights=right - right.mean())
        errors.append(np.sqrt((sums**2).sum()) / len(items))
    assert np.std(scores) / np.mean(errors) == pytest.approx(1, abs=0.15)


def _text(item):
    return item.fields["text"]


def _cluster(item):
    return item.cluster
