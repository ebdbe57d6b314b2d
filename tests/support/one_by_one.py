"""The relations of a class once more: each member on its own, by the reach of its nodes without each other."""

from __future__ import annotations

from collections.abc import Iterable

from harness.causal.dag import DAG, bits, children, descendants
from harness.causal.relations import Holds, Relation


def relations(dag: DAG) -> Holds:
    below, reach = children(dag), descendants(dag)
    indirect = tuple(union(reach[w] for w in bits(below[v])) for v in range(len(dag)))
    return {
        Relation.PARENT: below,
        Relation.ANCESTOR: indirect,
        Relation.CHILD: dag,
        Relation.DESCENDANT: tuple(sum((row >> j & 1) << i for i, row in enumerate(indirect)) for j in range(len(dag))),
        Relation.COLLIDER: meet(dag),
        Relation.CONFOUNDER: meet(below),
    }


def common_relations(dags: Iterable[DAG]) -> Holds:
    relations_of = [relations(dag) for dag in dags]
    everywhere = range(len(relations_of[0][Relation.PARENT]))
    return {r: tuple(intersection(holds[r][i] for holds in relations_of) for i in everywhere) for r in Relation}


def meet(dag: DAG) -> tuple[int, ...]:
    n = len(dag)
    without = [descendants(dag, 1 << v) for v in range(n)]
    return tuple(sum(1 << j for j in range(n) if i != j and without[j][i] & without[i][j]) for i in range(n))


def union(masks: Iterable[int]) -> int:
    bits = 0
    for mask in masks:
        bits |= mask
    return bits


def intersection(masks: Iterable[int]) -> int:
    bits = -1
    for mask in masks:
        bits &= mask
    return bits
