"""How strongly each variable of a network acts on each of its effects, from the network's own tables.

The strength of X on Y is the largest total variation between P(Y | do x) and P(Y | do x') over all pairs of states: 0
where forcing X leaves Y as it is, 1 where it decides Y. The measure is this project's: CausalBench's Appendix F has
none.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from harness.causal.dag import bits
from harness.tasks.causalbench.networks import edges, load, tables

Side = Literal["cause", "effect"]
"""What is asked about a variable: to rank its causes, or its effects."""
COLUMNS = ("network", "cause", "effect", "strength", "error")
_DRAWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Strength:
    """Of one cause on one effect."""

    value: float
    error: float = 0.0
    """A standard error, where it was drawn; 0 where it is exact."""


@dataclass(frozen=True)
class Truth:
    """What is true of one network, by names of variables."""

    direct: frozenset[tuple[str, str]]
    """The edges: (cause, effect)."""
    strengths: Mapping[tuple[str, str], Strength]
    """Of every pair that a directed path joins: (cause, effect)."""

    def others(self, variable: str, side: Side) -> dict[str, float]:
        """Return the causes (or effects) of a variable, direct or not, each with its strength."""
        own, other = (1, 0) if side == "cause" else (0, 1)
        return {pair[other]: found.value for pair, found in self.strengths.items() if pair[own] == variable}

    def neighbours(self, variable: str, side: Side) -> frozenset[str]:
        """Return the direct causes (or effects) of a variable."""
        own, other = (1, 0) if side == "cause" else (0, 1)
        return frozenset(pair[other] for pair in self.direct if pair[own] == variable)


@cache
def truth(network: str) -> Truth:
    """Return what is true of a network, read from the file that ships (benchmarks/strengths.py makes it)."""
    strengths = {
        (line["cause"], line["effect"]): Strength(float(line["strength"]), float(line["error"]))
        for line in csv.DictReader(_text().splitlines())
        if line["network"] == network
    }
    return Truth(frozenset(edges(load(network))), strengths)


def measured(name: str) -> Iterator[tuple[str, str, Strength]]:
    """Yield (cause, effect, strength) of every pair that a directed path joins, computed from the tables.

    Exactly by variable elimination; where that would need more than 256 MB, from a million observations for each state
    of the cause, drawn with seed 0.
    """
    from harness.causal.interventions import interventional, sampled, strength

    network, distributions = load(name), tables(name)
    parents = network.parent_order
    for cause, cause_name in enumerate(network.variables):
        for effect in _descendants(network.dag, cause):
            exact = interventional(distributions, parents, cause, effect)
            distribution, error = (
                (exact, 0.0)
                if exact is not None
                else sampled(distributions, parents, cause, effect, draws=_DRAWS, seed=0)
            )
            yield cause_name, network.variables[effect], Strength(strength(distribution), error)


def digest() -> str:
    """Return the SHA-256 of the file that ships: a part of every manifest."""
    return hashlib.sha256(_text().encode()).hexdigest()


@cache
def _text() -> str:
    file = resources.files("harness") / "data" / "causalbench" / "strengths.csv"
    return file.read_text(encoding="utf-8")


def _descendants(dag: tuple[int, ...], start: int) -> list[int]:
    """Return the variables that a directed path from `start` reaches, in their order."""
    reached = {start}
    while more := {k for k, above in enumerate(dag) if k not in reached and reached & set(bits(above))}:
        reached |= more
    return sorted(reached - {start})
