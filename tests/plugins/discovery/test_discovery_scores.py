"""The scores against their formulas, written out with loops, and against causal-learn's BDeu."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import lgamma, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import observations
from support.brute_force import dags

from harness.causal.dag import bits, from_edges, mask_of
from harness.causal.equivalence import members
from harness.plugins.discovery.algorithm import Observations, Score
from harness.plugins.discovery.hill_climbing import HillClimbing


def bic(data, arities, node, parents):
    rows = data.tolist()
    family = Counter((tuple(row[p] for p in parents), row[node]) for row in rows)
    above = Counter(tuple(row[p] for p in parents) for row in rows)
    likelihood = sum(n * log(n / above[config]) for (config, _), n in family.items())
    return likelihood - log(len(rows)) / 2 * (arities[node] - 1) * prod(arities[p] for p in parents)


def bdeu(data, arities, node, parents, size):
    rows = data.tolist()
    family = Counter((tuple(row[p] for p in parents), row[node]) for row in rows)
    q, total = prod(arities[p] for p in parents), 0.0
    for config in product(*(range(arities[p]) for p in parents)):
        counts = [family[config, state] for state in range(arities[node])]
        total += lgamma(size / q) - lgamma(size / q + sum(counts))
        total += sum(lgamma(size / q / len(counts) + n) - lgamma(size / q / len(counts)) for n in counts)
    return total


@st.composite
def families(draw):
    """A table with constant columns and states that do not occur, a node of it and some parents."""
    arities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    rows = draw(st.integers(1, 30))
    data = [[draw(st.integers(0, draw(st.integers(0, r - 1)))) for r in arities] for _ in range(rows)]
    node = draw(st.integers(0, len(arities) - 1))
    parents = [k for k in range(len(arities)) if k != node and draw(st.booleans())]
    return np.array(data), arities, node, parents


@settings(max_examples=150, deadline=None)
@given(families(), st.sampled_from([0.5, 1.0, 10.0]))
def test_local_scores_are_the_formulas(family, size):
    data, arities, node, parents = family
    table, above = Observations(data, arities), mask_of(parents)
    assert Score(table, "bic", size)(node, above) == pytest.approx(bic(data, arities, node, parents), abs=1e-9)
    assert Score(table, "bdeu", size)(node, above) == pytest.approx(bdeu(data, arities, node, parents, size), abs=1e-9)


def test_states_and_configurations_that_never_occur_count():
    data = np.array([[0, 0], [0, 1], [0, 0], [0, 1]])
    scores = [Score(Observations(data, arities), "bic", 10) for arities in ([1, 2], [3, 2], [3, 5])]
    assert [score(1, 0b01) for score in scores] == [4 * log(0.5) - k * log(4) / 2 for k in (1, 3, 12)]
    few, many = (Score(Observations(data, arities), "bdeu", 10)(1, 0b01) for arities in ([1, 2], [3, 2]))
    assert few != pytest.approx(many)


def test_forty_parents_do_not_overflow():
    # 4^40 configurations: modulo 2^64 the first eight variables vanish from a code, and they alone vary here.
    data = np.zeros((60, 41), dtype=np.int64)
    data[:, :3] = np.random.RandomState(0).randint(0, 4, size=(60, 3))
    data[:, 40] = data[:, 0] % 2
    arities, parents = [4] * 40 + [2], list(range(40))
    table, seen = Observations(data, arities), len({tuple(row[:40]) for row in data.tolist()})
    assert len(set(table.configurations(parents)[0].tolist())) == seen
    assert Score(table, "bic", 1)(40, mask_of(parents)) == pytest.approx(bic(data, arities, 40, parents), rel=1e-12)
    # Every configuration that occurs is pure; with a prior near 0 each costs ln ½.
    assert Score(table, "bdeu", 1)(40, mask_of(parents)) == pytest.approx(seen * log(0.5), rel=1e-6)


def test_large_tables_are_counted_as_small_ones():
    # 30 × 30 × 30 combinations are more than are held densely.
    data = np.random.RandomState(1).randint(0, 30, size=(400, 3))
    for score in ("bic", "bdeu"):
        expected = bic(data, [30] * 3, 2, [0, 1]) if score == "bic" else bdeu(data, [30] * 3, 2, [0, 1], 10)
        assert Score(Observations(data, [30] * 3), score, 10)(2, 0b11) == pytest.approx(expected, rel=1e-10)


@settings(max_examples=25, deadline=None)
@given(dags(low=3, high=5), st.integers(0, 10**6), st.sampled_from(["bic", "bdeu"]))
def test_equivalent_graphs_score_alike(dag, seed, name):
    arities = [2 + (seed >> v) % 3 for v in range(len(dag))]
    score = Score(Observations(observations(dag, arities, 200, seed), arities), name, 10)
    assert {round(score.total(member), 6) for member in members(dag)} == {round(score.total(dag), 6)}


@pytest.mark.parametrize("name", ["bic", "bdeu"])
def test_graphs_of_different_classes_do_not(name):
    data = observations(from_edges(3, [(0, 2), (1, 2)]), [2, 2, 2], 2000, 3)
    score = Score(Observations(data, [2, 2, 2]), name, 10)
    assert score.total(from_edges(3, [(0, 2), (1, 2)])) > score.total(from_edges(3, [(0, 2), (2, 1)])) + 5


def test_bdeu_is_causal_learns_but_for_its_prior_of_structures():
    library = pytest.importorskip("causallearn.score.LocalScoreFunction")
    data = observations(from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)]), [2, 3, 2, 3], 300, 5, strength=2.0)
    arities = [len(set(column)) for column in data.T.tolist()]  # the library's arities are those of the data
    score = Score(Observations(data, arities), "bdeu", 1)
    for node, parents in [(0, []), (1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (0, [3])]:
        prior = len(parents) * log(1 / 3) + (3 - len(parents)) * log(2 / 3)
        theirs = library.local_score_BDeu(data, node, parents) - prior
        assert score(node, mask_of(parents)) == pytest.approx(theirs, rel=1e-9)


def test_a_local_score_is_computed_once(monkeypatch):
    table, counts_made = Observations(np.array([[0, 1], [1, 0]]), [2, 2]), []
    count = table.configurations
    monkeypatch.setattr(table, "configurations", lambda nodes: counts_made.append(1) or count(nodes))
    score = Score(table, "bdeu", 10)
    assert score(0, 0b10) == score(0, 0b10) and len(counts_made) == 1
    score(0, 0)
    assert len(counts_made) == 2


def test_bic_has_no_equivalent_sample_size():
    def settings_of(score, size):
        return HillClimbing("hc", score=score, equivalent_sample_size=size).identity

    assert settings_of("bic", 10) == settings_of("bic", 1) and settings_of("bic", 1)["score"] == "bic"
    assert "equivalent_sample_size" not in settings_of("bic", 1)
    assert settings_of("bdeu", 10) != settings_of("bdeu", 1)


@settings(max_examples=50, deadline=None)
@given(families())
def test_configurations_tell_rows_apart(family):
    data, arities, _, parents = family
    codes, size = Observations(data, arities).configurations(bits(mask_of(parents)))
    seen = [tuple(row) for row in data[:, parents].tolist()]
    assert codes.min() >= 0 and codes.max() < size
    assert len(set(codes.tolist())) == len(set(seen)) == len(set(zip(codes.tolist(), seen, strict=True)))
