from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import class_of, noisy_copies, observations, skeleton_of
from support.brute_force import dag_of, dags, graph_of

from harness.causal.dag import from_edges, topological_order
from harness.causal.equivalence import pattern
from harness.plugins.discovery.algorithm import Observations, Score
from harness.plugins.discovery.hill_climbing import HillClimbing, Search, climb, perturb
from harness.tasks.causalbench.networks import load, sample

ASIA = load("asia")
TWO = [2] * len(ASIA.variables)


def changes(dag):
    """Every DAG that one added, deleted or reversed edge makes of this one, by (kind, u, v)."""
    neighbours, n = {}, len(dag)
    for u in range(n):
        for v in range(n):
            graph = graph_of(dag)
            if u == v:
                continue
            if not graph.has_edge(u, v):
                graph.add_edge(u, v)
                neighbours[0, u, v] = graph
                continue
            graph.remove_edge(u, v)
            neighbours[1, u, v] = graph.copy()
            graph.add_edge(v, u)
            neighbours[2, u, v] = graph
    return {key: dag_of(graph) for key, graph in neighbours.items() if nx.is_directed_acyclic_graph(graph)}


def score_of(dag, seed, name="bic", rows=300):
    arities = [2 + (seed >> v) % 2 for v in range(len(dag))]
    return Score(Observations(observations(dag, arities, rows, seed), arities), name, 10)


@settings(max_examples=30, deadline=None)
@given(dags(low=1, high=6), st.integers(0, 10**6), st.sampled_from(["bic", "bdeu"]))
def test_gains_are_differences_of_scores_after_any_changes(dag, seed, name):
    score, draw = score_of(dag, seed, name), np.random.RandomState(seed)
    search = Search(score, (0,) * len(dag), None, None)
    for _ in range(8):
        gains, here = search.gains(), search.dag
        legal = {tuple(map(int, at)): gains[tuple(at)] for at in np.argwhere(gains > -np.inf)}
        expected = {key: score.total(there) - score.total(here) for key, there in changes(here).items()}
        assert legal.keys() == expected.keys()
        assert all(abs(legal[key] - expected[key]) < 1e-8 for key in legal)
        if not legal:
            break
        flat = np.flatnonzero(gains > -np.inf)
        change = int(flat[draw.randint(flat.size)])
        search.make(change)
        assert search.dag == changes(here)[tuple(map(int, np.unravel_index(change, gains.shape)))]


@settings(max_examples=30, deadline=None)
@given(dags(low=2, high=6), st.integers(0, 10**6), st.sampled_from(["bic", "bdeu"]))
def test_no_change_of_the_result_improves_it(dag, seed, name):
    score = score_of(dag, seed, name)
    graph = climb(score, (0,) * len(dag))
    topological_order(graph)
    assert all(score.total(there) <= score.total(graph) + 1e-6 for there in changes(graph).values())


def test_the_climb_begins_with_the_best_edge():
    dag = from_edges(4, [(0, 1), (2, 3)])
    score = score_of(dag, 12)
    best = max(changes((0,) * 4).values(), key=score.total)
    graph = climb(score, (0,) * 4, max_parents=1)
    assert next(iter(pattern(best)[0])) in pattern(graph)[0]


@pytest.mark.parametrize(("score", "name"), [("bic", "survey"), ("bdeu", "survey"), ("bic", "earthquake")])
def test_a_small_network_is_recovered_up_to_equivalence(score, name):
    network = load(name)
    arities = [len(states) for states in network.states]
    graph = HillClimbing("hc", score=score).learn(sample(name, 20_000, seed=1), arities, seed=0)
    assert not any(graph.undirected)
    assert pattern(graph.directed) == pattern(network.dag)


