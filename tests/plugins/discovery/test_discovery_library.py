"""PC, FCI, BOSS, GES and GRaSP by way of causal-learn."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from observed import class_of, distance, observations, skeleton_of
from support.thinned import few

from harness.causal.cpdag import dag_in
from harness.causal.dag import from_edges
from harness.causal.equivalence import pattern
from harness.errors import ConfigError
from harness.plugins.discovery import causal_learn
from harness.plugins.discovery.algorithm import Observations
from harness.plugins.discovery.causal_learn import BOSS, FCI, GES, PC, GRaSP
from harness.plugins.discovery.exact import Exact
from harness.plugins.discovery.hill_climbing import HillClimbing
from harness.plugins.discovery.mmhc import MMHC
from harness.tasks.causalbench.networks import load, sample

pytest.importorskip("causallearn")

CLASSES = [PC("pc"), BOSS("boss"), GES("ges"), GRaSP("grasp")]
ALL = [*CLASSES, FCI("fci")]


def arities_of(name):
    return [len(states) for states in load(name).states]


BDEU = [BOSS("boss", score="bdeu"), GES("ges", score="bdeu"), GRaSP("grasp", score="bdeu")]


@pytest.mark.parametrize("algorithm", [*CLASSES, *BDEU])
def test_the_class_of_a_small_network_is_found(algorithm):
    graph = algorithm.learn(sample("earthquake", 50_000, seed=3), arities_of("earthquake"), seed=0)
    assert graph == class_of(load("earthquake").dag)


@pytest.mark.parametrize("algorithm", CLASSES)
def test_edges_without_a_direction_are_found_too(algorithm):
    dag = from_edges(6, [(0, 1), (1, 2), (3, 2), (2, 4), (0, 5)])
    true = class_of(dag)
    assert true.undirected == (0b100010, 0b1, 0, 0, 0, 0b1)  # 5 – 0 – 1, beside a collider with an edge below it
    assert algorithm.learn(observations(dag, [3] * 6, 20_000, 0), [3] * 6, seed=0) == true


def test_the_skeleton_of_cancer_takes_fewer_rows():
    graph = PC("pc").learn(sample("cancer", 20_000, seed=1), arities_of("cancer"), seed=0)
    assert skeleton_of(graph) == pattern(load("cancer").dag)[0]


@pytest.mark.parametrize("seed", range(30))
def test_a_blocked_path_is_the_librarys(seed):
    library = causal_learn.library("utils.GESUtils").insert_vc2_fast
    draw = random.Random(seed)
    below = {u: {v for v in range(6) if v != u and draw.random() < 0.3} for u in range(6)}
    for first, last in [(u, v) for u in range(6) for v in range(6) if u != v]:
        given = {v for v in range(6) if v not in (first, last) and draw.random() < 0.4}
        assert causal_learn.blocked(first, last, given, below) == library(first, last, given, below)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "most"), [(PC("pc"), 24), (BOSS("b"), 34), (MMHC("m"), 27)])
def test_a_larger_network_is_found_in_part(algorithm, most):
    graph = algorithm.learn(sample("alarm", 1500, seed=0), arities_of("alarm"), seed=0)
    assert distance(graph, load("alarm").dag) <= most  # pairs; the empty graph differs in 46


def test_so_does_hill_climbing():
    graph = HillClimbing("hc").learn(sample("insurance", 1500, seed=0), arities_of("insurance"), seed=0)
    assert distance(graph, load("insurance").dag) <= 45  # of the empty graph's 52


def test_the_skeleton_of_pc_depends_on_no_order():
    data, arities = sample("sachs", 300, seed=0), arities_of("sachs")
    graphs = [PC("pc").learn(data, arities, seed=seed) for seed in range(4)]
    assert len({frozenset(skeleton_of(graph)) for graph in graphs}) == 1
    assert len(set(graphs)) > 1  # directions do depend on it


def test_boss_moves_until_no_variable_moves(monkeypatch):
    module = causal_learn.library("search.PermutationBased.BOSS")
    move, improvements = module.better_mutation, []
    monkeypatch.setattr(module, "better_mutation", lambda *given: improvements.append(move(*given)) or improvements[-1])
    BOSS("boss").learn(sample("sachs", 500, seed=0), arities_of("sachs"), seed=0)
    sweeps = [improvements[k : k + 11] for k in range(0, len(improvements), 11)]
    assert len(sweeps) > 1 and all(any(sweep) for sweep in sweeps[:-1])
    assert len(sweeps[-1]) == 11 and not any(sweeps[-1])


def test_the_settings_of_pc_are_used():
    data, arities = sample("sachs", 500, seed=0), arities_of("sachs")
    usual, strict, short = (
        len(skeleton_of(PC("pc", **settings).learn(data, arities, seed=0)))
        for settings in ({}, {"alpha": 1e-6}, {"max_condition": 0})
    )
    assert strict < usual < short


def test_the_settings_of_boss_are_used():
    data, arities = sample("sachs", 500, seed=0), arities_of("sachs")
    graphs = [
        BOSS("boss", score=score, equivalent_sample_size=size).learn(data, arities, seed=0)
        for score, size in (("bic", 10), ("bdeu", 10), ("bdeu", 1000))
    ]
    assert len(set(graphs)) == 3


@pytest.mark.parametrize("algorithm", ALL)
def test_the_same_seed_gives_the_same_graph(algorithm):
    data, arities = sample("sachs", 300, seed=3), arities_of("sachs")
    random.seed(1)
    first = algorithm.learn(data, arities, seed=5)
    random.seed(2)
    state = random.getstate()
    assert algorithm.learn(data, arities, seed=5) == first
    assert random.getstate() == state


@pytest.mark.parametrize("algorithm", ALL)
def test_constant_columns_and_absent_states_work(algorithm):
    data = sample("asia", 500, seed=0)
    data[:, [0, 4]] = 1
    data[:, 5] *= 3  # states 0 and 3 of 5
    graph = algorithm.learn(data, [2, 2, 2, 2, 2, 5, 2, 2], seed=0)
    assert all(not edge & {0, 4} for edge in skeleton_of(graph)) and len(skeleton_of(graph)) > 2


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize(("n", "edges"), [(1, 0), (2, 1)])
def test_one_and_two_variables(algorithm, n, edges):
    graph = algorithm.learn(np.repeat([[0], [1]] * 50, n, axis=1), [2] * n, seed=0)
    assert not any(graph.directed) and len(skeleton_of(graph)) == edges


@pytest.mark.parametrize("algorithm", few(ALL, 2))
def test_nothing_is_printed(algorithm, capfd, recwarn):
    algorithm.learn(sample("alarm", 20, seed=0), arities_of("alarm"), seed=0)
    output = capfd.readouterr()
    assert (output.out, output.err, list(recwarn)) == ("", "", [])


def test_every_mark_is_read():
    tail, arrow = -1, 1
    marks = np.zeros((5, 5), dtype=int)
    marks[0, 1], marks[1, 0] = tail, arrow  # 0 → 1
    marks[1, 2], marks[2, 1] = tail, tail  # 1 – 2
    marks[2, 3], marks[3, 2] = arrow, arrow  # 2 ↔ 3, a conflict
    graph = causal_learn.pattern_of(marks)
    assert graph.directed == (0, 0b00001, 0, 0, 0)
    assert graph.undirected == (0, 0b00100, 0b01010, 0b00100, 0)


@pytest.mark.parametrize(
    ("algorithm", "module"),
    [(CLASSES[0], "search.ConstraintBased.PC"), (CLASSES[1], "search.PermutationBased.gst")],
)
def test_a_missing_library_names_the_extra(algorithm, module, monkeypatch):
    monkeypatch.setitem(sys.modules, f"causallearn.{module}", None)
    with pytest.raises(ConfigError, match=r"python -m pip install .*\[discovery\]"):
        algorithm.learn(np.array([[0, 1], [1, 0]]), [2, 2], seed=0)


@pytest.mark.parametrize("algorithm", ALL)
def test_so_does_the_identity(algorithm, monkeypatch):
    def none(name):
        raise causal_learn.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(causal_learn.metadata, "version", none)
    with pytest.raises(ConfigError, match=r"python -m pip install .*\[discovery\]"):
        assert algorithm.identity


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


@pytest.mark.slow
def test_the_settings_of_fci_and_grasp_are_used():
    data, arities = sample("sachs", 500, seed=0), arities_of("sachs")
    for less, more in (
        (FCI("fci", alpha=1e-6), FCI("fci")),
        (FCI("fci"), FCI("fci", max_condition=0)),
    ):
        assert len(skeleton_of(less.learn(data, arities, seed=0))) < len(skeleton_of(more.learn(data, arities, seed=0)))
    alarm, states = sample("alarm", 300, seed=0), arities_of("alarm")
    assert GRaSP("g", depth=1).learn(alarm, states, seed=0) != GRaSP("g", depth=3).learn(alarm, states, seed=0)


@pytest.mark.parametrize("network", few(["asia", "sachs"], 1))
@pytest.mark.parametrize("algorithm", [GES("ges"), GRaSP("grasp"), BOSS("boss")])
def test_no_search_outscores_the_exact_one_and_with_many_rows_some_reach_it(algorithm, network):
    data, arities = sample(network, 10_000, seed=0), arities_of(network)
    score = algorithm.score_of(Observations(data, arities))
    best = score.total(Exact("exact").learn(data, arities, seed=0).directed)
    learned = score.total(dag_in(algorithm.learn(data, arities, seed=0)))
    empty = score.total((0,) * len(arities))
    assert learned <= best + 1e-6
    assert best - learned < 0.01 * (best - empty)
