"""Our hill climbing and the PC that we call beside pgmpy's, on three networks: the same within noise."""

from __future__ import annotations

from statistics import fmean

import pytest

from harness.causal.cpdag import cpdag
from harness.causal.dag import from_edges, mask_of
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.algorithm import Observations, Score
from harness.plugins.discovery.causal_learn import PC
from harness.plugins.discovery.hill_climbing import HillClimbing
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


@pytest.mark.parametrize("network", NETWORKS)
def test_pc_is_as_far_from_the_truth_as_pgmpys(network):
    estimators = pytest.importorskip("pgmpy.estimators")
    truth, differences = cpdag(load(network).dag), []
    for seed in SEEDS:
        data, arities, table = frame(network, seed)
        graph = estimators.PC(table).estimate(
            variant="stable", ci_test="g_sq", significance_level=0.05, return_type="cpdag", show_progress=False
        )
        n = len(arities)
        directed = tuple(mask_of(int(u) for u, w in graph.directed_edges if int(w) == v) for v in range(n))
        pairs = [(int(u), int(v)) for u, v in graph.undirected_edges]
        undirected = tuple(mask_of(u if w == v else w for u, w in pairs if v in (u, w)) for v in range(n))
        theirs = Pattern(directed, undirected)
        ours = PC("pc").learn(data, arities, seed=seed)
        differences.append(pattern_shd(truth, ours) - pattern_shd(truth, theirs))
    print(network, differences)
    assert abs(fmean(differences)) <= 3