def test_independent_columns_stay_apart():
    data = np.random.RandomState(0).randint(0, 3, size=(2000, 6))
    assert not any(HillClimbing("hc").learn(data, [3] * 6, seed=0).adjacency())


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_constant_columns_get_no_edges(score):
    data = sample("asia", 500, seed=0)
    data[:, [0, 4]] = 1
    graph = HillClimbing("hc", score=score, max_parents=2).learn(data, TWO, seed=0)
    if score == "bic":
        assert all(not edge & {0, 4} for edge in skeleton_of(graph))
    assert len(skeleton_of(graph)) > 3


def test_max_parents_limits_every_node():
    data = sample("asia", 3000, seed=0)
    free, limited = (HillClimbing("hc", max_parents=k).learn(data, TWO, seed=0).directed for k in (None, 1))
    assert max(above.bit_count() for above in free) > 1
    assert max(above.bit_count() for above in limited) == 1


def test_candidates_limit_who_may_be_a_parent():
    score = Score(Observations(sample("asia", 3000, seed=0), TWO), "bic", 10)
    free = climb(score, (0,) * 8)
    allowed = [above & above - 1 for above in free]  # one parent of each node less
    graph = climb(score, (0,) * 8, candidates=allowed)
    assert any(graph) and all(not above & ~may for above, may in zip(graph, allowed, strict=True))
    assert any(above & ~may for above, may in zip(free, allowed, strict=True))


def test_restarts_find_better_graphs():
    data, table = sample("insurance", 500, seed=0), [len(states) for states in load("insurance").states]
    score = Score(Observations(data, table), "bic", 10)
    once, often = (score.total(HillClimbing("hc", restarts=k).learn(data, table, seed=0).directed) for k in (0, 8))
    assert often > once + 1


@settings(max_examples=20, deadline=None)
@given(dags(low=2, high=6), st.integers(0, 10**6))
def test_perturbed_graphs_are_other_dags_within_the_limits(dag, seed):
    n = len(dag)
    candidates = [2**n - 1 ^ 1 for _ in range(n)]  # node 0 is nobody's parent
    graph = perturb(score_of(dag, seed), (0,) * n, 7, seed, candidates=candidates, max_parents=2)
    topological_order(graph)
    assert all(above.bit_count() <= 2 and not above & 1 for above in graph)
    assert perturb(score_of(dag, seed), dag, 1, seed) in changes(dag).values()


def test_a_tie_is_no_matter_of_the_order_of_the_columns():
    # 0 → 1 and 1 → 0 score alike.
    data = noisy_copies(500, 1, columns=2)
    graphs = [HillClimbing("hc").learn(data, [2, 2], seed=seed).directed for seed in range(40)]
    assert set(graphs) == {(0, 1), (2, 0)}
    assert 8 < sum(directed == (0, 1) for directed in graphs) < 32


def test_what_rounding_alone_tells_apart_is_a_tie():
    scores = {(0, 0): 0.0, (1, 0): 0.0, (0, 0b10): 1 + 1e-12, (1, 0b01): 1.0}
    assert climb(lambda node, parents: scores[node, parents], (0, 0)) == (0, 0b01)
    scores |= {(0, 0b10): 1e-12, (1, 0b01): 1e-12}
    assert climb(lambda node, parents: scores[node, parents], (0, 0)) == (0, 0)


def test_the_same_seed_gives_the_same_graph():
    data, arities = sample("alarm", 500, seed=3), [len(states) for states in load("alarm").states]
    graphs = [HillClimbing("hc", restarts=1).learn(data, arities, seed=seed) for seed in (5, 5, 6)]
    assert graphs[0] == graphs[1] != graphs[2]


def test_the_result_is_a_member_of_the_class():
    dag = from_edges(4, [(0, 2), (1, 2), (2, 3)])
    graph = HillClimbing("hc").learn(observations(dag, [2] * 4, 10_000, 4), [2] * 4, seed=1)
    assert class_of(graph.directed) == class_of(dag)


def test_one_variable_has_no_edges():
    assert HillClimbing("hc").learn(np.array([[0], [1]]), [2], seed=0).directed == (0,)
