"""The algorithms of the libraries on data of known networks, and our scores against their formulas."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from dataclasses import fields, replace
from itertools import product
from math import lgamma, log, prod

import numpy as np
import pytest
from harness_discovery import algorithms
from harness_discovery.algorithms import BOSS, FCI, GES, MMHC, PC, Exact, GRaSP, HillClimbing, blocked
from harness_discovery.patterns import dag_in
from harness_discovery.scores import Observations, Score
from hypothesis import given, settings
from hypothesis import strategies as st
from support.brute_force import dags, every_dag
from support_discovery import class_of, edges_of, observations, skeleton_of

from harness.causal.dag import from_edges, mask_of
from harness.causal.equivalence import members, pattern_of
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.tasks.causalbench.networks import load, sample

CLASSES = [PC("pc"), BOSS("boss"), GES("ges"), GRaSP("grasp")]
DAGS = [Exact("exact"), HillClimbing("hc"), MMHC("mmhc")]
ALL = [*CLASSES, FCI("fci"), *DAGS]


def arities_of(name):
    return [len(states) for states in load(name).states]


def total(score, dag):
    return sum(score(node, parents) for node, parents in enumerate(dag))


# --- the scores ---


def bic(data, arities, node, parents):
    rows = data.tolist()
    family = Counter((tuple(row[p] for p in parents), row[node]) for row in rows)
    above = Counter(tuple(row[p] for p in parents) for row in rows)
    likelihood = sum(n * log(n / above[config]) for (config, _), n in family.items())
    return likelihood - log(len(rows)) / 2 * (arities[node] - 1) * prod(arities[p] for p in parents)


def bdeu(data, arities, node, parents, size):
    rows = data.tolist()
    family = Counter((tuple(row[p] for p in parents), row[node]) for row in rows)
    q, value = prod(arities[p] for p in parents), 0.0
    for config in product(*(range(arities[p]) for p in parents)):
        counts = [family[config, state] for state in range(arities[node])]
        value += lgamma(size / q) - lgamma(size / q + sum(counts))
        value += sum(lgamma(size / q / len(counts) + n) - lgamma(size / q / len(counts)) for n in counts)
    return value


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


def test_forty_parents_do_not_overflow():
    # 4^40 configurations: modulo 2^64 the first eight variables vanish from a code, and they alone vary here.
    data = np.zeros((60, 41), dtype=np.int64)
    data[:, :3] = np.random.RandomState(0).randint(0, 4, size=(60, 3))
    data[:, 40] = data[:, 0] % 2
    arities, parents = [4] * 40 + [2], list(range(40))
    table, seen = Observations(data, arities), len({tuple(row[:40]) for row in data.tolist()})
    assert len(set(table.configurations(parents)[0].tolist())) == seen
    assert Score(table, "bic", 1)(40, mask_of(parents)) == pytest.approx(bic(data, arities, 40, parents), rel=1e-12)


# --- the algorithms ---


@pytest.mark.parametrize("algorithm", [*CLASSES, replace(BOSS("boss"), score="bdeu"), replace(GES("g"), score="bdeu")])
def test_the_class_of_a_small_network_is_found(algorithm):
    graph = algorithm.learn(sample("earthquake", 50_000, seed=3), arities_of("earthquake"), seed=0)
    assert graph == class_of(load("earthquake").dag)
    dag = from_edges(6, [(0, 1), (1, 2), (3, 2), (2, 4), (0, 5)])
    true = class_of(dag)
    assert true.undirected == (0b100010, 0b1, 0, 0, 0, 0b1)  # 5 – 0 – 1, beside a collider with an edge below it
    assert algorithm.learn(observations(dag, [3] * 6, 20_000, 0), [3] * 6, seed=0) == true


@pytest.mark.parametrize("algorithm", DAGS)
def test_a_member_of_the_class_of_a_small_network_is_found(algorithm):
    graph = algorithm.learn(sample("survey", 20_000, seed=1), arities_of("survey"), seed=0)
    assert not any(graph.undirected)
    if algorithm.name == "mmhc":  # its tests miss an edge
        assert skeleton_of(graph) <= skeleton_of(Pattern.of(load("survey").dag)) and len(skeleton_of(graph)) >= 4
    else:
        assert pattern_of(graph.directed) == pattern_of(load("survey").dag)


def test_fci_draws_no_edge_where_a_hidden_cause_explains_one():
    """a → x ← hidden → y ← b: x and y are dependent, and neither causes the other; PC has an edge between them."""
    draw = np.random.default_rng(0)

    def noisy(values):
        return (values ^ (draw.random(20_000) < 0.1)).astype(np.int64)

    hidden, a, b = (draw.integers(0, 2, 20_000) for _ in range(3))
    data = np.stack([a, noisy(a | hidden), noisy(b | hidden), b], axis=1)
    assert frozenset((1, 2)) in skeleton_of(PC("pc").learn(data, [2] * 4, seed=0))
    graph = FCI("fci").learn(data, [2] * 4, seed=0)
    assert skeleton_of(graph) == {frozenset((0, 1)), frozenset((2, 3))}
    assert not any(graph.directed)  # a o→ x: a cause, or a common one


@pytest.mark.parametrize("algorithm", ALL, ids=lambda algorithm: algorithm.name)
def test_a_graph_is_a_function_of_data_and_seed_constant_columns_and_states_that_do_not_occur_included(algorithm):
    data = sample("asia", 300, seed=5)
    data[:, [0, 4]] = 1
    random.seed(1)
    first = algorithm.learn(data, [2] * 7 + [5], seed=5)
    random.seed(2)
    assert algorithm.learn(data, [2] * 7 + [5], seed=5) == first and skeleton_of(first)


@pytest.mark.parametrize("algorithm", DAGS, ids=lambda algorithm: algorithm.name)
def test_the_order_of_the_columns_tells_no_direction(algorithm):
    cause = np.random.RandomState(0).random_sample(2000) < 0.5
    data = np.stack([cause, cause ^ (np.random.RandomState(1).random_sample(2000) < 0.1)], axis=1).astype(np.int64)
    graphs = [algorithm.learn(data, [2, 2], seed=seed).directed for seed in range(12)]
    assert set(graphs) == {(0, 1), (2, 0)}  # 0 → 1 and 1 → 0 score alike


@settings(max_examples=10, deadline=None)
@given(dags(low=4, high=4), st.integers(0, 10**6), st.sampled_from(["bic", "bdeu"]))
def test_equivalent_graphs_score_alike_and_none_more_than_the_exact_search_finds(dag, seed, name):
    arities = [2 + (seed >> v) % 2 for v in range(4)]
    data = observations(dag, arities, 200, seed)
    score = Score(Observations(data, arities), name, 10.0)
    assert {round(total(score, member), 6) for member in members(dag)} == {round(total(score, dag), 6)}
    found = Exact("exact", score=name).learn(data, arities, seed=seed).directed
    assert total(score, found) == pytest.approx(max(total(score, other) for other in every_dag(4)), abs=1e-6)


@pytest.mark.parametrize("algorithm", [GES("ges"), GRaSP("grasp"), BOSS("boss"), HillClimbing("hc")])
def test_no_search_outscores_the_exact_one_and_with_many_rows_it_is_near(algorithm):
    data, arities = sample("asia", 10_000, seed=0), arities_of("asia")
    score = algorithm.score_of(data, arities)
    best = total(score, Exact("exact").learn(data, arities, seed=0).directed)
    learned = total(score, dag_in(algorithm.learn(data, arities, seed=0)))
    assert learned <= best + 1e-6
    assert best - learned < 0.02 * (best - total(score, (0,) * 8))


@pytest.mark.parametrize("algorithm", [HillClimbing("hc", max_parents=1), MMHC("mmhc", max_parents=1)])
def test_max_parents_limits_every_node(algorithm):
    free, limited = (
        one.learn(sample("asia", 3000, seed=0), [2] * 8, seed=0).directed
        for one in (replace(algorithm, max_parents=None), algorithm)
    )
    assert max(map(int.bit_count, limited)) == 1 < max(map(int.bit_count, free))


def test_a_blocked_path_is_the_librarys():
    from causallearn.utils.GESUtils import insert_vc2_fast

    draw = random.Random(0)
    for _ in range(50):
        below = {v: {u for u in range(7) if u != v and draw.random() < 0.25} for v in range(7)}
        first, last = draw.sample(range(7), 2)
        given = {v for v in range(7) if v not in (first, last) and draw.random() < 0.3}
        assert blocked(first, last, given, below) == insert_vc2_fast(first, last, given, below)


@pytest.mark.slow
def test_ges_finds_what_pgmpys_does():
    """Two programs of one algorithm, by one score: the same class."""
    import pandas
    from pgmpy.causal_discovery import GES as Theirs  # noqa: N811
    from pgmpy.structure_score import BaseStructureScore

    data, arities = sample("sachs", 500, seed=0), arities_of("sachs")
    score = Score(Observations(data, arities), "bic", 10.0)

    class Ours(BaseStructureScore):
        def local_score(self, node, parents):
            return score(node, mask_of(parents))

    frame = pandas.DataFrame(data)
    graph = Theirs(scoring_method=Ours(frame), return_type="pdag").fit(frame).causal_graph_
    learned = GES("ges").search(data, tuple(arities), 0)
    assert edges_of(learned.directed) == set(graph.directed_edges)
    assert {frozenset(edge) for edge in [*graph.undirected_edges, *graph.directed_edges]} == skeleton_of(learned)


# --- what a run is told by ---


CHANGES = {
    "alpha": 0.01, "max_condition": 2, "score": "bdeu", "equivalent_sample_size": 1.0, "max_parents": 3, "depth": 2,
}  # fmt: skip


@pytest.mark.parametrize("algorithm", ALL, ids=lambda algorithm: algorithm.name)
def test_every_setting_but_the_name_is_part_of_the_identity(algorithm, monkeypatch):
    monkeypatch.setattr(algorithms.metadata, "version", lambda name: f"1.2.3 of {name}")
    if hasattr(algorithm, "score"):
        algorithm = replace(algorithm, score="bdeu")
    names = {field.name for field in fields(algorithm)} - {"name"}
    changed = {name: "bic" if name == "score" else CHANGES[name] for name in names}
    others = [replace(algorithm, **{name: value}).identity for name, value in changed.items()]
    assert len({json.dumps(identity, sort_keys=True) for identity in [algorithm.identity, *others]}) == len(others) + 1
    assert replace(algorithm, name="b").identity == algorithm.identity
    assert algorithm.identity[algorithm.library] == f"1.2.3 of {algorithm.library}"


def test_without_pybnesian_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybnesian", None)
    with pytest.raises(ConfigError, match="algorithm=mmhc needs pybnesian"):
        MMHC("mmhc").learn(sample("asia", 20, seed=0), [2] * 8, seed=0)
