"""Patterns of Markov equivalence classes, and how far a learned one lies from the class of the true graph."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG, bits, children, mask_of
from harness.causal.equivalence import extend
from harness.causal.learned_graph import Pattern


def cpdag(dag: DAG) -> Pattern:
    """Return the completed pattern of a DAG's class: an edge is directed iff all members direct it alike.

    The edges of v-structures, and what follows from them by Meek's rules 1 to 3 (Meek 1995, "Causal inference and
    causal explanation with background knowledge"; his fourth rule needs directions that come from elsewhere).
    """
    n = len(dag)
    adjacent = [above | below for above, below in zip(dag, children(dag), strict=True)]
    into = [mask_of(u for u in bits(above) if above & ~adjacent[u] & ~(1 << u)) for above in dag]
    changed = True
    while changed:
        changed = False
        for v in range(n):
            for u in bits(dag[v] & ~into[v]):
                if _forced(u, v, adjacent, into):
                    into[v] |= 1 << u
                    changed = True
    undirected = [0] * n
    for v in range(n):
        for u in bits(dag[v] & ~into[v]):
            undirected[v] |= 1 << u
            undirected[u] |= 1 << v
    return Pattern(tuple(into), tuple(undirected))


def _forced(u: int, v: int, adjacent: list[int], into: list[int]) -> bool:
    """Test whether one of Meek's rules directs u – v as u → v."""
    if into[u] & ~adjacent[v]:  # 1: w → u, and w is not adjacent to v
        return True
    if any(into[w] >> u & 1 for w in bits(into[v])):  # 2: u → w → v
        return True
    # 3: u – w → v and u – x → v, with w and x not adjacent
    between = mask_of(w for w in bits(into[v] & adjacent[u]) if not into[u] >> w & 1 and not into[w] >> u & 1)
    return any(between & ~adjacent[w] & ~(1 << w) for w in bits(between))


def dag_in(pattern: Pattern) -> DAG | None:
    """Return a DAG with the edges of a pattern, its directions, and no v-structure that it lacks; None without one."""
    adjacent = [
        above | below | beside
        for above, below, beside in zip(pattern.directed, children(pattern.directed), pattern.undirected, strict=True)
    ]
    return extend(adjacent, list(pattern.directed))


def read(file: Path) -> Pattern | None:
    """Return the learned graph that a run left as answers to "directly causes"; None where some are missing."""
    if not file.is_file():
        return None
    with file.open(encoding="utf-8", newline="") as lines:
        answers = [row[1:] for row in csv.reader(lines)][1:]
    if any(cell not in ("0", "1") for row in answers for cell in row):
        return None
    edges = np.array(answers) == "1"
    parts = (edges & ~edges.T, edges & edges.T)
    return Pattern(*(tuple(mask_of(np.flatnonzero(column).tolist()) for column in part.T) for part in parts))


def codes(pattern: Pattern) -> NDArray[np.int8]:
    """Return the n×n matrix of a pattern: 1 in row u and column v for u → v, 2 both ways for u – v. gadjid's codes."""
    matrix = np.zeros((len(pattern.directed),) * 2, dtype=np.int8)
    for code, masks in ((1, pattern.directed), (2, pattern.undirected)):
        for v, mask in enumerate(masks):
            matrix[list(bits(mask)), v] = code
    return matrix


def distances(true: DAG, learned: Pattern) -> Mapping[str, int | None]:
    """Return how far the class of a learned pattern lies from the true graph's: what data cannot tell is no error.

    `class_shd` counts the pairs whose edge differs between the two completed patterns (Tsamardinos, Brown and Aliferis
    2006). `parent_aid` counts the ordered pairs whose effect the graph would have estimated wrongly with the parents as
    adjustment set (Henckel, Würtzen and Weichwald 2024). None for a pattern that is no class's, as PC's can be
    where its tests contradict each other.
    """
    import gadjid

    member = dag_in(learned)
    if member is None:
        return {"class_shd": None, "parent_aid": None}
    pair = codes(cpdag(true)), codes(cpdag(member))
    aid = gadjid.parent_aid(*pair, edge_direction="from row to column")
    return {"class_shd": int(gadjid.shd(*pair)[1]), "parent_aid": int(aid[1])}
