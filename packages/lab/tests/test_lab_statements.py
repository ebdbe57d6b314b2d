"""What a class entails, refutes or leaves open, and what follows from what, against networkx on every DAG."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from harness_lab.every_graph import every_graph
from harness_lab.inference import support
from harness_lab.statements import Kind, PairSentences, Statement, class_of
from support import brute_force as brute

from harness.causal.dag import DAG, from_edges
from harness.causal.separation import independences


def plain_statements(n: int) -> Iterator[Statement]:
    """Yield every statement without denial: of adjacency, independence, colliders, parents, causes."""
    for i, j in combinations(range(n), 2):
        others = [k for k in range(n) if k not in (i, j)]
        yield Statement(Kind.ADJACENT, (i, j))
        yield from (Statement(Kind.INDEPENDENT, (i, j), given) for given in brute.subsets(others))
        yield from (Statement(Kind.COLLIDER, (i, m, j)) for m in others)
    for pair in permutations(range(n), 2):
        yield Statement(Kind.PARENT, pair)
        yield Statement(Kind.CAUSE, pair)


def held_by(dag: DAG) -> set[Statement]:
    """Return the plain statements that hold in a DAG, by networkx."""
    graph, n = brute.graph_of(dag), len(dag)
    separated = {Statement(Kind.INDEPENDENT, (i, j), given) for i, j, given in brute.separations(dag)}
    edges = {Statement(Kind.PARENT, edge) for edge in graph.edges}
    joined = {Statement(Kind.ADJACENT, tuple(sorted(edge))) for edge in graph.edges}
    paths = {Statement(Kind.CAUSE, edge) for edge in nx.transitive_closure_dag(graph).edges}
    colliders = {
        Statement(Kind.COLLIDER, (i, m, j)) for m in range(n) for i, j in combinations(sorted(graph.predecessors(m)), 2)
    }
    return separated | edges | joined | paths | colliders


def expected(statement: Statement, held: list[set[Statement]]) -> str:
    holding = sum(statement.plain in here for here in held)
    verdict = "entailed" if holding == len(held) else "open" if holding else "refuted"
    if statement.open:
        return "entailed" if verdict == "open" else "refuted"
    return {"entailed": "refuted", "refuted": "entailed", "open": "open"}[verdict] if statement.denied else verdict


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_verdicts_are_those_of_every_dag_with_the_same_independences(n):
    for members in brute.classes(n).values():
        held = [held_by(member) for member in members]
        graphs = class_of(min(members))
        assert len(graphs.graphs) == len(held)
        for plain in plain_statements(n):
            for how in ({}, {"denied": True}, {"open": True}):
                statement = Statement.of(plain.kind, plain.nodes, plain.condition, **how)
                assert graphs.verdict(statement) == expected(statement, held), (members, statement)


def test_every_graph_is_there_once():
    for n in (1, 2, 3, 4):
        rows = [tuple(map(int, row)) for row in every_graph(n)]
        assert len(rows) == len(set(rows))
        assert set(rows) == set(brute.every_dag(n))
    assert len(every_graph(5)) == len(np.unique(every_graph(5), axis=0)) == 29_281  # Robinson (1973)


def where_held(n: int) -> dict[Statement, int]:
    """Return in which DAGs over n nodes, as bits in the order of `every_graph`, each plain statement holds."""
    where = dict.fromkeys(plain_statements(n), 0)
    for k, row in enumerate(every_graph(n)):
        for statement in held_by(tuple(map(int, row))):
            where[statement] |= 1 << k
    return where


@pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_what_follows_is_true_in_every_dag_with_the_basis(n):
    rng, graphs, where = random.Random(n), every_graph(n), where_held(n)
    everything = (1 << len(graphs)) - 1
    answers: dict[str, int] = defaultdict(int)
    for _ in range(400):
        number = rng.randrange(len(graphs))
        dag = tuple(map(int, graphs[number]))
        true = [Statement.of(s.kind, s.nodes, s.condition, denied=not held >> number & 1) for s, held in where.items()]
        statements = rng.sample(true, rng.randint(0, 4)) + rng.sample(list(where), rng.random() < 0.3)
        pairs = [PairSentences.of(n, independences(dag), *rng.sample(range(n), 2)) for _ in range(rng.randint(0, 2))]
        statement = rng.choice(true)
        left = everything
        for one in statements + [s for pair in pairs for s in said_of(n, pair)]:
            left &= everything ^ where[one.plain] if one.denied else where[one]
        true_in = everything ^ where[statement.plain] if statement.denied else where[statement]
        answer = "contradiction" if not left else "leap" if left & ~true_in else "follows"
        basis = frozenset([*statements, *pairs])
        assert support(n, basis, statement) == answer, (basis, statement)
        assert support(n, basis, statement, class_of(dag).graphs) == answer, (basis, statement)
        answers[answer] += 1
    assert set(answers) == {"contradiction", "follows", "leap"}


def said_of(n: int, pair: PairSentences) -> Iterator[Statement]:
    """Yield all that is said of a pair as statements, one for each conditioning set."""
    others = [k for k in range(n) if k not in (pair.i, pair.j)]
    for condition in brute.subsets(others):
        yield Statement(Kind.INDEPENDENT, (pair.i, pair.j), condition, denied=condition not in pair.separating)


def test_rules_of_orientation_follow_from_what_they_rest_on():
    # A - C - B with A and B apart and C no collider, A → C: then C → B (Meek 1995, rule 1).
    basis = {
        Statement.of(Kind.ADJACENT, (2, 1)),
        Statement.of(Kind.ADJACENT, (0, 1), denied=True),
        Statement.of(Kind.COLLIDER, (0, 2, 1), denied=True),
        Statement.of(Kind.PARENT, (0, 2)),
    }
    step = Statement.of(Kind.PARENT, (2, 1))
    assert support(6, frozenset(basis), step) == "follows"
    for part in basis:
        if part.kind is not Kind.ADJACENT or not part.denied:
            assert support(6, frozenset(basis - {part}), step) == "leap"
    # Of a pair that no sentence separates the edge follows, its direction does not.
    pair = PairSentences(0, 1, frozenset(), (2, 3, 4))
    assert support(5, frozenset({pair}), Statement.of(Kind.ADJACENT, (0, 1))) == "follows"
    assert support(5, frozenset({pair}), step) == "leap"


def test_what_is_open_is_no_statement_about_one_dag():
    with pytest.raises(ValueError, match="class"):
        support(3, frozenset(), Statement.of(Kind.PARENT, (0, 1), open=True))
    with pytest.raises(ValueError, match="6"):
        every_graph(7)


def test_seven_nodes_are_settled_by_the_few_that_are_spoken_of_or_by_a_member_of_the_class():
    dag = from_edges(7, [(0, 1), (1, 2), (3, 4), (5, 4), (4, 6)])  # a chain, and a collider with an effect
    known, separations = class_of(dag).graphs, independences(dag)

    def pair(i: int, j: int) -> PairSentences:
        return PairSentences.of(7, separations, i, j)

    chain = {pair(0, 1), pair(1, 2), pair(0, 2)}
    collider = {pair(3, 4), pair(4, 5), pair(3, 5)}
    no_collider = Statement.of(Kind.COLLIDER, (0, 1, 2), denied=True)
    assert support(7, chain, no_collider, known) == "follows"
    assert support(7, collider, Statement.of(Kind.COLLIDER, (3, 4, 5)), known) == "follows"
    assert support(7, chain, Statement.of(Kind.PARENT, (0, 1)), known) == "leap"
    assert support(7, chain, Statement.of(Kind.COLLIDER, (0, 1, 2)), known) == "leap"
    assert support(7, chain, no_collider) == "too large"  # nothing shows that these sentences fit together
    assert support(7, collider, Statement.of(Kind.CAUSE, (3, 4)), known) == "too large"
