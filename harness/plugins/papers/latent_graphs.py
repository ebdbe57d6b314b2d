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
lacks, can then be left out. So what holds wherever hidden variables are such roots holds everywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

from harness.causal.dag import DAG, from_integer, relabel
from harness.causal.relations import Holds, Relation, common_relations
from harness.causal.separation import Independence, independences

MOST_OBSERVED, MOST_HIDDEN = 4, 2
"""Up to here all graphs are looked at."""

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
    return frozenset(
        (i, j, given) for i, j, given in independences(dag) if j < observed and (not given or given[-1] < observed)
    )


@cache
def latent_classes(observed: int, hidden: int) -> Mapping[Independences, LatentClass]:
    """Return every class up to the names of the observed variables, by the independences of its representative.

    Raises ValueError beyond four observed or two hidden variables: there all graphs would take too long.
    """
    if not (2 <= observed <= MOST_OBSERVED and 0 <= hidden <= MOST_HIDDEN):
        raise ValueError(f"{observed} observed and {hidden} hidden variables")
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
    by_numbering = {numbering: renumbered(statements, numbering) for numbering in permutations(range(observed))}
    least = min(map(sorted, by_numbering.values()))
    numberings = tuple(numbering for numbering, other in by_numbering.items() if sorted(other) == least)
    return by_numbering[numberings[0]], numberings


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
