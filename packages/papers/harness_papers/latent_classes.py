"""What independences among observed variables say of causes where some variables are hidden: the classes that ship.

A system has n observed variables and at most h hidden ones; its graph is any DAG over all of them. What can be seen of
it are the independences among the observed given the observed. A claim about two observed variables follows from them
iff it is true in *every* such graph that has exactly these independences. Hidden variables count like all others in
every relation but one: a cause is direct if a directed path leads from it on which no other *observed* variable lies,
as no statistics of the observed tell a hidden link of a chain from an edge. `tools/latent_classes.py` looks at the
graphs.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from pathlib import Path

from harness.causal.dag import bits
from harness.causal.relations import Holds, Relation
from harness.causal.separation import Independence, conditioning_sets

MOST_OBSERVED, MOST_HIDDEN = 5, 2
"""Up to here all graphs have been looked at."""
FILE = Path(__file__).parent / "data" / "latent_classes.csv"
"""The last two columns are in hexadecimal digits: bit k of the first is statement k of `statements`; the second has the
rows of `holds`, a byte each, relation by relation."""
COLUMNS = ("observed", "hidden", "needed", "independences", "holds")

Independences = frozenset[Independence]


@dataclass(frozen=True)
class LatentClass:
    """All graphs with the same observed independences, for one number of observed and one limit of hidden ones."""

    observed: int
    independences: Independences
    """Of the representative: of all ways to number the observed variables the one whose sorted list is the least."""
    holds: Holds
    """What is true of two observed variables in every graph of the class."""
    hidden_needed: int
    """The hidden variables of the smallest graph in the class; 0 where a graph of the observed alone is in it."""


@cache
def statements(observed: int) -> tuple[Independence, ...]:
    """Return every independence that can be stated of some variables, in lexicographic order."""
    pairs = combinations(range(observed), 2)
    return tuple((i, j, given) for i, j in pairs for given in conditioning_sets(observed, i, j))


@cache
def latent_classes(observed: int, hidden: int) -> Mapping[Independences, LatentClass]:
    """Return every class up to the names of the observed variables, by the independences of its representative.

    Raises ValueError beyond five observed or two hidden variables.
    """
    if not (2 <= observed <= MOST_OBSERVED and 0 <= hidden <= MOST_HIDDEN):
        raise ValueError(f"{observed} observed and {hidden} hidden variables")
    lines = csv.DictReader(FILE.read_text(encoding="utf-8").splitlines())
    classes = [_class(line) for line in lines if (line["observed"], line["hidden"]) == (str(observed), str(hidden))]
    return {latent_class.independences: latent_class for latent_class in classes}


def _class(line: Mapping[str, str]) -> LatentClass:
    observed = int(line["observed"])
    every, masks = statements(observed), iter(bytes.fromhex(line["holds"]))
    return LatentClass(
        observed,
        frozenset(every[k] for k in bits(int(line["independences"], 16))),
        {relation: tuple(next(masks) for _ in range(observed)) for relation in Relation},
        int(line["needed"]),
    )


@cache
def representative_of(observed: int, stated: Independences) -> tuple[Independences, tuple[tuple[int, ...], ...]]:
    """Return the statements under the numbering that makes them least, and all numberings that do.

    Entry v of a numbering is what node v is called in the representative.
    """
    every, moves = statements(observed), _moves(observed)
    places = [k for k, statement in enumerate(every) if statement in stated]
    by_numbering = {numbering: sorted([move[k] for k in places]) for numbering, move in moves.items()}
    least = min(by_numbering.values())
    numberings = tuple(numbering for numbering, other in by_numbering.items() if other == least)
    return frozenset(every[k] for k in least), numberings


@cache
def _moves(observed: int) -> Mapping[tuple[int, ...], Sequence[int]]:
    """Return for each numbering which statement each one of `statements` becomes."""
    every = statements(observed)
    place = {statement: k for k, statement in enumerate(every)}
    return {
        numbering: [place[moved] for statement in every for moved in renumbered(frozenset([statement]), numbering)]
        for numbering in permutations(range(observed))
    }


def renumbered(stated: Independences, numbering: Sequence[int]) -> Independences:
    return frozenset(
        (
            min(numbering[i], numbering[j]),
            max(numbering[i], numbering[j]),
            tuple(sorted(numbering[k] for k in given)),
        )
        for i, j, given in stated
    )


def holds_in_every_graph(
    observed: int, hidden: int, stated: Independences, relation: Relation, i: int, j: int
) -> bool | None:
    """Test whether a relation of observed i and j holds in every graph; None where no graph has these independences."""
    representative, numberings = representative_of(observed, stated)
    latent_class = latent_classes(observed, hidden).get(representative)
    if latent_class is None:
        return None
    return bool(latent_class.holds[relation][numberings[0][i]] >> numberings[0][j] & 1)
