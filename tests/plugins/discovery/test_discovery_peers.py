"""Our hill climbing and MMHC, the PC and GES that we call, beside pgmpy's and bnlearn's, on three networks.

bnlearn is R's; the package bnlearn-port (module pybnlearn) has its C code under Python. Neither it nor pgmpy is among
the dependencies: in an environment that has one of them these tests do not skip.
"""

from __future__ import annotations

from statistics import fmean

import pytest
from observed import skeleton_of

from harness.causal.cpdag import cpdag, dag_in
from harness.causal.dag import from_edges, mask_of
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.algorithm import Observations, Score, column_order
from harness.plugins.discovery.causal_learn import GES, PC
from harness.plugins.discovery.hill_climbing import HillClimbing
from harness.plugins.discovery.mmhc import MMHC
from harness.scoring.patterns import pattern_shd
from harness.tasks.causalbench.networks import load, sample

pytestmark = pytest.mark.slow
NETWORKS = ("asia", "sachs", "child")
SEEDS = range(5)


def frame(network, seed):
    import pandas

    data = sample(network, 1_000, seed=seed)
    arities = [len(states) for states in load(network).states]
    return data, arities, pandas.DataFrame({str(k): data[:, k] for k in range(len(arities))}).astype("category")


@pytest.mark.parametrize("network", NETWORKS)
def test_hill_climbing_scores_as_pgmpys_does(network):
    estimators = pytest.importorskip("pgmpy.estimators")
    gaps = []
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        names = {str(k): list(range(arity)) for k, arity in enumerate(arities)}
        search = estimators.HillClimbSearch(table, state_names=names)
        edges = search.estimate(scoring_method="bic-d", show_progress=False, epsilon=1e-6).edges()
        theirs = from_edges(len(arities), [(int(u), int(v)) for u, v in edges])
        score = Score(Observations(data, arities), "bic", 10)
        ours = HillClimbing("hc").learn(data, arities, seed=seed).directed
        gaps.append(score.total(ours) - score.total(theirs))
        empty = score.total((0,) * len(arities))
        assert abs(gaps[-1]) < 0.05 * (score.total(theirs) - empty)
    assert abs(fmean(gaps)) < 25


def pattern_of(arcs, edges, n):
    """Return a pattern from another program's directed and undirected edges, whose nodes are named by their numbers."""
    arcs, edges = ([(int(u), int(v)) for u, v in pairs] for pairs in (arcs, edges))
    directed = tuple(mask_of(u for u, w in arcs if w == v) for v in range(n))
    return Pattern(directed, tuple(mask_of({u + w - v for u, w in edges if v in (u, w)}) for v in range(n)))


@pytest.mark.parametrize("network", NETWORKS)
def test_pc_is_as_far_from_the_truth_as_pgmpys(network):
    estimators = pytest.importorskip("pgmpy.estimators")
    truth, differences = cpdag(load(network).dag), []
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        graph = estimators.PC(table).estimate(
            variant="stable", ci_test="g_sq", significance_level=0.05, return_type="cpdag", show_progress=False
        )
        theirs = pattern_of(graph.directed_edges, graph.undirected_edges, len(arities))
        ours = PC("pc").learn(data, arities, seed=seed)
        differences.append(pattern_shd(truth, ours) - pattern_shd(truth, theirs))
    print(network, differences)
    assert abs(fmean(differences)) <= 3


@pytest.mark.parametrize("network", NETWORKS)
def test_ges_finds_classes_that_score_as_pgmpys_do(network):
    estimators = pytest.importorskip("pgmpy.estimators")
    gaps = []
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        names = {str(k): list(range(arity)) for k, arity in enumerate(arities)}
        graph = estimators.GES(table, state_names=names).estimate(scoring_method="bic-d")
        theirs = dag_in(pattern_of(graph.directed_edges, graph.undirected_edges, len(arities)))
        score = Score(Observations(data, arities), "bic", 10)
        ours = dag_in(GES("ges").learn(data, arities, seed=seed))
        gaps.append(score.total(ours) - score.total(theirs))
    print(network, gaps)
    assert abs(fmean(gaps)) < 25


def factors(table, arities, seed):
    """Return the table with all states of its columns, in the order in which our algorithms see them.

    In the file's order, which lists causes first, bnlearn's hill climbing scores 151 more than in this one on child.
    """
    from pandas import CategoricalDtype

    shuffled = table[[str(k) for k in column_order(len(arities), seed)]].astype(str)
    states = {name: [str(state) for state in range(arities[int(name)])] for name in shuffled}
    return shuffled.astype({name: CategoricalDtype(of) for name, of in states.items()})


