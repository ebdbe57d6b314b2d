"""Simulated annealing over orders of the variables, begun again from what several networks agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import exp
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import DAG, mask_of
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.algorithm import Observations, Score, Scored, mutual_information
from harness.runtime.under_way import STEPS
from harness.types import JSON


@dataclass(frozen=True)
class Ensemble(Scored):
    """After ENSAOBS (Wang et al. 2024, https://doi.org/10.1007/s12559-024-10251-x).

    Written after the paper's abstract; its text and settings are not at hand. From there are: simulated annealing in
    the space of orders, a memory of the best order, an end that depends on the results of the search, and restarts from
    the order changed at random within constraints, which an ensemble of the networks found so far gives. Ours is what
    the abstract leaves open: an order's network has for each variable the best of the listed sets of parents (Teyssier
    and Koller 2005), a constraint is an edge that most networks have, and all sizes.
    """

    candidates: Annotated[int, Field(ge=1, le=20)] = 10
    """A variable's possible parents: those that share most information with it."""
    max_parents: Annotated[int, Field(ge=1)] = 4
    restarts: Annotated[int, Field(ge=0)] = 10
    patience: Annotated[int, Field(ge=1)] = 20
    """So many steps for each variable without a better network end a search."""
    temperature: Annotated[float, Field(gt=0)] = 5.0
    """At the beginning, in units of the score; it falls by a thousandth with each step."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        left_out = ("name", "score", "equivalent_sample_size")
        settings = {name: value for name, value in asdict(self).items() if name not in left_out}
        return {"kind": "ensemble", **settings, **self.score_json}

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed."""
        table = Observations(data, arities)
        families = Families(table, self.score_of(table), self)
        return Pattern.of(self._search(families, np.random.RandomState(seed)))

    def _search(self, families: Families, draw: np.random.RandomState) -> DAG:
        n = families.variables
        best: tuple[float, list[int]] | None = None
        order, ensemble = draw.permutation(n).tolist(), list[DAG]()
        for restart in range(self.restarts + 1):
            STEPS.tell(restart, self.restarts + 1, "searches")
            value, order = self._anneal(families, order, draw)
            ensemble.append(families.network(order))
            if best is None or value > best[0]:
                best = value, order
            order = _perturbed(best[1], ensemble, draw)
        STEPS.end()
        return families.network(best[1] if best else order)

    def _anneal(self, families: Families, order: Sequence[int], draw: np.random.RandomState) -> tuple[float, list[int]]:
        """Return the best order that the search remembers, and its score first."""
        now, n = list(order), families.variables
        value = families.total(now)
        best, since, temperature = (value, now), 0, self.temperature
        while since < self.patience * n and n > 1:
            source, target = draw.randint(0, n, 2).tolist()
            moved = now.copy()
            moved.insert(target, moved.pop(source))
            low, high = min(source, target), max(source, target) + 1
            gain = families.total(moved, low, high) - families.total(now, low, high)
            if gain >= 0 or draw.random_sample() < exp(gain / temperature):
                now, value = moved, value + gain
            since = 0 if value > best[0] + 1e-7 else since + 1
            best = (value, now) if since == 0 else best
            temperature = max(temperature * 0.999, 1e-3)
        return best


class Families:
    """Each variable's listed sets of parents with their scores, best first."""

    def __init__(self, table: Observations, score: Score, settings: Ensemble) -> None:
        self.variables = table.variables
        information, _ = mutual_information(table)
        self._lists: list[list[tuple[float, int]]] = []
        self._known: list[dict[int, tuple[float, int]]] = [{} for _ in range(table.variables)]
        self._candidates: list[int] = []
        for v in range(table.variables):
            others = [u for u in np.argsort(-information[v], kind="stable").tolist() if u != v]
            near = others[: settings.candidates]
            sizes = range(min(settings.max_parents, len(near)) + 1)
            sets = [mask_of(parents) for size in sizes for parents in combinations(near, size)]
            self._lists.append(sorted(((score(v, parents), parents) for parents in sets), reverse=True))
            self._candidates.append(mask_of(near))
            STEPS.tell(v + 1, table.variables, "variables' families scored")
        STEPS.end()

    def total(self, order: Sequence[int], low: int = 0, high: int | None = None) -> float:
        """Return the score of an order's network, or of the variables at the places low … high − 1."""
        earlier, total = mask_of(order[:low]), 0.0
        for v in order[low:high]:
            total += self._best(v, earlier)[0]
            earlier |= 1 << v
        return total

    def network(self, order: Sequence[int]) -> DAG:
        """Return an order's network."""
        parents, earlier = [0] * self.variables, 0
        for v in order:
            parents[v] = self._best(v, earlier)[1]
            earlier |= 1 << v
        return tuple(parents)

    def _best(self, v: int, earlier: int) -> tuple[float, int]:
        possible = earlier & self._candidates[v]
        known = self._known[v]
        if possible not in known:
            known[possible] = next(family for family in self._lists[v] if not family[1] & ~possible)
        return known[possible]


def _perturbed(order: Sequence[int], ensemble: Sequence[DAG], draw: np.random.RandomState) -> list[int]:
    """Return the order after random moves, but for those that turn an edge round that most networks have."""
    n = len(order)
    first = {(u, v) for v in range(n) for u in range(n) if 2 * sum(dag[v] >> u & 1 for dag in ensemble) > len(ensemble)}
    now = list(order)
    for _ in range(n):
        source, target = draw.randint(0, n, 2).tolist()
        moved = now.copy()
        moved.insert(target, moved.pop(source))
        place = {v: k for k, v in enumerate(moved)}
        if all(place[u] < place[v] for u, v in first):
            now = moved
    return now
