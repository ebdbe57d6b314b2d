"""What independences among observed variables say of causes where some variables are hidden.

A system has n observed variables and at most h hidden ones; its graph is any DAG over all of them. What can be seen of
it are the independences among the observed given the observed (m-separation in the projected graph; d-separation in
the graph itself, which comes to the same). A claim about two observed variables follows from them iff it is true in
*every* such graph that has exactly these independences. Hidden variables count like all others in every relation but
one: a cause is direct if a directed path leads from it on which no other *observed* variable lies, as no statistics of
the observed tell a hidden link of a chain from an edge.

Not all graphs have to be looked at: each hidden variable can be made a root, its parents joined to its children (Evans
2016, "Graphs for Margins of Bayesian Networks"). That changes no independence of the observed, needs no more hidden
variables, and makes no relation true that was not. One with fewer than two children, or with no child that another one
lacks, can then be left out. So what holds wherever hidden variables are such roots holds everywhere. Over five observed
variables that takes minutes, so that those classes ship (`make latent`).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations, permutations

from harness.causal.dag import DAG, bits, from_integer, mask_of, relabel
from harness.causal.relations import Holds, Relation, common_relations
from harness.causal.separation import Independence, conditioning_sets, d_connected

MOST_OBSERVED, MOST_HIDDEN = 5, 2
"""Up to here all graphs are looked at."""
FILE = "latent_classes.csv"
"""The classes of five observed variables: hidden ones, those needed, and two numbers in hexadecimal digits. Bit k of
the first is statement k of `_statements`; the second has the rows of `holds`, a byte each, relation by relation."""

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


def observed_independences(dag: DAG, observed: int) -> Independences:
    """Return the independences among the first `observed` nodes of a DAG, given sets of these."""
    connected = [d_connected(dag, i, range(1 << observed)) for i in range(observed - 1)]
    return frozenset(
        (i, j, given) for i, j, given in _statements(observed) if not connected[i][j] >> mask_of(given) & 1
    )


@cache
def _statements(observed: int) -> tuple[Independence, ...]:
    """Return every independence that can be stated of some variables, in lexicographic order."""
    pairs = combinations(range(observed), 2)
    return tuple((i, j, given) for i, j in pairs for given in conditioning_sets(observed, i, j))


@cache
def latent_classes(observed: int, hidden: int) -> Mapping[Independences, LatentClass]:
    """Return every class up to the names of the observed variables, by the independences of its representative.

    Raises ValueError beyond five observed or two hidden variables: there all graphs would take too long.
    """
    if not (2 <= observed <= MOST_OBSERVED and 0 <= hidden <= MOST_HIDDEN):
        raise ValueError(f"{observed} observed and {hidden} hidden variables")
    if observed < MOST_OBSERVED:
        return computed(observed, hidden)
    lines = (resources.files(__package__) / "data" / FILE).read_text(encoding="utf-8").splitlines()
    shipped = [_class_of_row(row) for row in csv.reader(lines) if row[0] == str(hidden)]
    return {latent_class.independences: latent_class for latent_class in shipped}


def rows(hidden: int, classes: Mapping[Independences, LatentClass]) -> Iterator[tuple[str, ...]]:
    """Yield the line of each class in the file that ships."""
    for latent_class in classes.values():
        stated = mask_of(
            k
            for k, statement in enumerate(_statements(latent_class.observed))
            if statement in latent_class.independences
        )
        holds = bytes(row for relation in Relation for row in latent_class.holds[relation])
        yield str(hidden), str(latent_class.hidden_needed), f"{stated:x}", holds.hex()


def _class_of_row(row: Sequence[str]) -> LatentClass:
    _, needed, stated, holds = row
    statements = _statements(MOST_OBSERVED)
    masks = iter(bytes.fromhex(holds))
    return LatentClass(
        MOST_OBSERVED,
        frozenset(statements[k] for k in bits(int(stated, 16))),
        {relation: tuple(next(masks) for _ in range(MOST_OBSERVED)) for relation in Relation},
        int(needed),
    )


def computed(observed: int, hidden: int) -> Mapping[Independences, LatentClass]:
    """Return every class as `latent_classes` does, by looking at every graph."""
    graphs: dict[Independences, list[DAG]] = defaultdict(list)
    needed: dict[Independences, int] = {}
    for dag in _graphs(observed, hidden):
        representative, numberings = representative_of(observed, observed_independences(dag, observed))
        rest = tuple(range(observed, observed + hidden))
        graphs[representative] += [relabel(dag, (*numbering, *rest)) for numbering in numberings]
        used = len(dag) - observed - sum(not any(above >> v & 1 for above in dag) for v in rest)
        needed[representative] = min(used, needed.get(representative, hidden))
    return {
        key: LatentClass(observed, key, _among(observed, common_relations(graphs[key])), needed[key])
        for key in sorted(graphs, key=lambda key: (-len(key), sorted(key)))
    }


@cache
def representative_of(observed: int, statements: Independences) -> tuple[Independences, tuple[tuple[int, ...], ...]]:
    """Return the statements under the numbering that makes them least, and all numberings that do.

    Entry v of a numbering is what node v is called in the representative.
    """
    every, moves = _statements(observed), _moves(observed)
    stated = [k for k, statement in enumerate(every) if statement in statements]
    by_numbering = {numbering: sorted([move[k] for k in stated]) for numbering, move in moves.items()}
    least = min(by_numbering.values())
    numberings = tuple(numbering for numbering, other in by_numbering.items() if other == least)
    return frozenset(every[k] for k in least), numberings


@cache
def _moves(observed: int) -> Mapping[tuple[int, ...], Sequence[int]]:
    """Return for each numbering which statement each one of `_statements` becomes."""
    every = _statements(observed)
    place = {statement: k for k, statement in enumerate(every)}
    return {
        numbering: [place[moved] for statement in every for moved in renumbered(frozenset([statement]), numbering)]
        for numbering in permutations(range(observed))
    }


def renumbered(statements: Independences, numbering: Sequence[int]) -> Independences:
    return frozenset(
        (
            min(numbering[i], numbering[j]),
            max(numbering[i], numbering[j]),
            tuple(sorted(numbering[k] for k in given)),
        )
        for i, j, given in statements
    )


def holds_in_every_graph(
    observed: int, hidden: int, statements: Independences, relation: Relation, i: int, j: int
) -> bool | None:
    """Test whether a relation of observed i and j holds in every graph; None where no graph has these independences."""
    representative, numberings = representative_of(observed, statements)
    latent_class = latent_classes(observed, hidden).get(representative)
    if latent_class is None:
        return None
    return bool(latent_class.holds[relation][numberings[0][i]] >> numberings[0][j] & 1)


def _graphs(observed: int, hidden: int) -> Iterator[DAG]:
    """Yield every graph whose hidden variables, numbered last, are roots, up to the names of the observed ones.

    Hidden variables that are not needed have no children; none has its children among another's.
    """
    families = [family for family in range(1 << observed) if family.bit_count() > 1]
    chosen = [
        sets
        for size in range(hidden + 1)
        for sets in combinations(families, size)
        if not any(a & b in (a, b) for a, b in combinations(sets, 2))
    ]
    for number in range(1 << observed * (observed - 1) // 2):
        for sets in chosen:
            dag = [*from_integer(observed, number), *[0] * hidden]
            for root, family in enumerate(sets, observed):
                for v in range(observed):
                    dag[v] |= (family >> v & 1) << root
            yield tuple(dag)


def _among(observed: int, holds: Holds) -> Holds:
    """Return what holds among the observed variables alone: hidden ones may stand between, but are not asked about."""
    mask = (1 << observed) - 1
    return {relation: tuple(row & mask for row in rows[:observed]) for relation, rows in holds.items()}
