from __future__ import annotations

import pytest
from hypothesis import given, settings
from support import brute_force
from support.brute_force import classes, dags, every_dag, holds

from harness.causal.dag import from_edges, from_integer
from harness.causal.equivalence import members, representatives
from harness.causal.relations import BATCH, Relation, common_relations, relations


def pairs(rows):
    n = len(rows)
    return {(i, j) for i in range(n) for j in range(n) if rows[i] >> j & 1}


def by_definition(dag, relation):
    n = len(dag)
    return {(i, j) for i in range(n) for j in range(n) if i != j and holds(dag, relation, i, j)}


def test_the_relations_stand_in_the_order_of_table_2():
    assert list(map(str, Relation)) == ["parent", "ancestor", "child", "descendant", "collider", "confounder"]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_all_small_graphs_follow_the_definitions(n, relation):
    for dag in every_dag(n):
        assert pairs(relations(dag)[relation]) == by_definition(dag, relation)


@settings(max_examples=60, deadline=None)
@given(dags(low=5, high=7))
def test_random_graphs_follow_the_definitions(dag):
    matrices = relations(dag)
    for relation in Relation:
        assert pairs(matrices[relation]) == by_definition(dag, relation)


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_shared_is_what_every_member_of_a_class_has(n):
    for alike in classes(n).values():
        expected = {r: set.intersection(*(by_definition(dag, r) for dag in alike)) for r in Relation}
        assert {r: pairs(rows) for r, rows in common_relations(sorted(alike)).items()} == expected


@pytest.mark.parametrize(
    ("n", "step"),
    [(2, 1), (3, 1), (4, 1), (5, 1), *(pytest.param(*large, marks=pytest.mark.slow) for large in ((6, 1), (7, 400)))],
)
def test_members_at_once_are_members_one_by_one(n, step):
    for number in representatives(n)[::step]:
        graphs = list(members(from_integer(n, number)))
        assert common_relations(graphs) == brute_force.common_relations(graphs)


def test_more_members_than_one_batch_has():
    # A clique of six, all of whose orders are members, and a collider beside it.
    clique = [(i, j) for j in range(6) for i in range(j)]
    graphs = list(members(from_edges(9, [*clique, (6, 8), (7, 8)])))
    assert len(graphs) == 720 > BATCH
    assert common_relations(graphs) == brute_force.common_relations(graphs)
    assert pairs(common_relations(graphs)[Relation.COLLIDER]) == {(6, 7), (7, 6)}


def test_no_graph_shares_nothing():
    assert common_relations([]) == {}


def test_a_relation_is_found_by_its_name_too():
    assert {Relation.PARENT: 1}["parent"] == {"parent": 1}[Relation.PARENT] == 1
