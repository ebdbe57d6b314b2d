"""Stochastic searches for the best-scoring network: a genetic algorithm, and simulated annealing over orders.

Both are written after the abstracts of papers whose text and settings are not at hand; each class says what is taken
from there and what is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import DAG, mask_of
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.algorithm import Observations, Score, Scored, dependent, mutual_information
from harness.runtime.under_way import STEPS
from harness.types import JSON

Genes = NDArray[np.int8]
"""By pair of variables x < y: 0 no edge, 1 x → y, 2 y → x."""


@dataclass(frozen=True)
class Genetic(Scored):
    """After MIGA (Yan et al. 2023, "Mutual Information-Guided GA for Bayesian Network Structure Learning").

    From the abstract are: a first population within
    constraints of mutual information, a crossover that keeps a gene the likelier, the more of the population have it
    (its support) and the better it fits the normalized mutual information of its pair, and the edge of least mutual
    information taken out of each loop. Ours is everything that the abstract leaves open: the constraint (a G² test of
    each pair), sizes and rates, tournaments of two, and that the best of parents and children live on.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level of the tests that a pair must pass to get an edge."""
    population: Annotated[int, Field(ge=2)] = 60
    generations: Annotated[int, Field(ge=1)] = 200
    """Generations at most."""
    patience: Annotated[int, Field(ge=1)] = 30
    """Generations without a better network that end the search."""
    mutations: Annotated[float, Field(ge=0)] = 2.0
    """Genes of a child that change, on average."""
    max_parents: Annotated[int, Field(ge=1)] = 5

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("genetic")

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed."""
        table = Observations(data, arities)
        return Pattern.of(_Search(table, self.score_of(table), self, np.random.RandomState(seed)).best())


class _Search:
    """A population of networks over the pairs that pass the test, and the steps to the next population."""

    def __init__(self, table: Observations, score: Score, settings: Genetic, draw: np.random.RandomState) -> None:
        information, normalized = mutual_information(table)
        first, second = np.nonzero(np.triu(dependent(table, information, settings.alpha)))
        self._pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        self._information, self._normalized = information[first, second], normalized[first, second]
        self._variables, self._score, self._settings, self._draw = table.variables, score, settings, draw

    def best(self) -> DAG:
        """Return the best network when the search ends."""
        settings = self._settings
        if not self._pairs:
            return (0,) * self._variables
        population = [self._repaired(self._first()) for _ in range(settings.population)]
        values = np.array([self._score.total(self._dag(genes)) for genes in population])
        since = 0
        for generation in range(settings.generations):
            STEPS.tell(generation, settings.generations, "generations at most")
            everyone = population + self._children(population, values)
            every_value = [*values, *(self._score.total(self._dag(genes)) for genes in everyone[len(population) :])]
            living = self._living(everyone, every_value)
            since = 0 if every_value[living[0]] > values.max() + 1e-7 else since + 1
            population, values = [everyone[k] for k in living], np.array([every_value[k] for k in living])
            if since >= settings.patience:
                break
        STEPS.end()
        return self._dag(population[0])

    def _first(self) -> Genes:
        """Return an individual of the first population: an edge is the likelier, the more information a pair shares."""
        likely = np.sqrt(self._normalized / self._normalized.max())
        edges = self._draw.random_sample(len(likely)) < likely
        genes: Genes = (edges * self._draw.randint(1, 3, len(likely))).astype(np.int8)
        return genes

    def _children(self, population: Sequence[Genes], values: NDArray[np.float64]) -> list[Genes]:
        genes = np.array(population)
        support = np.stack([(genes == kind).mean(axis=0) for kind in range(3)])
        children = []
        for _ in population:
            mother, father = (population[self._winner(values)] for _ in range(2))
            child = self._crossed(mother, father, support)
            change = self._draw.random_sample(len(child)) < self._settings.mutations / len(child)
            child[change] = (child[change] + self._draw.randint(1, 3, int(change.sum()))) % 3
            children.append(self._repaired(child))
        return children

    def _crossed(self, mother: Genes, father: Genes, support: NDArray[np.float64]) -> Genes:
        """Return a child: of each pair the mother's gene with a probability that grows with its weight."""
        places = np.arange(len(mother))
        weights = [
            support[genes, places] * np.where(genes > 0, self._normalized, 1 - self._normalized) + 1e-9
            for genes in (mother, father)
        ]
        mothers = self._draw.random_sample(len(mother)) < weights[0] / (weights[0] + weights[1])
        child: Genes = np.where(mothers, mother, father)
        return child

    def _winner(self, values: NDArray[np.float64]) -> int:
        a, b = self._draw.randint(0, len(values), 2)
        return int(a if values[a] >= values[b] else b)

    def _living(self, everyone: Sequence[Genes], values: Sequence[float]) -> list[int]:
        """Return the survivors, best first; of equal individuals one, as long as there are enough others."""
        order = sorted(range(len(everyone)), key=lambda k: -values[k])
        firsts = list({everyone[k].tobytes(): k for k in reversed(order)}.values())[::-1]
        others = [k for k in order if k not in set(firsts)]
        return [*firsts, *others][: self._settings.population]

    def _repaired(self, genes: Genes) -> Genes:
        """Return the genes without the edges that close a loop of stronger ones, or are one parent too many.

        Edges are taken in the order of their information, so that of each loop the weakest edge is left out.
        """
        above = [1 << v for v in range(self._variables)]
        """Of each variable, itself and its ancestors."""
        parents = [0] * self._variables
        genes = genes.copy()
        for place in np.argsort(-self._information, kind="stable").tolist():
            if not genes[place]:
                continue
            x, y = self._pairs[place] if genes[place] == 1 else self._pairs[place][::-1]
            if above[x] >> y & 1 or parents[y] >= self._settings.max_parents:
                genes[place] = 0
                continue
            parents[y] += 1
            above = [ancestors | above[x] if ancestors >> y & 1 else ancestors for ancestors in above]
        return genes

    def _dag(self, genes: Genes) -> DAG:
        parents: list[list[int]] = [[] for _ in range(self._variables)]
        for place in np.flatnonzero(genes).tolist():
            x, y = self._pairs[place] if genes[place] == 1 else self._pairs[place][::-1]
            parents[y].append(x)
        return tuple(map(mask_of, parents))


@dataclass(frozen=True)
class Ensemble(Scored):
    """After ENSAOBS (Wang et al. 2024, https://doi.org/10.1007/s12559-024-10251-x).

    From the abstract are: simulated annealing in
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
    """Steps for each variable, without a better network, that end a search."""
    temperature: Annotated[float, Field(gt=0)] = 5.0
    """At the beginning, in units of the score; it falls by a thousandth with each step."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        return self.identity_as("ensemble")

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
            moved = _moved(now, source, target)
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
    """Return the order after random moves, without those that reverse an edge most networks have."""
    n = len(order)
    first = {(u, v) for v in range(n) for u in range(n) if 2 * sum(dag[v] >> u & 1 for dag in ensemble) > len(ensemble)}
    now = list(order)
    for _ in range(n):
        source, target = draw.randint(0, n, 2).tolist()
        moved = _moved(now, source, target)
        place = {v: k for k, v in enumerate(moved)}
        if all(place[u] < place[v] for u, v in first):
            now = moved
    return now


def _moved(order: Sequence[int], source: int, target: int) -> list[int]:
    moved = list(order)
    moved.insert(target, moved.pop(source))
    return moved
