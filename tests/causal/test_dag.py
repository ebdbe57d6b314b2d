from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.brute_force import dags, every_dag, graph_of, numbered

from harness.causal.dag import (
    bits,
    children,
    descendants,
    from_edges,
    from_integer,
    mask_of,
    relabel,
    topological_order,
)


@given(st.sets(st.integers(0, 80)))
def test_a_mask_gives_back_its_members_in_order(nodes):
    assert list(bits(mask_of(nodes))) == sorted(nodes)


def test_edges_become_parent_sets():
    assert from_edges(4, [(3, 0), (1, 0), (0, 2)]) == (0b1010, 0, 0b0001, 0)


@pytest.mark.parametrize("edges", [[(0, 0)], [(0, 1), (1, 0)], [(3, 0), (0, 1), (1, 2), (2, 0)]])
def test_a_cycle_is_refused(edges):
    with pytest.raises(ValueError, match="cycle"):
        from_edges(4, edges)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_number_is_the_edges_of_its_bits(n):
    for number in range(2 ** (n * (n - 1) // 2)):
        assert from_integer(n, number) == numbered(n, number)


@pytest.mark.parametrize("number", [-1, 8])
def test_a_number_without_a_dag_is_refused(number):
    with pytest.raises(ValueError, match=f"{number} does not number a DAG over 3 nodes"):
        from_integer(3, number)


@given(dags(), st.data())
def test_relabelling_moves_every_edge(dag, data):
    new = tuple(data.draw(st.permutations(range(len(dag)))))
    renamed_edges = {(new[u], new[v]) for u, v in graph_of(dag).edges}
    assert set(graph_of(relabel(dag, new)).edges) == renamed_edges


@given(dags())
def test_children_turn_every_edge_around(dag):
    assert set(graph_of(children(dag)).edges) == set(graph_of(dag).reverse().edges)


@given(dags())
def test_topological_order_puts_parents_first(dag):
    order = topological_order(dag)
    assert sorted(order) == list(range(len(dag)))
    assert all(order.index(u) < order.index(v) for u, v in graph_of(dag).edges)


def test_topological_order_refuses_a_cycle():
    with pytest.raises(ValueError, match="cycle"):
        topological_order((0b100, 0b001, 0b010))


@given(dags())
def test_descendants_are_those_of_networkx(dag):
    graph = graph_of(dag)
    assert descendants(dag) == tuple(mask_of(nx.descendants(graph, v)) for v in graph)


def test_the_brute_force_knows_all_labelled_dags():
    assert [sum(1 for _ in every_dag(n)) for n in (1, 2, 3, 4)] == [1, 3, 25, 543]
