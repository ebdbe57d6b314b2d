"""How far a predicted graph lies from the true one, in the literature's terms and in CausalBench's.

`exact` numbers (`shd`, `skeleton_shd`, `density`, `sid`, …) compare graphs: n×n 0/1 matrices with a zero diagonal, and
u → v in row u and column v. A predicted graph may have cycles, two-cycles included.

`paper` numbers (`cell_numbers`) compare cells: entry [u, v] holds what a
model answered to one question template about the ordered pair (u, v), in the codes below. They are what Zhou et al.
(2024, CausalBench) print, as decoded from their numbers, and some of their names mean something else elsewhere.

Every matrix has the nodes of a graph as its rows and, in the same order, as its columns, two nodes at least.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG, bits, children, descendants, mask_of
from harness.scoring.classification import multiclass

Matrix = NDArray[np.integer[Any]] | NDArray[np.bool_]

NO = 0
YES = 1
UNREADABLE = 2
"""A reply in which no answer was found: equal to neither answer, so always wrong."""
MISSING = -1
"""A call that gave no reply. No number counts it as right or as wrong, nor as an edge."""


def shd(true: Matrix, predicted: Matrix) -> int:
    """Return the structural Hamming distance: unordered pairs that differ, of the states no edge, →, ← and both.

    0 … n(n-1)/2. A reversal counts once (Tsamardinos, Brown & Aliferis 2006, for DAGs), and so does a two-cycle where
    the truth has one edge.
    """
    differ = true != predicted
    return int(np.triu(differ | differ.T).sum())


def skeleton_shd(true: Matrix, predicted: Matrix) -> int:
    """Count unordered pairs that are adjacent, by an edge or by two, in one of the graphs only, 0 … n(n-1)/2."""
    return shd(true | true.T, predicted | predicted.T)


def density(graph: Matrix) -> float:
    """Return edges out of the n(n-1) possible ones, 0 … 1; a DAG has at most half."""
    return int(graph.sum()) / (len(graph) * (len(graph) - 1))


def average_degree(graph: Matrix) -> float:
    """Return edges / n, 0 … n-1: parents of a node on average, and children, as each edge has one head and one tail."""
    return int(graph.sum()) / len(graph)


def is_acyclic(graph: Matrix) -> bool:
    """Test whether no directed path leads from a node back to it. A two-cycle is a cycle."""
    return not _reach(graph).diagonal().any()


def transitive_closure(graph: Matrix) -> NDArray[np.int8]:
    """Return the matrix with 1 where a directed path leads from one node to another; its diagonal is 0."""
    reach = _reach(graph)
    np.fill_diagonal(reach, False)
    return reach.astype(np.int8)


def _reach(graph: Matrix) -> NDArray[np.bool_]:
    """Return which pairs [u, v] a path of one or more edges joins (Warshall 1962); the diagonal tells of cycles."""
    reach = graph.astype(np.bool_)
    for k in range(len(reach)):
        reach |= np.outer(reach[:, k], reach[k])
    return reach


def cell_numbers(truth: Matrix, cells: Matrix) -> dict[str, float]:
    """Return what the paper prints of the answers about a network. MISSING cells are neither right nor wrong.

    - macro_f1: the mean over the codes that occur in the truth or the answers of their F1, 0 … 1, over all n² cells. A
      single UNREADABLE cell brings in a third class, whose F1 is 0; the diagonal counts, n cells that are right.
    - cell_accuracy: the share of right cells, 0 … 1, the diagonal among them.
    - cell_shd: how many cells are wrong, 0 … n(n-1). A reversal costs 2. The paper calls it SHD.
    - parent_set_errors: how many nodes have a wrong cell among those that ask for their parents, 0 … n. The paper calls
      it SID, but it is not the structural intervention distance (`sid`).
    - cell_density: cells that are neither NO nor MISSING out of n(n-1), 0 … 1. The paper calls it sparsity.
    - degree: YES cells / n, 0 … n-1: the average in-degree. The paper sets it beside 2E/n, which is twice that.
    """
    there = cells != MISSING
    wrong = (truth != cells) & there
    f1, accuracy = multiclass(Counter(zip(truth[there].tolist(), cells[there].tolist(), strict=True)))
    assert f1 is not None and accuracy is not None  # the diagonal is there
    return {
        "macro_f1": f1,
        "cell_accuracy": accuracy,
        "cell_shd": float(wrong.sum()),
        "parent_set_errors": float(wrong.any(axis=0).sum()),
        "cell_density": density((cells != NO) & there),
        "degree": average_degree(cells == YES),
    }


def sid(true: Matrix, predicted: Matrix) -> int:
    """Count pairs (i, j) for which the predicted parents of i are no valid adjustment set in the true graph.

    The structural intervention distance (Peters & Bühlmann 2015, Neural Computation 27(3)). To predict what setting i
    does to j, one adjusts for the parents of i in the predicted graph, Z. That is right, whatever the distribution, iff
    in the true graph no node of Z descends from (or is) a node other than i on a directed path from i to j, and Z
    blocks every path from i to j that is not directed (the adjustment criterion of Shpitser, VanderWeele & Robins
    2010). One pass per i finds all j for which this fails.

    0 … n(n-1). If j itself is a predicted parent of i, the prediction is that i does nothing to j: the pair is wrong
    iff j is a descendant of i. Only parent sets of the predicted graph enter, so it may have cycles; ValueError if the
    true one does. Not symmetric. 0 for every DAG that contains the true edges.
    """
    dag, adjusted = _parents(true), _parents(predicted)
    below, reach = children(dag), descendants(dag)
    return sum(mistakes(dag, below, reach, i, given).bit_count() for i, given in enumerate(adjusted))


def mistakes(dag: DAG, below: tuple[int, ...], reach: tuple[int, ...], i: int, given: int) -> int:
    """Return the nodes j on which the effect of i comes out wrong after adjusting for the set `given`."""
    forbidden = 0
    for v in bits(reach[i]):
        below_v = reach[v] | 1 << v
        if below_v & given:
            forbidden |= below_v
    return given & reach[i] | (forbidden | _confounded(dag, below, i, given)) & ~given


def _confounded(dag: DAG, below: tuple[int, ...], i: int, given: int) -> int:
    """Return the nodes to which an open walk leads from i that is not directed and does not come back to i.

    A collider is open iff it is in `given` itself: a walk may go down from it to a given node and up again. Where such
    a detour leaves from a directed path, the walk is not directed although the path is; but then a node of the path
    has a given descendant, and its end is forbidden already. A walk back through i would make undirected walks of
    directed paths, and none is needed: a collider opened by a descendant of i is an ancestor of i, which the way up
    from i reaches too.
    """
    directed, step = 0, below[i]
    while step := step & ~directed:
        directed |= step
        step = _union(below, step & ~given)

    up, down = 0, 0  # reached against the direction at least once: last from a child, last from a parent
    step_up, step_down = dag[i] | _union(dag, directed & given), 0
    others = ~(1 << i)
    while (step_up := step_up & others & ~up) | (step_down := step_down & others & ~down):
        up |= step_up
        down |= step_down
        step_up, step_down = (
            _union(dag, step_up & ~given | step_down & given),
            _union(below, (step_up | step_down) & ~given),
        )
    return up | down


def _union(sets: tuple[int, ...], members: int) -> int:
    union = 0
    for v in bits(members):
        union |= sets[v]
    return union


def _parents(graph: Matrix) -> DAG:
    """Return the parents of each node of a graph, which may have cycles."""
    # tolist: NumPy's integers do not shift past 63 bits
    return tuple(mask_of(np.flatnonzero(column).tolist()) for column in graph.T)
