"""What a premise's words say and what follows from it, by theory that is not the harness's own."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import networkx as nx

from harness.causal.relations import Relation
from harness.types import Item
from support import brute_force

KIND = {"child": "parent", "descendant": "ancestor"}
Independences = frozenset[tuple[frozenset[str], frozenset[str]]]
"""(pair, condition)."""


Graph = dict[str, frozenset[str]]
"""The children of each variable."""


def reversed_graph(below: Graph) -> Graph:
    return {v: frozenset(u for u in below if v in below[u]) for v in below}


def bayes_ball(below: Graph, above: Graph, start: str, given: frozenset[str]) -> set[str]:
    """Return what a ball from `start` reaches: Shachter (1998), one conditioning set at a time."""
    seen: set[tuple[str, bool]] = set()
    queue = [(start, True)]  # (node, came from a child)
    while queue:
        node, from_child = move = queue.pop()
        if move in seen:
            continue
        seen.add(move)
        if node in given:
            queue += [(parent, True) for parent in above[node] if not from_child]
            continue
        queue += [(child, False) for child in below[node]]
        queue += [(parent, True) for parent in above[node] if from_child]
    return {node for node, _ in seen if node not in given}


def separations(below: Graph) -> Independences:
    names, above = sorted(below), reversed_graph(below)
    return frozenset(
        (frozenset((a, b)), frozenset(given))
        for a in names
        for size in range(len(names) - 1)
        for given in combinations([name for name in names if name != a], size)
        for b in set(names) - bayes_ball(below, above, a, frozenset(given)) - {*given, a}
    )


def stated(premise: str) -> tuple[list[str], Independences]:
    """Return the variables and the independences of a premise's words, read by splitting at words alone."""
    opening, _, body = premise.partition(" All the statistical relations among these ")
    names = opening.partition("variables, ")[2].rstrip(".").replace(" and ", ", ").split(", ")
    found = set()
    for sentence in body.partition(": ")[2].rstrip(".").split(". "):
        sentence = sentence.removeprefix("However, ")
        if " is independent of " in sentence:
            found.add((frozenset(sentence.split(" is independent of ")), frozenset()))
        elif " are independent given " in sentence:
            pair, _, given = sentence.partition(" are independent given ")
            found.add((frozenset(pair.split(" and ")), frozenset(given.replace(" and ", ", ").split(", "))))
    return names, frozenset(found)


def graphs(names: list[str], independences: Independences) -> list[Graph]:
    """Return all graphs with these independences (Verma and Pearl 1990).

    What the separating sets direct is directed, every other edge both ways, without a cycle or one more v-structure.
    """
    separating = dict(independences)
    edges = [pair for pair in combinations(names, 2) if frozenset(pair) not in separating]
    near = {name: {a if b == name else b for a, b in edges if name in (a, b)} for name in names}
    forced = {
        (end, middle)
        for (pair, given) in separating.items()
        for middle in names
        if pair <= near[middle] and middle not in given
        for end in pair
    }
    above: dict[str, set[str]] = {name: {a for a, b in forced if b == name} for name in names}
    open_edges = [(a, b) for a, b in edges if (a, b) not in forced and (b, a) not in forced]
    found: list[Graph] = []

    def reaches(start: str, end: str) -> bool:
        return end in above and (start in above[end] or any(reaches(start, parent) for parent in above[end]))

    def orient(k: int) -> None:
        if k == len(open_edges):
            below = {v: frozenset(w for w in names if v in above[w]) for v in names}
            if nx.is_directed_acyclic_graph(nx.DiGraph(below)):
                found.append(below)
            return
        for cause, effect in (open_edges[k], open_edges[k][::-1]):
            if above[effect] <= near[cause] and not reaches(effect, cause):
                above[effect].add(cause)
                orient(k + 1)
                above[effect].discard(cause)

    orient(0)
    return found


def reached(below: Graph, start: str, without: str = "") -> set[str]:
    queue, seen = [start], set()
    while queue:
        for child in below[queue.pop()] - {without}:
            if child not in seen:
                seen.add(child)
                queue.append(child)
    return seen


def holds(below: Graph, relation: str, i: str, j: str) -> bool:
    """The readings of `Relation`: directed paths, disjoint but for the node where they meet or part."""
    if relation in KIND:
        relation, i, j = KIND[relation], j, i
    if relation == "parent":
        return j in below[i]
    if relation == "ancestor":
        return any(j in reached(below, w) for w in below[i])
    if relation == "confounder":
        below = reversed_graph(below)
    # A node that i reaches around j, and j around i: the first one along such paths is met by both there alone.
    return bool(reached(below, i, without=j) & reached(below, j, without=i))


@cache
def fitting_graphs(premise: str) -> tuple[Graph, ...]:
    names, independences = stated(premise)
    found = graphs(names, independences)
    assert found, premise
    for graph in (found[0], found[-1]):  # the words are those of these graphs, all of them
        assert separations(graph) == independences
    return tuple(found)


def assert_label(item: Item) -> None:
    """Assert that a label is right: up to six variables by the paths themselves, beyond by what is reached."""
    found = fitting_graphs(item.fields["premise"])
    relation, i, j = (item.fields[name] for name in ("relation", "var_i", "var_j"))
    if len(names := sorted(found[0])) <= 6:
        dags = (tuple(sum((v in graph[u]) << k for k, u in enumerate(names)) for v in names) for graph in found)
        follows = all(brute_force.holds(dag, Relation(relation), names.index(i), names.index(j)) for dag in dags)
    else:
        follows = all(holds(graph, relation, i, j) for graph in found)
    assert item.labels["audited"] == follows, item.id
