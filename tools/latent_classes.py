"""The classes of graphs with hidden variables that packages/papers ships, made once more by looking at every graph.

python tools/latent_classes.py writes packages/papers/harness_papers/data/latent_classes.csv, in a few minutes; it needs
the package papers.

Not all graphs have to be looked at: each hidden variable can be made a root, its parents joined to its children (Evans
2016, "Graphs for Margins of Bayesian Networks"). That changes no independence of the observed, needs no more hidden
variables, and makes no relation true that was not. One with fewer than two children, or with no child that another one
lacks, can then be left out. So what holds wherever hidden variables are such roots holds everywhere.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from harness_papers.latent_classes import (
    COLUMNS,
    FILE,
    MOST_HIDDEN,
    MOST_OBSERVED,
    Independences,
    LatentClass,
    representative_of,
    statements,
)

from harness.causal.dag import DAG, from_integer, mask_of, relabel
from harness.causal.relations import Holds, Relation, common_relations
from harness.causal.separation import d_connected


def computed(observed: int, hidden: int) -> Mapping[Independences, LatentClass]:
    """Return every class as `latent_classes` does, by looking at every graph."""
    graphs: dict[Independences, list[DAG]] = defaultdict(list)
    needed: dict[Independences, int] = {}
    for dag in every_graph(observed, hidden):
        representative, numberings = representative_of(observed, observed_independences(dag, observed))
        rest = tuple(range(observed, observed + hidden))
        graphs[representative] += [relabel(dag, (*numbering, *rest)) for numbering in numberings]
        used = len(dag) - observed - sum(not any(above >> v & 1 for above in dag) for v in rest)
        needed[representative] = min(used, needed.get(representative, hidden))
    return {
        key: LatentClass(observed, key, _among(observed, common_relations(graphs[key])), needed[key])
        for key in sorted(graphs, key=lambda key: (-len(key), sorted(key)))
    }


def every_graph(observed: int, hidden: int) -> Iterator[DAG]:
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


def observed_independences(dag: DAG, observed: int) -> Independences:
    """Return the independences among the first `observed` nodes of a DAG, given sets of these."""
    connected = [d_connected(dag, i, range(1 << observed)) for i in range(observed - 1)]
    return frozenset((i, j, given) for i, j, given in statements(observed) if not connected[i][j] >> mask_of(given) & 1)


def _among(observed: int, holds: Holds) -> Holds:
    """Return what holds among the observed variables alone: hidden ones may stand between, but are not asked about."""
    mask = (1 << observed) - 1
    return {relation: tuple(row & mask for row in rows[:observed]) for relation, rows in holds.items()}


def lines(observed: int, hidden: int) -> Iterator[tuple[str, ...]]:
    """Yield the line of each class in the file."""
    for latent_class in computed(observed, hidden).values():
        stated = mask_of(k for k, each in enumerate(statements(observed)) if each in latent_class.independences)
        holds = bytes(row for relation in Relation for row in latent_class.holds[relation])
        yield str(observed), str(hidden), str(latent_class.hidden_needed), f"{stated:x}", holds.hex()


if __name__ == "__main__":
    with FILE.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(COLUMNS)
        for size in range(2, MOST_OBSERVED + 1):
            for limit in range(MOST_HIDDEN + 1):
                for line in lines(size, limit):
                    write(line)
