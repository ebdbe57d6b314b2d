"""The universe beyond the paper: n = 7 complete, made when asked for."""

from __future__ import annotations

from collections import Counter

import pytest
from support import brute_force
from support.corr2cause_help import corr2cause, meaning

from harness.causal.dag import from_integer
from harness.causal.equivalence import members, representatives
from harness.causal.relations import Relation
from harness.causal.separation import independences
from harness.errors import ConfigError
from harness.tasks.corr2cause import claim
from harness.tasks.corr2cause.claim import Claim, claim_at, claims, count
from harness.tasks.corr2cause.enumerate import premises, universe
from harness.tasks.corr2cause.text import follows, read_hypothesis, read_premise

SEVEN = 76_907


@pytest.mark.parametrize(("n", "number"), [(2, 1), (5, 442), (6, 27516), (7, 1_000_000), (9, 2**35 + 7)])
@pytest.mark.parametrize("seed", [0, 4])
def test_a_claim_is_found_by_its_place(n, number, seed):
    whole = claims(n, number, seed=seed)
    assert len(whole) == 3 * n * (n - 1)
    assert [claim_at(n, number, place, seed=seed) for place in range(len(whole))] == whole


@pytest.mark.parametrize("n", [3, 5])
def test_claims_are_counted_without_being_made(n):
    made = Counter(c.relation for number in representatives(n) for c in claims(n, number, seed=1))
    assert count(n, representatives(n), seed=1) == made


@pytest.mark.slow
def test_seven_variables_are_complete():
    made = universe([7], split="all", seed=0)
    assert len(made) == 9_690_282 == SEVEN * 126
    assert sum(made.blocks[0].sizes.values()) == 9_690_282
    assert made.blocks[0].numbers == representatives(7)


@pytest.mark.slow
def test_seven_variables_are_split_by_a_fixed_lot():
    train, dev = premises(7, "train"), premises(7, "dev")
    assert sorted([*train, *dev]) == premises(7, "all")
    assert 0.09 < len(dev) / SEVEN < 0.11
    assert dev[:3] == [3, 63, 69]  # a change would mix up everybody's train and dev numbers


@pytest.mark.slow
def test_a_limit_over_seven_variables_makes_few_claims(monkeypatch):
    made = []
    monkeypatch.setattr(claim, "Claim", lambda *values: made.append(values) or Claim(*values))
    items = list(corr2cause(split="all", num_nodes=7, limit=60).items())
    assert len(items) == 60
    assert len(made) < 2000
    assert Counter(item.fields["relation"] for item in items).keys() == set(map(str, Relation))


def test_large_items_have_the_text_and_the_labels_of_their_class():
    items = list(corr2cause(split="all", num_nodes=7, limit=48).items())
    assert len(items) == 48
    for item in items:
        dag = from_integer(7, int(item.cluster.partition("-g")[2]))
        relation, i, j = (item.fields[name] for name in ("relation", "var_i", "var_j"))
        holds = brute_force.common_relations(members(dag))[Relation(relation)]
        assert dict(item.labels) == {"audited": holds[ord(i) - 65] >> ord(j) - 65 & 1}
        read = read_premise(item.fields["premise"])
        assert read.independences == frozenset(independences(dag))
        assert follows(read, read_hypothesis(item.fields["hypothesis"], read.names)) == item.labels["audited"]


@pytest.mark.parametrize("settings", [{"num_nodes": [4, 5]}, {"split": "dev"}])
def test_whole_premises_are_asked_everything_and_limit_counts_them(settings):
    settings = {"split": "all", "whole": True, **settings}
    items = list(corr2cause(limit=3, **settings).items())
    clusters = Counter(item.cluster for item in items)
    assert len(clusters) == 3
    for name, number in clusters.items():
        n = int(name.split("-")[0][1:])
        said = {meaning(*(item.fields[key] for key in ("relation", "var_i", "var_j")))
                for item in items if item.cluster == name}  # fmt: skip
        assert len(said) == number == 3 * n * (n - 1)
    assert set(clusters) <= {item.cluster for item in corr2cause(limit=6, **settings).items()}
    every = {**settings, "num_nodes": [4]}
    assert list(corr2cause(**every).items()) == list(corr2cause(**{**every, "whole": False}).items())


def test_whole_premises_are_not_in_a_public_test_set():
    for more in ({}, {"split": "test"}, {"source": "file", "path": "x.csv"}):
        with pytest.raises(ConfigError, match="split=all, train or dev"):
            corr2cause(whole=True, **more)
