"""What the harness asks of a discovery algorithm, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.causal.dag import DAG, bits
from harness.types import JSON, Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pattern:
    """A graph with directed and undirected edges, each pair of nodes joined by at most one: what was learned.

    A DAG is a pattern without undirected edges; PC and BOSS give a pattern for a Markov equivalence class. An edge
    that PC found reasons to direct both ways (↔, a conflict of colliders) is an undirected one here: its direction
    is as unknown. Raises ValueError where masks do not fit together.
    """

    directed: tuple[int, ...]
    """Entry v holds the nodes u with u → v."""
    undirected: tuple[int, ...]
    """Entry v holds the nodes joined to v by an edge without direction."""

    def __post_init__(self) -> None:
        n = len(self.directed)
        if len(self.undirected) != n:
            raise ValueError(f"{n} entries for directed edges, {len(self.undirected)} for undirected ones")
        for v, (above, beside) in enumerate(zip(self.directed, self.undirected, strict=True)):
            if (above | beside) >> n or (above | beside) >> v & 1 or above & beside:
                raise ValueError(f"node {v}: an edge to itself, out of the graph, or two edges to one node")
            if any(self.directed[u] >> v & 1 for u in bits(above | beside)):
                raise ValueError(f"node {v}: a directed edge to a node that another edge joins to it")
            if any(not self.undirected[u] >> v & 1 for u in bits(beside)):
                raise ValueError(f"node {v}: an undirected edge that its other end does not have")

    @classmethod
    def of(cls, dag: DAG) -> Pattern:
        """Return a DAG as a pattern: every edge directed."""
        return cls(dag, (0,) * len(dag))

    def adjacency(self) -> tuple[int, ...]:
        """Return, for each node v, the nodes u with u → v or u – v: an undirected edge counts as both directions.

        This is the rule of the project: an edge without direction is a found adjacency whose direction is unknown.
        It thus differs from a directed edge between the same nodes, and from no edge.
        """
        return tuple(above | beside for above, beside in zip(self.directed, self.undirected, strict=True))


class Identified(Protocol):
    """What the run of an algorithm is told by."""

    @property
    def name(self) -> str:
        """Its row on the leaderboard and its folder under results/."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        """An include-list of everything that can change a result: kind, settings, a library's version."""

    @property
    def role(self) -> Role:
        """What it is, for tables and charts."""

    @property
    def library(self) -> str:
        """The distribution whose version the identity has under its name."""


class Algorithm(Identified, Protocol):
    """Anything that learns a graph from data."""

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the graph over the columns of `data`.

        `data` is rows × variables, each cell a state's code 0 … arity − 1; not every state need occur. The result
        is a function of data, arities and seed. Raises ValueError for data that do not fit the arities, ConfigError
        where a library is missing.
        """
