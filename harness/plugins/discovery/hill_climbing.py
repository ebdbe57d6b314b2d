"""Greedy hill climbing over DAGs (HC), and the empty graph from which it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import DAG, bits, descendants
from harness.causal.learned_graph import Pattern
from harness.codec import uniform
from harness.plugins.discovery.algorithm import Observations, Score, Scored
from harness.types import JSON, Role


@dataclass(frozen=True)
class Empty:
    """Looks at no data and answers No to every question: its SHD is the number of edges of the true graph."""

    name: str

    role: ClassVar[Role] = "baseline"

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "empty graph"}

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the graph without edges."""
        return Pattern.of((0,) * len(arities))


# Gains closer than this are ties: equal in theory, apart by rounding, which differs between machines.
_TIE = 1e-7
_ADD, _DELETE, _REVERSE = range(3)


@dataclass(frozen=True)
class HillClimbing(Scored):
    """Hill climbing from the empty graph to a DAG that no single change improves (Heckerman et al. 1995, §7).

    Of changes that gain alike it makes the first: additions, then deletions, then reversals, each in an order of the
    variables drawn from the seed.
    """

    max_parents: Annotated[int, Field(ge=1)] | None = None
    restarts: Annotated[int, Field(ge=0)] = 0
    """Climbs from the best graph so far, after `perturbations` random changes of it."""
    perturbations: Annotated[int, Field(ge=1)] = 10

    @property
    def identity(self) -> Mapping[str, JSON]:
        identity = self.identity_as("hill climbing")
        if not self.restarts:
            del identity["perturbations"]
        return identity

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed."""
        score = self.score_of(Observations(data, arities))
        best = climb(score, (0,) * len(arities), max_parents=self.max_parents)
        for restart in range(self.restarts):
            start = perturb(score, best, self.perturbations, "restart", seed, restart, max_parents=self.max_parents)
            candidate = climb(score, start, max_parents=self.max_parents)
            if score.total(candidate) > score.total(best) + _TIE:
                best = candidate
        return Pattern.of(best)


def climb(score: Score, start: DAG, *, candidates: Sequence[int] | None = None, max_parents: int | None = None) -> DAG:
    """Return the DAG at which the climb from `start` ends.

    Entry v of `candidates` holds the nodes that may become parents of v: all others, where it is None.
    """
    search = Search(score, start, candidates, max_parents)
    while True:
        gains = search.gains()
        best = gains.max(initial=-np.inf)
        # Twice: a change within a tie of the best must still gain something, or the climb could go in circles.
        if best <= 2 * _TIE:
            return search.dag
        search.make(int(np.argmax(gains >= best - _TIE)))


def perturb(
    score: Score,
    dag: DAG,
    changes: int,
    *draw: object,
    candidates: Sequence[int] | None = None,
    max_parents: int | None = None,
) -> DAG:
    """Return the DAG after random legal changes, each a function of `draw`."""
    search = Search(score, dag, candidates, max_parents)
    for k in range(changes):
        legal = np.flatnonzero(search.gains() > -np.inf)
        if legal.size:
            search.make(int(legal[int(uniform(*draw, k) * legal.size)]))
    return search.dag


class Search:
    """A DAG with the gain of every single change of it, and the legal changes alone."""

    def __init__(self, score: Score, start: DAG, candidates: Sequence[int] | None, max_parents: int | None) -> None:
        n = len(start)
        everything = (1 << n) - 1
        self._score = score
        self._parents = list(start)
        self._candidates = [(everything if candidates is None else candidates[v]) & ~(1 << v) for v in range(n)]
        self._max_parents = n if max_parents is None else max_parents
        # Entry (u, v): by how much v's local score grows if u joins its parents or, being one, leaves them. -∞ where
        # that is not allowed. A change of v's parents changes column v alone.
        self._toggle = np.full((n, n), -np.inf)
        for v in range(n):
            self._refresh(v)

    @property
    def dag(self) -> DAG:
        return tuple(self._parents)

    def gains(self) -> NDArray[np.float64]:
        """Return how much the score grows if u → v is added, deleted or reversed; -∞ if it cannot be.

        The array is change × u × v.
        """
        edge = _matrix(self._parents).T
        path = _matrix(descendants(self.dag))
        # u → w ⇝ v besides u → v: reversed, the edge would close a cycle. Products of floats are the fast ones.
        detour = edge.astype(np.float32) @ path.astype(np.float32) > 0
        gains = np.stack([self._toggle, self._toggle, self._toggle + self._toggle.T])
        gains[_ADD][edge | path.T] = -np.inf
        gains[_DELETE][~edge] = -np.inf
        gains[_REVERSE][~edge | detour] = -np.inf
        return gains

    def make(self, change: int) -> None:
        """Make the change with this index in the flattened `gains`."""
        n = len(self._parents)
        kind, u, v = change // (n * n), change // n % n, change % n
        self._parents[v] ^= 1 << u
        self._refresh(v)
        if kind == _REVERSE:
            self._parents[u] ^= 1 << v
            self._refresh(u)

    def _refresh(self, v: int) -> None:
        here = self._parents[v]
        now = self._score(v, here)
        may_grow = here.bit_count() < self._max_parents
        self._toggle[:, v] = -np.inf
        for u in bits(here | self._candidates[v] if may_grow else here):
            self._toggle[u, v] = self._score(v, here ^ 1 << u) - now


def _matrix(sets: Sequence[int]) -> NDArray[np.bool_]:
    """Return sets of nodes as a square matrix: row v, column u says whether u is in the v-th set."""
    matrix = np.zeros((len(sets), len(sets)), dtype=bool)
    for v, members in enumerate(sets):
        matrix[v, list(bits(members))] = True
    return matrix
