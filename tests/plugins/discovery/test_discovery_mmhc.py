from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import noisy_copies, observations, skeleton_of
from support.brute_force import dags

from harness.causal.dag import bits
from harness.causal.equivalence import pattern
from harness.plugins.discovery.algorithm import Observations
from harness.plugins.discovery.mmhc import MMHC, MMPC, GSquare, Independence, skeleton
from harness.tasks.causalbench.networks import load, sample


class Spy(GSquare):
    """Keeps what it was asked: (x, the set given)."""

    def __init__(self, data, arities):
        super().__init__(Observations(data, arities))
        self.tests = []

    def __call__(self, x, y, given=0):
        self.tests.append((x, given))
        return super().__call__(x, y, given)


def pairs(sets):
    return {frozenset((u, v)) for v, members in enumerate(sets) for u in bits(members)}


@settings(max_examples=30, deadline=None)
@given(dags(low=2, high=7), st.integers(0, 10**6))
def test_the_skeleton_is_what_both_ends_found(dag, seed):
    n = len(dag)
    table = Observations(observations(dag, [2] * n, 300, seed), [2] * n)
    graph = skeleton(table, 0.05, 3, 5)
    finder = MMPC(GSquare(table), 0.05, 3, 5)
    alone = [finder.around(v, n) for v in range(n)]
    for u, v in combinations(range(n), 2):
        assert graph[u] >> v & 1 == graph[v] >> u & 1 == (alone[u] >> v & 1) & (alone[v] >> u & 1)


def test_the_correction_takes_edges_away():
    arities = [len(states) for states in load("alarm").states]
    table = Observations(sample("alarm", 500, seed=0), arities)
    finder = MMPC(GSquare(table), 0.05, 3, 5)
    alone = pairs(finder.around(v, table.variables) for v in range(table.variables))
    assert pairs(skeleton(table, 0.05, 3, 5)) < alone


@settings(max_examples=30, deadline=None)
@given(dags(low=2, high=6), st.integers(0, 10**6))
def test_what_was_found_no_subset_of_it_makes_independent(dag, seed):
    n = len(dag)
    test = GSquare(Observations(observations(dag, [2] * n, 300, seed), [2] * n))
    selection = list(bits(MMPC(test, 0.05, n, 0).around(0, n)))
    for x in selection:
        others = [y for y in selection if y != x]
        for size in range(len(others) + 1):
            for condition in combinations(others, size):
                assert test(0, x, sum(2**y for y in condition)).p <= 0.05
    for x in set(range(1, n)) - set(selection):  # and what was not, some set does
        ps = [test(0, x, z).p for z in range(0, 2**n, 2) if not z >> x & 1]
        assert max(ps) > 0.05


def test_conditioning_removes_what_is_not_direct():
    table = Observations(noisy_copies(5000, 4), [2] * 3)
    assert pairs(skeleton(table, 0.05, 0, 5)) == {frozenset(p) for p in [(0, 1), (1, 2), (0, 2)]}
    assert pairs(skeleton(table, 0.05, 1, 5)) == {frozenset(p) for p in [(0, 1), (1, 2)]}


def test_a_sparse_table_is_not_tested():
    table = Observations(noisy_copies(5000, 4), [2] * 3)
    # 5000 rows: 1250 a cell for two variables, 625 for three.
    assert pairs(skeleton(table, 0.05, 1, 1000)) == pairs(skeleton(table, 0.05, 0, 5))
    assert not any(skeleton(table, 0.05, 1, 1251))


def test_a_stricter_level_finds_less():
    arities = [len(states) for states in load("insurance").states]
    table = Observations(sample("insurance", 500, seed=0), arities)
    assert pairs(skeleton(table, 1e-6, 3, 5)) < pairs(skeleton(table, 0.05, 3, 5))


@pytest.mark.parametrize("name", ["cancer", "survey", "earthquake"])
def test_a_small_network_is_recovered_up_to_equivalence(name):
    network = load(name)
    arities = [len(states) for states in network.states]
    graph = MMHC("mmhc").learn(sample(name, 20_000, seed=1), arities, seed=0)
    assert not any(graph.undirected)
    assert pattern(graph.directed) == pattern(network.dag)


