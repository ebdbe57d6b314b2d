"""What follows about observed variables where others are hidden, against graphs looked at one by one."""

from __future__ import annotations

import random
import runpy
from collections import defaultdict
from itertools import combinations, permutations
from pathlib import Path

import networkx as nx
import pytest
from harness_papers.latent_classes import holds_in_every_graph, latent_classes
from support.brute_force import dag_of, every_dag, graph_of, holds, moved, subsets

from harness.causal.equivalence import from_independences, members
from harness.causal.relations import Relation, common_relations

TOOL = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "latent_classes.py"))
computed, observed_independences = TOOL["computed"], TOOL["observed_independences"]


def observed_separations(graph: nx.DiGraph, observed: int):
    return frozenset(
        (i, j, given)
        for i, j in combinations(range(observed), 2)
        for given in subsets([k for k in range(observed) if k not in (i, j)])
        if nx.is_d_separator(graph, i, j, set(given))
    )


def true_in(graph: nx.DiGraph, observed: int, relation: Relation, i: int, j: int) -> bool:
    """As latent_classes.py defines it; hidden nodes are those from `observed` on."""
    if relation not in (Relation.PARENT, Relation.CHILD):
        return holds(dag_of(graph), relation, i, j)
    start, end = (i, j) if relation is Relation.PARENT else (j, i)
    return nx.has_path(graph.subgraph({start, end, *range(observed, len(graph))}), start, end)


def every_graph(observed: int, hidden: int):
    """Yield all labelled DAGs over observed and hidden nodes, however they are joined."""
    return map(graph_of, every_dag(observed + hidden))


@pytest.mark.parametrize(
    ("observed", "hidden"),
    [(2, 1), (3, 1), (2, 2), pytest.param(3, 2, marks=pytest.mark.slow), pytest.param(4, 1, marks=pytest.mark.slow)],
)
def test_what_holds_is_what_is_true_in_every_graph(observed, hidden):
    """The definition, word for word: no graph is left out, hidden variables may have parents, one child or none."""
    true = {}
    pairs = list(permutations(range(observed), 2))
    claims = [(relation, i, j) for relation in Relation for i, j in pairs]
    for graph in every_graph(observed, hidden):
        key = observed_separations(graph, observed)
        left = true.setdefault(key, set(claims))
        left -= {claim for claim in left if not true_in(graph, observed, *claim)}
    for key, claimed in true.items():
        found = {claim for claim in claims if holds_in_every_graph(observed, hidden, key, *claim)}
        assert found == claimed, sorted(key)
    assert len(latent_classes(observed, hidden)) == len(
        {min(sorted(moved(key, place)) for place in permutations(range(observed))).__str__() for key in true}
    )


@pytest.mark.parametrize(("observed", "draws"), [(4, 400), pytest.param(5, 150, marks=pytest.mark.slow)])
def test_graphs_with_two_hidden_nodes_drawn_at_random_are_in_a_class_and_have_what_holds_in_it(observed, draws):
    draw = random.Random(0)
    pairs = list(permutations(range(observed), 2))
    kept = defaultdict(int)
    for _ in range(draws):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(observed + 2))
        order = draw.sample(range(observed + 2), observed + 2)
        graph.add_edges_from(pair for pair in combinations(order, 2) if draw.random() < 0.35)
        key = observed_separations(graph, observed)
        assert key == observed_independences(dag_of(graph), observed)
        for relation in Relation:
            for i, j in pairs:
                claimed = holds_in_every_graph(observed, 2, key, relation, i, j)
                assert claimed is not None
                if claimed:
                    kept[relation] += 1
                    assert true_in(graph, observed, relation, i, j), (sorted(key), relation, i, j)
    assert kept[Relation.PARENT] and kept[Relation.CONFOUNDER]


def test_five_observed_variables_and_none_hidden_are_corr2cause():
    shipped = latent_classes(5, 0)
    assert len(shipped) == 142 and shipped == computed(5, 0)
    for key, latent_class in shipped.items():
        dag = from_independences(5, key)
        assert dag is not None and latent_class.holds == common_relations(members(dag))


@pytest.mark.slow
def test_the_classes_that_ship_are_those_of_all_graphs():
    for hidden in (1, 2):
        assert latent_classes(5, hidden) == computed(5, hidden)


def test_what_is_known_of_hidden_common_causes():
    # A → C ← B, C → D: an edge that nothing hidden explains away (a Y structure; Mani, Spirtes and Cooper 2006).
    collider = nx.DiGraph([(0, 2), (1, 2), (2, 3)])
    key = observed_separations(collider, 4)
    assert holds_in_every_graph(4, 2, key, Relation.PARENT, 2, 3)
    assert not holds_in_every_graph(4, 2, key, Relation.PARENT, 0, 2)
    assert holds_in_every_graph(4, 0, key, Relation.PARENT, 0, 2)  # were all variables observed
    # A → B ← H → C ← D: B and C have a common cause that no graph of the observed alone gives them.
    hidden = nx.DiGraph([(0, 1), (4, 1), (4, 2), (3, 2)])
    key = observed_separations(hidden, 4)
    assert holds_in_every_graph(4, 1, key, Relation.CONFOUNDER, 1, 2)
    assert holds_in_every_graph(4, 0, key, Relation.CONFOUNDER, 1, 2) is None
    # A chain is told from no graph with a hidden common cause, so nothing follows.
    chain = observed_separations(nx.DiGraph([(0, 1), (1, 2)]), 3)
    assert not any(
        holds_in_every_graph(3, 1, chain, relation, i, j)
        for relation in Relation
        for i, j in permutations(range(3), 2)
    )  # fmt: skip


def test_more_than_is_looked_at_is_refused():
    for observed, hidden in ((6, 0), (4, 3), (1, 0)):
        with pytest.raises(ValueError, match=f"{observed} observed and {hidden} hidden"):
            latent_classes(observed, hidden)
