"""Patterns of classes against their definition, and the distances between them."""

from __future__ import annotations

import random

import gadjid
import pytest
from harness_discovery.patterns import codes, cpdag, dag_in, distances, read
from support.brute_force import every_dag
from support_discovery import class_of

from harness.causal.dag import from_integer, relabel
from harness.causal.equivalence import members
from harness.causal.learned_graph import Pattern
from harness.scoring.graphs import sid

DOWN = "from row to column"


def drawn(count, n):
    draw = random.Random(n)
    for _ in range(count):
        order = draw.sample(range(n), n)
        yield relabel(from_integer(n, draw.getrandbits(n * (n - 1) // 2) & draw.getrandbits(63)), tuple(order))


def test_of_every_graph_over_four_nodes_and_five_hundred_over_seven():
    for dag in [*every_dag(4), *drawn(500, 7)]:
        assert cpdag(dag) == class_of(dag)


def test_a_dag_in_a_completed_pattern_is_a_member():
    for dag in drawn(200, 7):
        assert dag_in(cpdag(dag)) in set(members(dag))
        assert dag_in(Pattern.of(dag)) == dag


def test_distances_are_those_of_the_classes_whatever_member_is_learned():
    graphs = [*drawn(60, 6)]
    for true, learned in zip(graphs, reversed(graphs), strict=True):
        found = [distances(true, Pattern.of(member)) for member in members(learned)]
        assert all(numbers == found[0] for numbers in [*found, distances(true, cpdag(learned))])
        first, second = codes(cpdag(true)), codes(cpdag(learned))
        assert found[0]["class_shd"] == sum(
            (first[u, v], first[v, u]) != (second[u, v], second[v, u]) for v in range(6) for u in range(v)
        )
        assert (found[0]["parent_aid"] == 0) == (cpdag(true) == cpdag(learned)) or found[0]["class_shd"]
        pair = codes(Pattern.of(true)), codes(Pattern.of(learned))  # of DAGs parent AID is SID
        assert gadjid.parent_aid(*pair, edge_direction=DOWN)[1] == sid(*pair)


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [
        ((0b100, 0b001, 0b010), (0, 0, 0)),  # a cycle
        ((0, 0, 0, 0), (0b1010, 0b0101, 0b1010, 0b0101)),  # a square: any direction makes a v-structure
    ],
)
def test_a_pattern_without_a_dag_has_no_distance(directed, undirected):
    nothing = {"class_shd": None, "parent_aid": None}
    assert distances((0,) * len(directed), Pattern(directed, undirected)) == nothing


def test_a_graph_is_read_as_a_run_leaves_it(tmp_path):
    file = tmp_path / "direct.csv"
    assert read(file) is None
    file.write_text(",a,b,c\na,0,1,0\nb,0,0,1\nc,0,1,0\n")  # a → b – c
    assert read(file) == Pattern((0, 0b001, 0), (0, 0b100, 0b010))
    file.write_text(",a,b\na,0,\nb,1,0\n")
    assert read(file) is None
