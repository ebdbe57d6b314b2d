"""The genetic search and the annealing over orders: their parts, their limits, and how near they come to the best."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import observations
from support.brute_force import dags

from harness.causal.dag import bits, descendants, topological_order
from harness.plugins.discovery import stochastic
from harness.plugins.discovery.algorithm import Observations, Score, dependent, mutual_information
from harness.plugins.discovery.exact import Exact
from harness.plugins.discovery.mmhc import GSquare
from harness.plugins.discovery.stochastic import Ensemble, Families, Genetic, _Search
from harness.tasks.causalbench.networks import load, sample

BOTH = [Genetic("genetic"), Ensemble("ensemble")]


@settings(max_examples=25, deadline=None)
@given(dags(low=2, high=5), st.integers(0, 10**6))
def test_information_is_the_formula_and_its_test_the_g_square_of_pairs(dag, seed):
    arities = [1 + (seed >> v) % 3 for v in range(len(dag))]
    table = Observations(data := observations(dag, arities, 60, seed), arities)
    information, normalized = mutual_information(table)
    test = GSquare(table)
    for x in range(len(dag)):
        assert information[x, x] == normalized[x, x] == 0
        for y in range(x):
            pairs, xs, ys = Counter(zip(data[:, x], data[:, y], strict=True)), Counter(data[:, x]), Counter(data[:, y])
            true = sum(n / 60 * log(60 * n / (xs[a] * ys[b])) for (a, b), n in pairs.items())
            entropies = [-sum(n / 60 * log(n / 60) for n in counts.values()) for counts in (xs, ys)]
            assert information[x, y] == pytest.approx(true, abs=1e-9)
            share = 2 * true / sum(entropies) if sum(entropies) > 1e-12 else 0
            assert normalized[x, y] == normalized[y, x] == pytest.approx(share, abs=1e-9)
            assert 120 * information[x, y] == pytest.approx(test(x, y).statistic, abs=1e-7)
            assert dependent(table, information, 0.05)[x, y] <= (information[x, y] > 0)


@pytest.mark.parametrize("algorithm", BOTH, ids=lambda a: a.name)
@pytest.mark.parametrize("network", ["earthquake", pytest.param("asia", marks=pytest.mark.slow)])
def test_the_best_network_of_a_small_one_is_found(algorithm, network):
    arities, data = [len(states) for states in load(network).states], sample(network, 500, seed=2)
    total = Score(Observations(data, arities), "bic", 10).total
    graph, again = (algorithm.learn(data, arities, seed=4) for _ in range(2))
    topological_order(graph.directed)
    assert graph == again and not any(graph.undirected)
    best = total(Exact("exact").learn(data, arities, seed=0).directed)
    assert best - 1e-6 <= total(graph.directed) + (2 if algorithm.name == "genetic" else 0)
    assert total(graph.directed) <= best + 1e-6


@pytest.mark.parametrize(
    "algorithm",
    [Genetic("a", max_parents=1, patience=3), Ensemble("a", max_parents=1, restarts=1)],
    ids=["genetic", "ensemble"],
)
def test_limits_hold_and_constant_or_independent_columns_work(algorithm):
    data = sample("asia", 300, seed=0)
    data[:, 3] = 1
    graph = algorithm.learn(data, [2] * 8, seed=0).directed
    assert max(map(int.bit_count, graph)) == 1 and not graph[3] and not any(above >> 3 & 1 for above in graph)
    nothing = np.zeros((20, 3), dtype=np.int64)
    assert algorithm.learn(nothing, [2] * 3, seed=0).directed == (0, 0, 0)
    assert algorithm.learn(nothing[:, :1], [2], seed=0).directed == (0,)


def test_of_each_loop_the_edge_of_least_information_goes():
    arities, data = [len(states) for states in load("sachs").states], sample("sachs", 500, seed=0)
    table = Observations(data, arities)
    search = _Search(table, Score(table, "bic", 10), Genetic("a", max_parents=11), np.random.RandomState(0))
    draw, strength = np.random.RandomState(1), dict(zip(search._pairs, search._information, strict=True))
    for _ in range(20):
        genes = draw.randint(0, 3, len(search._pairs)).astype(np.int8)
        repaired = search._repaired(genes)
        dag = search._dag(repaired)
        topological_order(dag)
        assert set(np.unique(repaired[repaired != genes])) <= {0}
        for place in np.flatnonzero((genes > 0) & (repaired == 0)):
            x, y = search._pairs[place] if genes[place] == 1 else search._pairs[place][::-1]
            stronger = [
                sum(1 << u for u in bits(above) if strength[min(u, v), max(u, v)] >= strength[search._pairs[place]])
                for v, above in enumerate(dag)
            ]
            assert descendants(tuple(stronger))[y] >> x & 1  # the other edges of its loop share more


def test_an_orders_network_is_the_best_of_the_listed_and_restarts_keep_what_most_agree_on():
    table = Observations(sample("asia", 500, seed=0), [2] * 8)
    score = Score(table, "bic", 10)
    families = Families(table, score, Ensemble("a", candidates=7, max_parents=7))
    order = [3, 1, 0, 2, 7, 5, 4, 6]
    network = families.network(order)
    assert families.total(order) == pytest.approx(score.total(network))
    for place, v in enumerate(order):
        earlier = sum(1 << u for u in order[:place])
        assert score(v, network[v]) == max(score(v, chosen) for chosen in range(256) if not chosen & ~earlier)
    draw, before = np.random.RandomState(0), [0, 1, 2, 3]
    agreed, other = (0, 0b1, 0, 0b100), (0, 0, 0b1000, 0)
    orders = [stochastic._perturbed(before, [agreed, agreed, other], draw) for _ in range(30)]
    assert all(now.index(0) < now.index(1) and now.index(2) < now.index(3) for now in orders)
    assert len(set(map(tuple, orders))) > 3
