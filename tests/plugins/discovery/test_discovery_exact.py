"""Exact search against all graphs there are, the formulas of single families, and the searches it is the ceiling of."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import observations
from support.brute_force import dags, every_dag
from support.thinned import few

from harness.causal.dag import mask_of, topological_order
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.plugins.discovery import causal_learn, exact
from harness.plugins.discovery.algorithm import Observations, Score
from harness.plugins.discovery.exact import Exact, SubsetScores, best_network, spread
from harness.plugins.discovery.hill_climbing import HillClimbing
from harness.runtime.under_way import STEPS
from harness.tasks.causalbench.networks import load, sample

every = cache(lambda n: list(every_dag(n)))
SCORES = st.sampled_from(["bic", "bdeu"])


@st.composite
def tables(draw, low=1, high=5):
    """Data of a random network; some columns are constant, some states never occur."""
    dag, seed = draw(dags(low=low, high=high)), draw(st.integers(0, 10**6))
    arities = [draw(st.integers(1, 3)) for _ in dag]
    data = observations(dag, arities, draw(st.sampled_from([1, 7, 60, 400])), seed)
    return Observations(data, [arity + draw(st.integers(0, 1)) for arity in arities])


@settings(max_examples=40, deadline=None)
@given(tables(high=4), SCORES, st.sampled_from([0.3, 1.0, 10.0]))
def test_no_graph_of_up_to_four_nodes_scores_more(table, name, size):
    score, graph = Score(table, name, size), best_network(table, name, size)
    topological_order(graph)
    assert score.total(graph) == pytest.approx(max(map(score.total, every(table.variables))), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(tables(low=5, high=5), SCORES)
def test_nor_does_one_of_five_nodes_in_any_order(table, name):
    score = Score(table, name, 10)

    def best_after(v, earlier):
        sets = (mask_of(u for k, u in enumerate(earlier) if chosen >> k & 1) for chosen in range(1 << len(earlier)))
        return max(score(v, parents) for parents in sets)

    best = max(sum(best_after(v, order[:k]) for k, v in enumerate(order)) for order in permutations(range(5)))
    assert score.total(best_network(table, name, 10)) == pytest.approx(best, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(tables(high=6), SCORES, st.sampled_from([0.3, 10.0]))
def test_families_have_their_scores_and_those_left_out_are_no_better_than_none(table, name, size):
    score, families = Score(table, name, size), SubsetScores(table, name, size)
    for v in range(table.variables):
        for number, value in enumerate(families.local(v)):
            true = score(v, spread(number, v))
            assert value == pytest.approx(true, abs=1e-6) or (value == -np.inf and true <= score(v, 0) + 1e-6)


def test_families_are_left_out():
    families = SubsetScores(Observations(sample("sachs", 500, seed=0), [3] * 11), "bic", 10)
    assert np.mean([families.local(v) == -np.inf for v in range(11)]) > 0.7


@pytest.mark.parametrize("score", few(["bic", "bdeu"], 1))
@pytest.mark.parametrize("network", ["asia", "survey", "sachs"])
def test_no_search_scores_more(network, score, monkeypatch):
    pytest.importorskip("causallearn")
    arities, data = [len(states) for states in load(network).states], sample(network, 500, seed=1)
    total = Score(Observations(data, arities), score, 10).total
    best = Exact("exact", score=score).learn(data, arities, seed=0).directed
    found = [HillClimbing("hc", score=score, restarts=3).learn(data, arities, seed=k).directed for k in range(3)]
    assert all(total(best) >= total(graph) - 1e-6 for graph in found)
    monkeypatch.setattr(causal_learn, "cpdag", Pattern.of)
    ordered = causal_learn.BOSS("boss", score=score).learn(data, arities, seed=0).directed
    assert total(best) >= total(ordered) - 1e-6
    others = [Exact("exact", score=score).learn(data, arities, seed=seed).directed for seed in (1, 2)]
    assert all(total(graph) == pytest.approx(total(best), abs=1e-6) for graph in others)


def test_a_tie_goes_to_fewer_parents_and_to_an_order_drawn_from_the_seed():
    data = np.random.RandomState(0).randint(0, 2, size=(300, 1)).repeat(3, axis=1)  # three equal columns
    graphs = {Exact("exact").learn(data, [2] * 3, seed=seed).directed for seed in range(12)}
    assert len(graphs) > 3 and all(max(map(int.bit_count, graph)) == 1 for graph in graphs)


def test_too_many_variables_are_refused_and_progress_is_told(monkeypatch):
    with pytest.raises(ConfigError, match="at most 20 variables, and the data have 21: use a search"):
        Exact("exact").learn(np.zeros((5, 21), dtype=np.int64), [2] * 21, seed=0)
    told = []
    monkeypatch.setattr(STEPS, "listener", lambda: told.append(STEPS.sentence))
    draw = np.random.RandomState(0)
    exact.best_network(Observations(draw.randint(0, 2, size=(40, 13)), [2] * 13), "bdeu", 10)
    assert told and told[-1].endswith("of 8,192 sets of variables scored") and not STEPS.sentence
