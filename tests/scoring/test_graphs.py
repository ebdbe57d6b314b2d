"""Distances between graphs, and CausalBench's numbers over cells: closed forms, networkx and scikit-learn."""

import warnings
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.brute_force import graph_of
from support.late import Late

from harness.scoring.graphs import (
    MISSING,
    NO,
    UNREADABLE,
    YES,
    average_degree,
    cell_numbers,
    density,
    is_acyclic,
    shd,
    skeleton_shd,
    transitive_closure,
)
from harness.tasks.causalbench.networks import NETWORKS, load

sklearn_metrics = Late("sklearn.metrics")


def everywhere(code, n):
    return np.int8(code) * (1 - np.eye(n, dtype=np.int8))


@st.composite
def matrices(draw, codes=(0, 1), number=2):
    """Several of one size, with zero diagonals; the first is 0/1."""
    n = draw(st.integers(2, 7))
    matrices = []
    for k in range(number):
        cell = st.sampled_from(codes if k else (0, 1))
        cells = draw(st.lists(cell, min_size=n * n, max_size=n * n))
        matrices.append(np.array(cells, dtype=np.int8).reshape(n, n) * everywhere(1, n))
    return matrices


def as_graph(matrix):
    return nx.from_numpy_array(matrix, create_using=nx.DiGraph)


@pytest.fixture(params=NETWORKS)
def truth(request):
    """Return the adjacency matrix of a graph, row to column."""
    dag = load(request.param).dag
    return nx.to_numpy_array(graph_of(dag), nodelist=range(len(dag)), dtype=np.int8)


# --- exact ---


@given(matrices())
def test_shd_counts_the_pairs_in_another_state(pair):
    a, b = pair
    states = [{(i, j): (m[i, j], m[j, i]) for i, j in combinations(range(len(m)), 2)} for m in pair]
    expected = sum(states[0][at] != states[1][at] for at in states[0])
    assert shd(a, b) == expected
    assert shd(b, a) == expected
    assert (expected == 0) == (a == b).all()


@given(matrices(number=3))
def test_shd_takes_no_detours(three):
    a, b, c = three
    assert shd(a, c) <= shd(a, b) + shd(b, c)


def test_a_reversal_and_a_two_cycle_cost_one_and_a_wrong_adjacency_costs_one_in_the_skeleton_too():
    edge, back = np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]])
    both, none = edge + back, np.zeros((2, 2), dtype=np.int8)
    for predicted, distance, in_skeleton in [(edge, 0, 0), (back, 1, 0), (both, 1, 0), (none, 1, 1)]:
        assert shd(edge, predicted) == distance
        assert skeleton_shd(edge, predicted) == in_skeleton
    assert shd(none, both) == 1
    assert skeleton_shd(none, both) == 1
    assert cell_numbers(edge, back)["cell_shd"] == 2


@given(matrices())
def test_skeleton_shd_is_the_shd_of_the_undirected_graphs(pair):
    first, second = ({frozenset(edge) for edge in as_graph(m).edges} for m in pair)
    assert skeleton_shd(*pair) == len(first ^ second)


@given(matrices(number=1))
def test_counts_of_one_graph_are_networkxs(single):
    (matrix,) = single
    graph = as_graph(matrix)
    assert density(matrix) == pytest.approx(nx.density(graph))
    inward = sum(d for _, d in graph.in_degree) / len(graph)
    outward = sum(d for _, d in graph.out_degree) / len(graph)
    assert average_degree(matrix) == pytest.approx(inward) == pytest.approx(outward)
    assert is_acyclic(matrix) == nx.is_directed_acyclic_graph(graph)
    closure = nx.to_numpy_array(nx.transitive_closure(graph), nodelist=range(len(matrix)))
    np.fill_diagonal(closure, 0)
    assert (transitive_closure(matrix) == closure).all()
    assert (transitive_closure(matrix.T) == closure.T).all()


def test_cycles_reach_round_but_not_themselves():
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=np.int8)
    copy = cycle.copy()
    assert not is_acyclic(cycle)
    assert not is_acyclic(np.array([[0, 1], [1, 0]]))
    assert (transitive_closure(cycle) == everywhere(1, 3)).all()
    assert transitive_closure(cycle).dtype == np.int8
    assert (cycle == copy).all()