@pytest.mark.parametrize("network", NETWORKS)
def test_hill_climbing_finds_what_bnlearns_does(network):
    bnlearn = pytest.importorskip("pybnlearn", reason="bnlearn-port is not installed")
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        arcs = bnlearn.directed_arcs(bnlearn.hc(factors(table, arities, seed), score="bic"))
        theirs = from_edges(len(arities), [(int(u), int(v)) for u, v in arcs])
        score = Score(Observations(data, arities), "bic", 10)
        ours = HillClimbing("hc").learn(data, arities, seed=seed).directed
        assert score.total(ours) == pytest.approx(score.total(theirs), abs=1e-6)


@pytest.mark.parametrize("network", NETWORKS)
def test_bic_is_bnlearns(network):
    bnlearn = pytest.importorskip("pybnlearn", reason="bnlearn-port is not installed")
    data, arities, table = frame(network, 0)
    rows = factors(table, arities, 0)
    net = bnlearn.hc(rows, score="bic")
    dag = from_edges(len(arities), [(int(u), int(v)) for u, v in bnlearn.directed_arcs(net)])
    ours = Score(Observations(data, arities), "bic", 10).total(dag)
    assert ours == pytest.approx(bnlearn.score(net, rows, type="bic"), abs=1e-6)


@pytest.mark.parametrize("test", ["mi", "mi-adf"])
@pytest.mark.parametrize("network", NETWORKS)
def test_pc_with_bnlearns_test_finds_bnlearns_skeleton(network, test, monkeypatch):
    """The search is the same: only degrees of freedom, and how sparse a table is tested at all, tell them apart.

    bnlearn's test="mi" counts rows and columns that are empty, ours does not; "mi-adf" does not either, but takes
    variables for independent where a cell has less than five observations on average.
    """
    bnlearn = pytest.importorskip("pybnlearn", reason="bnlearn-port is not installed")
    differences = []
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        rows, order = factors(table, arities, seed), column_order(len(arities), seed)

        def theirs(_, x, y, given=None, *, rows=rows, order=order):
            given = [str(order[v]) for v in given or ()]
            return bnlearn.ci_test(rows, str(order[x]), str(order[y]), given or None, test=test)["p.value"]

        monkeypatch.setattr("causallearn.utils.cit.Chisq_or_Gsq.__call__", theirs)
        graph = bnlearn.pc_stable(rows, test=test, alpha=0.05)
        learned = pattern_of(bnlearn.directed_arcs(graph), bnlearn.undirected_arcs(graph), len(arities))
        ours = PC("pc").learn(data, arities, seed=seed)
        assert skeleton_of(ours) == skeleton_of(learned)
        truth = cpdag(load(network).dag)
        differences.append(pattern_shd(truth, ours) - pattern_shd(truth, learned))
    print(network, test, differences)
    assert abs(fmean(differences)) <= 3  # colliders: ours where no separating set has the node, theirs where the first


@pytest.mark.parametrize("network", NETWORKS)
def test_pc_as_it_is_misses_fewer_edges_than_bnlearns(network):
    """On sachs the distance is 2.3 ± 0.8 more (± Student's t), over 30 samples, seeds 0 to 29.

    Of 17 edges ours misses 0.4 there and bnlearn's 7.6, but the class directs none: ours directs 12.5 of them, which
    counts as much as not to have them, and bnlearn's 3.0.
    """
    bnlearn = pytest.importorskip("pybnlearn", reason="bnlearn-port is not installed")
    truth, differences = cpdag(load(network).dag), []
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        graph = bnlearn.pc_stable(factors(table, arities, seed), test="mi", alpha=0.05)
        theirs = pattern_of(bnlearn.directed_arcs(graph), bnlearn.undirected_arcs(graph), len(arities))
        ours = PC("pc").learn(data, arities, seed=seed)
        edges = skeleton_of(truth)
        assert len(edges - skeleton_of(ours)) <= len(edges - skeleton_of(theirs))
        differences.append(pattern_shd(truth, ours) - pattern_shd(truth, theirs))
    print(network, differences)
    assert abs(fmean(differences)) <= 3


@pytest.mark.parametrize("network", NETWORKS)
def test_mmhc_is_no_farther_from_the_truth_than_bnlearns(network):
    """On sachs it is 8.6 pairs nearer (mean of five samples), as bnlearn's test finds fewer edges there: see PC."""
    bnlearn = pytest.importorskip("pybnlearn", reason="bnlearn-port is not installed")
    truth, differences = cpdag(load(network).dag), []
    settings = {"restrict_args": {"test": "mi", "alpha": 0.05}, "maximize_args": {"score": "bde", "iss": 10}}
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        graph = bnlearn.mmhc(factors(table, arities, seed), **settings)
        theirs = from_edges(len(arities), [(int(u), int(v)) for u, v in bnlearn.directed_arcs(graph)])
        ours = MMHC("mmhc").learn(data, arities, seed=seed).directed
        differences.append(pattern_shd(truth, cpdag(ours)) - pattern_shd(truth, cpdag(theirs)))
    print(network, differences)
    assert fmean(differences) <= 3
