"""The structural intervention distance (Peters & Bühlmann 2015, Neural Computation 27(3)).

To predict what setting i does to j, one adjusts for the parents of i in the predicted graph, Z. That is right, whatever
the distribution, iff in the true graph

1. no node of Z descends from (or is) a node other than i on a directed path from i to j, and
2. Z blocks every path from i to j that is not directed

(the adjustment criterion of Shpitser, VanderWeele & Robins 2010). One pass per i finds all j for which this fails.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG, bits, children, descendants, mask_of
from harness.scoring.graphs import EdgeDirection, Matrix, oriented_pair


def sid(true: Matrix, predicted: Matrix, *, edge_direction: EdgeDirection) -> int:
    """Count pairs (i, j) for which the predicted parents of i are no valid adjustment set in the true graph.

    0 … n(n-1). If j itself is a predicted parent of i, the prediction is that i does nothing to j: the pair is wrong
    iff j is a descendant of i. Both n×n 0/1 with a zero diagonal. Only parent sets of the predicted graph enter, so it
    may have cycles; ValueError if the true one does. Not symmetric. 0 for every DAG that contains the true edges.
    """
    first, second = oriented_pair(true, predicted, edge_direction=edge_direction)
    dag, adjusted = _parents(first), _parents(second)
    try:
        reach = descendants(dag)
    except ValueError as error:
        raise ValueError("the true graph has a cycle; the structural intervention distance needs a DAG") from error
    below = children(dag)
    return sum(_mistakes(dag, below, reach, i, given).bit_count() for i, given in enumerate(adjusted))


def _mistakes(dag: DAG, below: tuple[int, ...], reach: tuple[int, ...], i: int, given: int) -> int:
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


def _parents(graph: NDArray[np.bool_]) -> DAG:
    """Return the parents of each node of an oriented graph, which may have cycles."""
    # tolist: NumPy's integers do not shift past 63 bits
    return tuple(mask_of(np.flatnonzero(column).tolist()) for column in graph.T)
