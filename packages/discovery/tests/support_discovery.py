"""Data from random networks, and what can be learned from data: the equivalence class, from the definition."""

from __future__ import annotations

from math import prod

import numpy as np

from harness.causal.dag import DAG, bits, topological_order
from harness.causal.equivalence import members
from harness.causal.learned_graph import Pattern


def observations(dag: DAG, arities, rows: int, seed: int, strength: float = 0.3) -> np.ndarray:
    """Draw observations from a network with random tables; a smaller `strength` brings them closer to one state."""
    draw = np.random.RandomState(seed)
    data = np.zeros((rows, len(dag)), dtype=np.int64)
    for v in topological_order(dag):
        above = list(bits(dag[v]))
        table = draw.dirichlet(np.full(arities[v], strength), size=prod(arities[u] for u in above))
        at = np.zeros(rows, dtype=np.int64)
        for u in above:
            at = at * arities[u] + data[:, u]
        thresholds = table[at].cumsum(axis=1)
        data[:, v] = (draw.random_sample(rows)[:, None] > thresholds[:, :-1]).sum(axis=1)
    return data


def edges_of(dag: DAG) -> set[tuple[int, int]]:
    return {(u, v) for v, above in enumerate(dag) for u in bits(above)}


def class_of(dag: DAG) -> Pattern:
    """Return the edges that all Markov equivalent DAGs direct alike, and the others without direction."""
    graphs = [edges_of(member) for member in members(dag)]
    always, ever = set.intersection(*graphs), set.union(*graphs)
    n = len(dag)
    directed = tuple(sum(2**u for u in range(n) if (u, v) in always) for v in range(n))
    undirected = tuple(sum(2**u for u in range(n) if {(u, v), (v, u)} <= ever) for v in range(n))
    return Pattern(directed, undirected)


def skeleton_of(pattern: Pattern) -> set[frozenset[int]]:
    return {frozenset((u, v)) for v, neighbours in enumerate(pattern.adjacency()) for u in bits(neighbours)}
