"""The theory once more, straight from the definitions and slow; graphs and d-separation are networkx's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, reduce
from itertools import chain, combinations, permutations, product
from operator import and_

import networkx as nx
from hypothesis import strategies as st

from harness.causal.dag import DAG
from harness.causal.relations import Holds, Relation, relations
from harness.causal.separation import Independence


def graph_of(dag: DAG) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(dag)))
    graph.add_edges_from((u, v) for v, parents in enumerate(dag) for u in range(len(dag)) if parents & 2**u)
    return graph


def dag_of(graph: nx.DiGraph) -> DAG:
    return tuple(sum(2**u for u in graph.predecessors(v)) for v in range(len(graph)))


def every_dag(n: int) -> Iterator[DAG]:
    """Yield all labelled DAGs: 1, 3, 25, 543 for n = 1 … 4."""
    pairs = list(combinations(range(n), 2))
    for orders in product((slice(0), slice(None), slice(None, None, -1)), repeat=len(pairs)):  # no edge, forth, back
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(filter(None, (pair[way] for pair, way in zip(pairs, orders, strict=True))))
        if nx.is_directed_acyclic_graph(graph):
            yield dag_of(graph)


def numbered(n: int, number: int) -> DAG:
    """Return the DAG whose k-th pair (lexicographic) is an edge iff bit k of the number is set."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(pair for k, pair in enumerate(combinations(range(n), 2)) if number & 2**k)
    return dag_of(graph)


@cache
def separations(dag: DAG) -> frozenset[Independence]:
    graph, nodes = graph_of(dag), range(len(dag))
    return frozenset(
        (i, j, given)
        for i, j in combinations(nodes, 2)
        for given in subsets([k for k in nodes if k not in (i, j)])
        if nx.is_d_separator(graph, i, j, set(given))
    )


def subsets(values: list[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(values, size) for size in range(len(values) + 1))


@cache
def classes(n: int) -> dict[frozenset[Independence], frozenset[DAG]]:
    """Return the Markov equivalence classes by their d-separations."""
    by_independences: dict[frozenset[Independence], set[DAG]] = {}
    for dag in every_dag(n):
        by_independences.setdefault(separations(dag), set()).add(dag)
    return {key: frozenset(dags) for key, dags in by_independences.items()}


def moved(independences: frozenset[Independence], place: tuple[int, ...]) -> frozenset[Independence]:
    """Return the statements with node k renamed place[k]."""
    return frozenset(
        (*sorted((place[i], place[j])), tuple(sorted(place[k] for k in given))) for i, j, given in independences
    )


def same_up_to_renaming(n: int, independences: frozenset[Independence]) -> frozenset[frozenset[Independence]]:
    return frozenset(moved(independences, place) for place in permutations(range(n)))


def holds(dag: DAG, relation: Relation, i: int, j: int) -> bool:
    """The readings of `Relation`: directed paths, disjoint but for the node where they meet or part."""
    graph = graph_of(dag)
    if relation in (Relation.CHILD, Relation.DESCENDANT):
        i, j = j, i
    if relation in (Relation.PARENT, Relation.CHILD):
        return bool(graph.has_edge(i, j))
    if relation in (Relation.ANCESTOR, Relation.DESCENDANT):
        return any(len(path) > 2 for path in nx.all_simple_paths(graph, i, j))
    if relation is Relation.CONFOUNDER:
        graph = graph.reverse()
    return any(
        set(left) & set(right) == {k}
        for k in graph
        if k not in (i, j)
        for left in nx.all_simple_paths(graph, i, k)
        for right in nx.all_simple_paths(graph, j, k)
    )


@st.composite
def dags(draw: st.DrawFn, low: int = 1, high: int = 9) -> DAG:
    """Draw DAGs whose edges need not run from lower to higher nodes."""
    n = draw(st.integers(low, high))
    order = draw(st.permutations(range(n)))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(pair for pair in combinations(order, 2) if draw(st.integers(0, 2)) == 0)
    return dag_of(graph)


def common_relations(graphs: Iterable[DAG]) -> Holds:
    """Return what holds in all graphs, one by one; `relations` is tried against `holds`."""
    found = [relations(dag) for dag in graphs]
    columns = {r: zip(*(rows[r] for rows in found), strict=True) for r in Relation}
    return {r: tuple(reduce(and_, column) for column in columns[r]) for r in Relation}
