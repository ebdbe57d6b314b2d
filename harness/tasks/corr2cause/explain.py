"""Why a Corr2Cause hypothesis follows, or does not: the graphs that fit the premise, and the one that refutes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from harness.causal.dag import DAG, bits, children
from harness.causal.equivalence import members
from harness.causal.relations import Holds, Relation, relations
from harness.tasks.benchmark import Explanations
from harness.tasks.corr2cause.text import Hypothesis, Premise, follows, read_dag, read_hypothesis, read_premise
from harness.types import JSON, Item

Edge = tuple[int, int]


@dataclass(frozen=True)
class Way:
    """Nodes in a row, with the direction of each step between neighbours."""

    nodes: tuple[int, ...]
    forward: tuple[bool, ...]

    @property
    def edges(self) -> list[Edge]:
        """(cause, effect) of every step."""
        steps = zip(self.nodes, self.nodes[1:], self.forward, strict=False)
        return [(a, b) if ahead else (b, a) for a, b, ahead in steps]

    def text(self, names: Sequence[str]) -> str:
        steps = zip(self.forward, self.nodes[1:], strict=True)
        return names[self.nodes[0]] + "".join(f" {'→' if ahead else '←'} {names[node]}" for ahead, node in steps)


def directed(dag: DAG, start: int, end: int, *, least: int = 1) -> Way | None:
    """Return the shortest directed path of `least` edges or more, the first in the nodes' order; None without one."""
    nodes = _path(children(dag), start, end, least=least)
    return Way(nodes, (True,) * (len(nodes) - 1)) if nodes else None


def meeting(after: Sequence[int], i: int, j: int, *, towards: bool) -> Way | None:
    """Return the shortest two paths along `after` from i and j that share a third node at their end, and only that.

    `towards` says that they run there: along children to a common effect, along parents to a common cause.
    """
    pairs: list[tuple[int, Way]] = []
    for end in (k for k in range(len(after)) if k not in (i, j)):
        first, second = _path(after, i, end, without=j), _path(after, j, end, without=i)
        if first and second:
            forward = (towards,) * (len(first) - 1) + (not towards,) * (len(second) - 1)
            pairs.append((len(first) + len(second), Way((*first, *second[-2::-1]), forward)))
    return min(pairs, key=lambda pair: pair[0])[1] if pairs else None


def _path(after: Sequence[int], start: int, end: int, *, without: int = -1, least: int = 1) -> tuple[int, ...]:
    """Return a shortest path along `after` (sets of nodes) that does not touch `without`; () without one."""
    paths: list[tuple[int, ...]] = [(start,)]
    while paths:
        longer = [(*path, node) for path in paths for node in bits(after[path[-1]]) if node not in (*path, without)]
        if found := next((path for path in longer if path[-1] == end and len(path) > least), ()):
            return found
        paths = [path for path in longer if path[-1] != end]
    return ()


FIRST = 40
"""Members of a class that are shown in any case; one that refutes something is shown besides."""
COUNTED_UP_TO = 1000
"""Members up to which it is counted in how many a hypothesis holds."""


