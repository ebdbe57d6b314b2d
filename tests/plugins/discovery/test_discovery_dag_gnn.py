"""DAG-GNN on a chain, its thresholds, its seeds, and what is said where torch is missing."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest
from observed import noisy_copies, skeleton_of

from harness.causal.dag import from_edges, topological_order
from harness.errors import ConfigError
from harness.plugins.discovery.dag_gnn import DAGGNN, acyclic
from harness.runtime.under_way import STEPS

SMALL = DAGGNN("dag_gnn", hidden=16, epochs=150, batch_size=200, learning_rate=1e-2, updates=1)


@pytest.mark.slow
def test_a_chain_is_found_the_same_for_the_same_seed_and_progress_is_told(monkeypatch):
    torch = pytest.importorskip("torch")
    told = []
    monkeypatch.setattr(STEPS, "listener", lambda: told.append(STEPS.sentence))
    data = noisy_copies(200, 1)
    torch.manual_seed(1)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    graph = SMALL.learn(data, [2, 2, 2], seed=0)
    assert torch.equal(torch.random.get_rng_state(), state) and torch.get_num_threads() == threads
    topological_order(graph.directed)
    assert skeleton_of(graph) >= {frozenset((0, 1)), frozenset((1, 2))} and not any(graph.undirected)
    assert "rounds of training" in told[-1] and not STEPS.sentence
    weights = [replace(SMALL, epochs=8, threshold=1e-3).learn(data, [2, 2, 2], seed=seed) for seed in (0, 0, 1, 2)]
    assert weights[0] == weights[1] and len(set(weights)) > 1


def test_edges_are_those_above_the_threshold_less_the_weakest_of_a_cycle():
    weights = np.array([[9.0, -0.8, 0.0], [0.7, 0.0, 0.5], [0.3, 0.29, 0.0]])
    assert acyclic(weights, 0.3) == from_edges(3, [(0, 1), (1, 2)])
    assert acyclic(weights, 0.6) == from_edges(3, [(0, 1)])
    assert acyclic(weights, 0.9) == (0, 0, 0)


def test_without_torch_the_extra_is_named(monkeypatch):
    def none(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("harness.plugins.discovery.dag_gnn.metadata.version", none)
    with pytest.raises(ConfigError, match=r"algorithm=dag_gnn needs torch.*\[discovery-torch\]"):
        assert SMALL.identity
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"\[discovery-torch\]"):
        SMALL.learn(np.array([[0, 1], [1, 0]]), [2, 2], seed=0)
