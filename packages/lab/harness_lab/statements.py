"""Statements about a causal graph: which of them a Markov equivalence class entails, refutes or leaves open.

A premise that lists all independences determines its class, so that each statement is settled by the class's members.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from harness.causal.dag import DAG, descendants
from harness.causal.equivalence import members
from harness.causal.separation import Independence, conditioning_sets, independences

Verdict = Literal["entailed", "refuted", "open"]


class Kind(StrEnum):
    """What a statement says of its nodes in one DAG.

    - adjacent (i, j): an edge joins them.
    - independent (i, j): they are d-separated by `condition`.
    - collider (i, m, j): i → m ← j, whether or not i and j are adjacent.
    - parent (i, j): the edge i → j is there.
    - cause (i, j): a directed path of one or more edges leads from i to j.
    """

    ADJACENT = "adjacent"
    INDEPENDENT = "independent"
    COLLIDER = "collider"
    PARENT = "parent"
    CAUSE = "cause"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or its denial, or that it is open; equal for all that mean the same. `of` puts nodes in order."""

    kind: Kind
    nodes: tuple[int, ...]
    condition: tuple[int, ...] = ()
    """Of an independence, sorted."""
    denied: bool = False
    open: bool = False
    """It says that the class leaves the rest of it open: it holds in some members and not in others."""

    @classmethod
    def of(
        cls,
        kind: Kind,
        nodes: Iterable[int],
        condition: Iterable[int] = (),
        *,
        denied: bool = False,
        open: bool = False,
    ) -> Statement:
        """Return the statement with its nodes in order. Raises ValueError where one stands in it twice."""
        ends, others = tuple(nodes), tuple(sorted(set(condition)))
        if len({*ends, *others}) < len(ends) + len(others):
            raise ValueError("a statement names one variable twice")
        if kind in (Kind.ADJACENT, Kind.INDEPENDENT, Kind.COLLIDER) and ends[0] > ends[-1]:
            ends = ends[::-1]
        return cls(kind, ends, others, denied and not open, open)

    @property
    def plain(self) -> Statement:
        """What is denied, or said to be open."""
        return replace(self, denied=False, open=False)


@dataclass(frozen=True)
class GraphClass:
    """A Markov equivalence class, by its independences and all of its members."""

    n: int
    separations: frozenset[Independence]
    graphs: tuple[DAG, ...]
    below: tuple[tuple[int, ...], ...] = field(repr=False)
    """The descendants of each node, by member."""

    def verdict(self, statement: Statement) -> Verdict:
        """Return whether the statement holds in all members, in none, or in some."""
        holding = self._holding(statement.plain)
        verdict: Verdict = "entailed" if holding == len(self.graphs) else "open" if holding else "refuted"
        if statement.open:
            return "entailed" if verdict == "open" else "refuted"
        opposite: dict[Verdict, Verdict] = {"entailed": "refuted", "refuted": "entailed", "open": "open"}
        return opposite[verdict] if statement.denied else verdict

    def _holding(self, statement: Statement) -> int:
        """Return in how many members a plain statement holds."""
        kind, i, j = statement.kind, statement.nodes[0], statement.nodes[-1]
        if kind is Kind.INDEPENDENT:  # as that of adjacency, the same in all members
            return len(self.graphs) * ((i, j, statement.condition) in self.separations)
        if kind is Kind.CAUSE:
            return sum(reach[i] >> j & 1 for reach in self.below)
        if kind is Kind.PARENT:
            return sum(dag[j] >> i & 1 for dag in self.graphs)
        if kind is Kind.ADJACENT:
            return sum((dag[j] >> i | dag[i] >> j) & 1 for dag in self.graphs)
        into = statement.nodes[1]
        return sum(dag[into] >> i & dag[into] >> j & 1 for dag in self.graphs)


@lru_cache(maxsize=1024)
def class_of(dag: DAG) -> GraphClass:
    """Return the class of a DAG."""
    graphs = tuple(members(dag))
    return GraphClass(len(dag), frozenset(independences(dag)), graphs, tuple(map(descendants, graphs)))


@dataclass(frozen=True, slots=True)
class PairSentences:
    """All that a complete list says of one pair: under which conditions it is independent; under no others."""

    i: int
    j: int
    separating: frozenset[tuple[int, ...]]
    others: tuple[int, ...]
    """The nodes beside the two."""

    @classmethod
    def of(cls, n: int, separations: Iterable[Independence], i: int, j: int) -> PairSentences:
        """Return what a list of independences says of nodes i and j."""
        i, j = sorted((i, j))
        stated = set(separations)
        others = tuple(k for k in range(n) if k not in (i, j))
        return cls(i, j, frozenset(c for c in conditioning_sets(n, i, j) if (i, j, c) in stated), others)

    @property
    def sides(self) -> tuple[frozenset[int], frozenset[int]]:
        """The nodes that stand in some separating set, and those that some separating set leaves out."""
        inside = frozenset(node for condition in self.separating for node in condition)
        return inside, frozenset(m for m in self.others if any(m not in condition for condition in self.separating))