@dataclass
class Class:
    """The graphs that fit a premise, in a fixed order: those first that run along the order of the variables."""

    premise: Premise
    members: list[DAG]
    visible: list[int] = field(init=False)
    """Places of the members that a page shows."""
    _true: dict[int, Holds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.members.sort(key=lambda dag: (sum(a > b for a, b in edges(dag)), edges(dag)))
        self.visible = list(range(min(len(self.members), FIRST)))

    def why(self, claim: Hypothesis, names: tuple[str, ...], published: int | None) -> dict[str, JSON]:
        """Return whether the hypothesis follows, and why, with the variables called by these names.

        `member` is where among the shown ones the member stands that refutes the hypothesis, or the first where all
        bear it out; `marked` are edges of it.
        """
        if claim.relation in (Relation.CHILD, Relation.DESCENDANT):
            claim = claim.converse
        i, j = names.index(claim.i), names.index(claim.j)
        holds = follows(self.premise, Hypothesis(claim.relation, self.premise.names[i], self.premise.names[j]))
        place = 0 if holds else next(k for k in range(len(self.members)) if not self._holds(k, claim.relation, i, j))
        if place not in self.visible:
            self.visible.append(place)
        count = len(self.members)
        where = f"in graph {self.visible.index(place) + 1} of {count:,}"
        where = "in the only graph that fits the premise" if count == 1 else where
        if holds:
            way, what = _instance(self.members[0], claim.relation, i, j), _borne_out(claim.relation, i, j, names)
            example = way.text(names) if way else ""
            every = f"in every one of the {count:,} graphs that fit the premise"
            sentence = f"Follows: {every}, {what} ({where}: {example})."
            sentence = f"Follows: {where}, {what} ({example})." if count == 1 else sentence
        else:
            way, missing = _refuted(self.members[place], claim.relation, i, j, names)
            example = f" ({way.text(names)})" if way else ""
            sentence = f"Does not follow: {where}, {missing}{example}.{self._share(claim.relation, i, j)}"
        if published is not None and published != holds:
            label, logic = _word(published), _word(holds)
            sentence += f" The published label says {label}; by logic, and in the audited labels, it is {logic}."
        marked: JSON = [list(edge) for edge in way.edges] if way else []
        return {"holds": holds, "member": self.visible.index(place), "said": sentence, "marked": marked}

    def _holds(self, place: int, relation: Relation, i: int, j: int) -> bool:
        if place not in self._true:
            self._true[place] = relations(self.members[place])
        return bool(self._true[place][relation][i] >> j & 1)

    def _share(self, relation: Relation, i: int, j: int) -> str:
        count = len(self.members)
        if not 1 < count <= COUNTED_UP_TO:
            return ""
        holding = sum(self._holds(place, relation, i, j) for place in range(count))
        return f" It holds in {holding or 'none'} of the {count:,}."


class ClaimExplanations(Explanations[Class]):
    """The classes of many items, and why each hypothesis follows or does not."""

    def explain(self, item: Item) -> tuple[int, tuple[str, ...], JSON] | None:
        """Return the item's class, names and why; an item that is not in the benchmark's words has none."""
        try:
            premise = read_premise(str(item.fields["premise"]))
            claim = _hypothesis(item.fields, premise)
            key = len(premise.names), premise.independences
            number, graphs = self.place(key, lambda: Class(premise, list(members(read_dag(premise)))))
            return number, premise.names, graphs.why(claim, premise.names, item.labels.get("published"))
        except (KeyError, ValueError):
            return None

    def for_page(self, graphs: Class) -> dict[str, JSON]:
        visible = [[list(edge) for edge in edges(graphs.members[place])] for place in graphs.visible]
        return {"nodes": len(graphs.premise.names), "total": len(graphs.members), "members": visible}


def edges(dag: DAG) -> list[Edge]:
    """Return (cause, effect) of each edge, in the order of the nodes."""
    return sorted((u, v) for v, above in enumerate(dag) for u in bits(above))


def _hypothesis(fields: Mapping[str, JSON], premise: Premise) -> Hypothesis:
    if {"relation", "var_i", "var_j"} <= set(fields):
        return Hypothesis(Relation(fields["relation"]), str(fields["var_i"]), str(fields["var_j"]))
    return read_hypothesis(str(fields["hypothesis"]), premise.names)


def _instance(dag: DAG, relation: Relation, i: int, j: int) -> Way | None:
    """Return the edges or paths that make a relation hold in one graph."""
    if relation is Relation.COLLIDER:
        return meeting(children(dag), i, j, towards=True)
    if relation is Relation.CONFOUNDER:
        return meeting(dag, i, j, towards=False)
    return directed(dag, i, j, least=2 if relation is Relation.ANCESTOR else 1)


def _borne_out(relation: Relation, i: int, j: int, names: tuple[str, ...]) -> str:
    return {
        Relation.COLLIDER: f"{names[i]} and {names[j]} have a common effect",
        Relation.CONFOUNDER: f"{names[i]} and {names[j]} have a common cause",
        Relation.PARENT: f"{names[i]} is a parent of {names[j]}",
        Relation.ANCESTOR: f"a directed path of two or more edges leads from {names[i]} to {names[j]}",
    }[relation]


def _refuted(dag: DAG, relation: Relation, i: int, j: int, names: tuple[str, ...]) -> tuple[Way | None, str]:
    """Return how two variables are linked in a graph without the relation, and the words for what is missing."""
    link, one, other = _link(dag, i, j), names[i], names[j]
    if relation in (Relation.COLLIDER, Relation.CONFOUNDER):
        what = "an effect" if relation is Relation.COLLIDER else "a cause"
        return link, f"no third variable is {what} of both {one} and {other} on separate paths"
    if relation is Relation.PARENT:
        return link, "the edge points the other way" if dag[i] >> j & 1 else f"no edge joins {one} and {other}"
    if dag[j] >> i & 1:
        return link, f"{one} is a direct cause of {other} only: no other path leads there"
    return link, f"no directed path leads from {one} to {other}"


@lru_cache(maxsize=1 << 14)
def _link(dag: DAG, i: int, j: int) -> Way | None:
    """Return how two variables are linked, by the nearest link; asked again of every perturbation of a question."""
    ends = directed(dag, i, j) or directed(dag, j, i)
    return ends or _instance(dag, Relation.CONFOUNDER, i, j) or _instance(dag, Relation.COLLIDER, i, j)


def _word(label: int) -> str:
    return "Yes" if label else "No"
