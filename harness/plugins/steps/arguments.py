"""What a baseline holds of a premise's graph, right or wrong in a known way, and the answer that it draws from that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

from harness.causal.dag import DAG, bits
from harness.causal.every_graph import LARGEST
from harness.causal.inference import graphs_with
from harness.causal.relations import common_relations
from harness.causal.statements import GraphClass, Kind, Statement, class_of
from harness.codec import shuffled
from harness.tasks.corr2cause.text import Hypothesis, Premise, follows, read_dag

Pair = tuple[int, int]
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Argument:
    """A pattern of a graph, part by part, and an answer."""

    edges: frozenset[Pair]
    """Adjacent nodes, i < j."""
    triples: frozenset[Triple]
    """(i, m, j), i < j: both are adjacent to m, and not to each other."""
    colliders: frozenset[Triple]
    """Those of the triples with both edges into m."""
    arrows: frozenset[Pair]
    """(cause, effect) of the edges that have a direction."""
    answer: bool


def right(premise: Premise, hypothesis: Hypothesis | None) -> Argument:
    """Return what the premise entails: the essential graph (Andersson et al. 1997), and the answer by logic."""
    return Argument(*parts(class_of(read_dag(premise))), hypothesis is not None and follows(premise, hypothesis))


def parts(graphs: GraphClass) -> tuple[frozenset[Pair], frozenset[Triple], frozenset[Triple], frozenset[Pair]]:
    """Return the edges, unshielded triples, colliders and arrows that all members of a class share."""
    dag = graphs.graphs[0]
    edges = frozenset((min(u, v), max(u, v)) for v, above in enumerate(dag) for u in bits(above))
    triples = unshielded(len(dag), edges)
    colliders = frozenset((i, m, j) for i, m, j in triples if dag[m] >> i & dag[m] >> j & 1)
    arrows = frozenset(
        pair
        for pair in permutations(range(len(dag)), 2)
        if graphs.verdict(Statement.of(Kind.PARENT, pair)) == "entailed"
    )
    return edges, triples, colliders, arrows


def unshielded(n: int, edges: Collection[Pair]) -> frozenset[Triple]:
    """Return the triples of a skeleton whose ends are not adjacent."""
    joined = {*edges, *((j, i) for i, j in edges)}
    return frozenset(
        (i, m, j)
        for i, j in combinations(range(n), 2)
        for m in range(n)
        if (i, m) in joined and (m, j) in joined and (i, j) not in joined
    )


def answer_by(n: int, statements: Collection[Statement], hypothesis: Hypothesis, names: tuple[str, ...]) -> bool | None:
    """Return whether the hypothesis is true in every DAG in which the statements are.

    None where there is no such DAG, or more than six variables, over which not all DAGs are looked at.
    """
    if n > LARGEST:
        return None
    graphs: list[DAG] = [tuple(map(int, row)) for row in graphs_with(n, statements)]
    if not graphs:
        return None
    return _holds(graphs, hypothesis, names)


def _holds(graphs: Collection[DAG], hypothesis: Hypothesis, names: tuple[str, ...]) -> bool:
    i, j = names.index(hypothesis.i), names.index(hypothesis.j)
    return bool(common_relations(graphs)[hypothesis.relation][i] >> j & 1)


def pattern_statements(
    n: int, edges: Collection[Pair], colliders: Collection[Triple] | None = None, arrows: Collection[Pair] = ()
) -> list[Statement]:
    """Return what a pattern says: of each pair, of each unshielded triple unless `colliders` is None, of each arrow."""
    pairs = [Statement.of(Kind.ADJACENT, pair, denied=pair not in edges) for pair in combinations(range(n), 2)]
    triples = (
        []
        if colliders is None
        else [
            Statement.of(Kind.COLLIDER, triple, denied=triple not in colliders)
            for triple in sorted(unshielded(n, edges))
        ]
    )
    return [*pairs, *triples, *(Statement.of(Kind.PARENT, arrow) for arrow in sorted(arrows))]


def without_colliders(premise: Premise, hypothesis: Hypothesis | None) -> Argument:
    """Return the right skeleton with no collider, so that no edge has a direction; Yes where that is enough."""
    exact = right(premise, hypothesis)
    statements = pattern_statements(len(premise.names), exact.edges, ())
    answer = hypothesis is not None and answer_by(len(premise.names), statements, hypothesis, premise.names)
    return Argument(exact.edges, exact.triples, frozenset(), frozenset(), bool(answer))


def at_random(premise: Premise, hypothesis: Hypothesis | None) -> Argument:
    """Return the arrows of one member of the class, drawn by the premise, as if there were no other, and its answer."""
    exact = right(premise, hypothesis)
    graphs = class_of(read_dag(premise)).graphs
    dag = shuffled(sorted(graphs), "orients at random", *premise.names, *sorted(premise.independences))[0]
    holds = hypothesis is not None and _holds([dag], hypothesis, premise.names)
    arrows = frozenset((u, v) for v, above in enumerate(dag) for u in bits(above))
    return Argument(exact.edges, exact.triples, exact.colliders, arrows, holds)


def upside_down(premise: Premise, hypothesis: Hypothesis | None) -> Argument:
    """Return the complement of the skeleton, all its triples colliders, every arrow the wrong way; the right answer."""
    exact, n = right(premise, hypothesis), len(premise.names)
    edges = frozenset(pair for pair in combinations(range(n), 2) if pair not in exact.edges)
    triples = unshielded(n, edges)
    return Argument(edges, triples, triples, frozenset((j, i) for i, j in exact.arrows), exact.answer)


MANNERS: Mapping[str, Callable[[Premise, Hypothesis | None], Argument]] = {
    "argues_right": right,
    "forgets_colliders": without_colliders,
    "orients_at_random": at_random,
    "argues_wrong": upside_down,
}