def test_the_networks(truth):
    n, edges = len(truth), int(truth.sum())
    assert is_acyclic(truth)
    assert is_acyclic(transitive_closure(truth))
    assert density(truth) == edges / (n * (n - 1))
    assert shd(truth, np.zeros_like(truth)) == edges
    assert shd(truth, truth.T) == edges
    assert shd(truth, everywhere(1, n)) == n * (n - 1) // 2
    assert skeleton_shd(truth, truth.T) == 0
    assert skeleton_shd(truth, everywhere(1, n)) == n * (n - 1) // 2 - edges


# --- paper ---


def closed_forms(n, edges, caused):
    """Return the numbers of who gives every answer alike; `caused` is how many nodes have a cause."""
    return {
        YES: {
            "macro_f1": edges / (n**2 - n + edges) + n / (n**2 + n - edges),
            "cell_accuracy": (edges + n) / n**2,
            "cell_shd": n**2 - n - edges,
            "parent_set_errors": n,
            "cell_density": 1,
            "degree": n - 1,
        },
        NO: {
            "macro_f1": (n**2 - edges) / (2 * n**2 - edges),
            "cell_accuracy": 1 - edges / n**2,
            "cell_shd": edges,
            "parent_set_errors": caused,
            "cell_density": 0,
            "degree": 0,
        },
        UNREADABLE: {
            "macro_f1": 2 * n / (n**2 + n - edges) / 3,
            "cell_accuracy": 1 / n,
            "cell_shd": n**2 - n,
            "parent_set_errors": n,
            "cell_density": 1,
            "degree": 0,
        },
    }


def test_numbers_of_cells_in_closed_form(truth):
    n, edges = len(truth), int(truth.sum())
    assert truth.sum(axis=0).max() < n - 1  # no node that all others cause, for which Yes would be right
    for code, expected in closed_forms(n, edges, (truth.sum(axis=0) > 0).sum()).items():
        assert cell_numbers(truth, everywhere(code, n)) == pytest.approx(expected)
    right = {"macro_f1": 1, "cell_accuracy": 1, "cell_shd": 0, "parent_set_errors": 0}
    assert cell_numbers(truth, truth) == right | {"cell_density": edges / (n * (n - 1)), "degree": edges / n}


def test_a_node_that_all_others_cause_has_the_right_parents_if_all_is_yes():
    truth = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert cell_numbers(truth, everywhere(YES, 3))["parent_set_errors"] == 2


@given(matrices(codes=(NO, YES, UNREADABLE, MISSING)))
def test_f1_and_accuracy_are_scikit_learns_without_the_missing_cells(pair):
    truth, cells = pair
    there = cells != MISSING
    expected, answered = truth[there], cells[there]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # each class occurs: nothing is undefined
        theirs = sklearn_metrics.f1_score(expected, answered, average="macro")
    numbers = cell_numbers(truth, cells)
    assert numbers["macro_f1"] == theirs
    assert numbers["cell_accuracy"] == sklearn_metrics.accuracy_score(expected, answered)
    assert numbers["cell_shd"] == (expected != answered).sum()


@given(matrices(codes=(NO, YES, UNREADABLE)))
def test_parent_sets_by_node(pair):
    truth, cells = pair
    nodes = range(len(truth))
    wrong = sum(truth[:, v].tolist() != cells[:, v].tolist() for v in nodes)
    assert cell_numbers(truth, cells)["parent_set_errors"] == wrong


@given(matrices(codes=(NO, YES, UNREADABLE, MISSING)))
def test_a_missing_cell_is_neither_right_nor_wrong_nor_an_edge(pair):
    truth, cells = pair
    missing, n = cells == MISSING, len(cells)
    numbers = cell_numbers(truth, cells)
    assert numbers == cell_numbers(np.where(missing, 1 - truth, truth), cells)  # whatever is true of a missing cell
    as_if_right = cell_numbers(truth, np.where(missing, truth, cells))
    assert all(numbers[name] == as_if_right[name] for name in ("cell_shd", "parent_set_errors"))
    assert numbers["cell_density"] == (np.isin(cells, [YES, UNREADABLE])).sum() / (n * (n - 1))
    assert numbers["degree"] == (cells == YES).sum() / n


def test_only_missing_cells_leave_the_diagonal():
    none = {"macro_f1": 1, "cell_accuracy": 1, "cell_shd": 0, "parent_set_errors": 0, "cell_density": 0, "degree": 0}
    assert cell_numbers(np.array([[0, 1], [0, 0]]), everywhere(MISSING, 2)) == none