def test_the_climb_stays_inside_the_skeleton():
    arities = [len(states) for states in load("insurance").states]
    data = sample("insurance", 500, seed=1)
    free, fewer = (MMHC("mmhc", rows_per_cell=k).learn(data, arities, seed=2) for k in (5, 40))
    edges = pairs(skeleton(Observations(data, arities), 0.05, 3, 40))
    assert skeleton_of(fewer) <= edges
    assert not skeleton_of(free) <= edges


def test_the_score_and_the_limit_of_parents_are_used():
    arities = [len(states) for states in load("insurance").states]
    data = sample("insurance", 500, seed=0)
    bdeu, bic, limited = (
        MMHC("m", **options).learn(data, arities, seed=0) for options in ({}, {"score": "bic"}, {"max_parents": 1})
    )
    assert len(skeleton_of(bic)) < len(skeleton_of(bdeu))
    assert max(above.bit_count() for above in limited.directed) == 1 < max(above.bit_count() for above in bdeu.directed)


def test_constant_columns_get_no_edges():
    data = sample("asia", 500, seed=0)
    data[:, [0, 4]] = 1
    graph = MMHC("mmhc").learn(data, [2] * 8, seed=0)
    assert all(not edge & {0, 4} for edge in skeleton_of(graph)) and len(skeleton_of(graph)) > 2


def test_the_same_seed_gives_the_same_graph():
    data, arities = sample("insurance", 500, seed=3), [len(states) for states in load("insurance").states]
    graphs = [MMHC("mmhc").learn(data, arities, seed=seed) for seed in (5, 5, 6)]
    assert graphs[0] == graphs[1] != graphs[2]


def test_p_values_too_small_for_a_float_are_told_apart_by_the_statistic():
    # 1 is a copy of 0 but for few rows, 2 one but for more: both tests have p = 0.
    draw = np.random.RandomState(0)
    data = np.repeat(draw.randint(0, 2, size=(20_000, 1)), 3, axis=1)
    data[:200, 1] ^= 1
    data[200:4000, 2] ^= 1
    for order in ([0, 1, 2], [0, 2, 1]):
        test = Spy(data[:, order], [2] * 3)
        assert test(1, 0).p == test(2, 0).p == 0
        MMPC(test, 0.05, 1, 5).around(0, 3)
        # The stronger one is taken first: the next test asks whether the other one is independent given it.
        first = next((x, given) for x, given in test.tests if given)
        assert first == ((2, 0b010) if order == [0, 1, 2] else (1, 0b100))


def test_the_weakest_association_counts_not_the_last():
    ps = {(1, 0): 1e-9, (2, 0): 1e-2, (3, 0): 1e-3, (2, 0b010): 1e-8, (3, 0b010): 1e-4}

    class ScriptedSpy(Spy):
        def __call__(self, x, y, given=0):
            self.tests.append((x, given))
            return Independence(1.0, 1, ps.get((x, given), 1e-5))

    test = ScriptedSpy(np.zeros((1000, 4), dtype=np.int64), [2] * 4)
    MMPC(test, 0.05, 1, 5).around(0, 4)
    # After 1 comes 3, whose weakest p is 0.001, not 2, whose weakest is 0.01.
    assert next((x, given) for x, given in test.tests if given & 0b1100) == (2, 0b1000)


def test_what_is_out_is_not_conditioned_on():
    test = Spy(noisy_copies(5000, 4), [2] * 3)
    assert MMPC(test, 0.05, 2, 5).around(0, 3) == 0b010
    assert (2, 0b010) in test.tests and (1, 0b100) not in test.tests


def test_what_came_in_too_early_goes_again():
    # 2 and 3 make 0; 1, which is both of them in one, has the strongest association and comes first.
    draw = np.random.RandomState(0)
    causes = draw.randint(0, 2, size=(5000, 2))
    both = causes @ [2, 1]
    columns = [np.where(draw.random_sample(5000) < share, both, draw.randint(0, 4, size=5000)) for share in (0.7, 0.9)]
    test = Spy(np.column_stack([*columns, causes]), [4, 4, 2, 2])
    assert MMPC(test, 0.01, 2, 5).around(0, 4) == 0b1100
    assert (2, 0b0010) in test.tests
