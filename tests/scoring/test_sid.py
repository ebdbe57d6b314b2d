"""The structural intervention distance against gadjid's and against the definition, path by path."""

from functools import cache
from itertools import chain, combinations, pairwise, permutations

import gadjid
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.brute_force import every_dag, graph_of

from harness.scoring.graphs import is_acyclic, sid, transitive_closure
from harness.tasks.causalbench.networks import NETWORKS, load

DOWN = "from row to column"


def matrix_of(dag):
    """Return the adjacency matrix of a graph, row to column."""
    return nx.to_numpy_array(graph_of(dag), nodelist=range(len(dag)), dtype=np.int8)


def always(answer, n):
    return np.int8(answer) * (1 - np.eye(n, dtype=np.int8))


def random_dag(draw, n, share):
    edges = np.triu((draw.random((n, n)) < share).astype(np.int8), 1)
    order = draw.permutation(n)
    return np.ascontiguousarray(edges[np.ix_(order, order)])


def random_digraph(draw, n, share):
    return (draw.random((n, n)) < share).astype(np.int8) * always(1, n)


# --- the definition ---


@cache
def paths(dag):
    """Return (i, j) → all paths between them, whatever the direction of the edges."""
    skeleton = graph_of(dag).to_undirected()
    return {pair: list(nx.all_simple_paths(skeleton, *pair)) for pair in permutations(range(len(dag)), 2)}


@cache
def below_or_self(dag):
    graph = graph_of(dag)
    return {v: nx.descendants(graph, v) | {v} for v in graph}


def is_directed(dag, path):
    return all(dag[w] & 2**v for v, w in pairwise(path))


def is_open(dag, path, adjusted):
    for before, v, after in zip(path, path[1:], path[2:], strict=False):
        if dag[v] & 2**before and dag[v] & 2**after:
            if not below_or_self(dag)[v] & adjusted:
                return False
        elif v in adjusted:
            return False
    return True


def goes_wrong(dag, i, j, adjusted):
    if j in adjusted:
        return j in below_or_self(dag)[i]
    directed = [path for path in paths(dag)[i, j] if is_directed(dag, path)]
    others = [path for path in paths(dag)[i, j] if not is_directed(dag, path)]
    forbidden = set().union(*(below_or_self(dag)[v] for v in chain(*directed) if v != i))
    return bool(forbidden & adjusted) or any(is_open(dag, path, adjusted) for path in others)


def by_definition(dag, predicted):
    parents = [set(np.flatnonzero(column)) for column in predicted.T]
    return sum(goes_wrong(dag, i, j, parents[i]) for i, j in paths(dag))


def parent_sets(n):
    """Return 2^(n-1) graphs that together give each node each set of parents once; nearly all have cycles."""
    for number in range(2 ** (n - 1)):
        graph = np.zeros((n, n), np.int8)
        for v in range(n):
            for k, u in enumerate(u for u in range(n) if u != v):
                graph[u, v] = number >> k & 1
        yield graph


@pytest.mark.parametrize("n", [2, 3])
def test_every_dag_and_every_parent_set_of_up_to_three_nodes(n):
    predictions = list(parent_sets(n))
    assert {(v, tuple(column)) for graph in predictions for v, column in enumerate(graph.T)} == {
        (v, tuple(int(u in chosen) for u in range(n)))
        for v in range(n)
        for size in range(n)
        for chosen in combinations([u for u in range(n) if u != v], size)
    }
    for dag in every_dag(n):
        true = matrix_of(dag)
        for predicted in predictions:
            assert sid(true, predicted) == by_definition(dag, predicted), (true, predicted)


@given(st.randoms(use_true_random=False))
def test_six_nodes_and_predictions_with_cycles(chance):
    draw = np.random.default_rng(chance.randrange(2**32))
    true = random_dag(draw, 6, chance.choice([0.2, 0.4, 0.6]))
    predicted = random_digraph(draw, 6, chance.choice([0.1, 0.3, 0.5]))
    dag = tuple(int(sum(2**u for u in np.flatnonzero(column).tolist())) for column in true.T)
    assert sid(true, predicted) == by_definition(dag, predicted), (true, predicted)


# --- gadjid ---


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_gadjids_number_on_random_dags(share):
    draw = np.random.default_rng(round(100 * share))
    for size in [*range(2, 13)] * 12 + [30, 40, 50]:
        true = random_dag(draw, size, share)
        for other in (0.1, 0.3, 0.7):
            predicted = random_dag(draw, size, other)
            normalised, mistakes = gadjid.sid(true, predicted, edge_direction=DOWN)
            ours = sid(true, predicted)
            assert ours == mistakes, (true, predicted)
            assert ours / (size * (size - 1)) == pytest.approx(normalised)


@pytest.mark.parametrize("name", NETWORKS)
def test_gadjids_number_on_the_networks(name):
    true = matrix_of(load(name).dag)
    draw = np.random.default_rng(0)
    closure = transitive_closure(true)
    predictions = [always(0, len(true)), true.T.copy(), closure, random_dag(draw, len(true), 0.05)]
    for graph in (true, closure):
        for predicted in predictions:
            assert sid(graph, predicted) == gadjid.sid(graph, predicted, edge_direction=DOWN)[1]


def test_the_true_graph_must_be_acyclic_and_the_predicted_one_need_not():
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    dag = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert not is_acyclic(cycle)
    with pytest.raises(ValueError, match="cycle"):
        sid(cycle, dag)
    # Each node has one predicted parent: 0 has 2, a descendant; 1 and 2 have their own parents.
    assert sid(dag, cycle) == 2
