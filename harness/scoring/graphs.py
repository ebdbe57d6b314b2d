"""How far a predicted graph lies from the true one, in the literature's terms and in CausalBench's.

`exact` numbers (`shd`, `skeleton_shd`, `density`, `sid`, …) compare graphs: n×n 0/1
matrices with a zero diagonal. A predicted graph may have cycles, two-cycles included.

`paper` numbers (`macro_f1`, `cell_…`, `parent_set_errors`, `…_degree`) compare cells: entry [u, v] holds what a model
answered to one question template about the ordered pair (u, v), in the codes below. They are what Zhou et al. (2024,
CausalBench) print, as decoded from their numbers, and some of their names mean something else elsewhere.

Every matrix has the nodes of a graph as its rows and, in the same order, as its columns. A matrix that does not fit
raises ValueError.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG, bits, children, descendants, mask_of
from harness.scoring.classification import multiclass

EdgeDirection = Literal["from row to column", "from column to row"]
"""What an entry 1 in row u and column v means: u → v, or v → u. gadjid's words."""

Matrix = NDArray[np.integer[Any]] | NDArray[np.bool_]

NO = 0
YES = 1
UNREADABLE = 2
"""A reply in which no answer was found: equal to neither answer, so always wrong."""
MISSING = -1
"""A call that gave no reply. No number counts it as right or as wrong, nor as an edge."""


def shd(true: Matrix, predicted: Matrix, *, edge_direction: EdgeDirection) -> int:
    """Return the structural Hamming distance: unordered pairs that differ, of the states no edge, →, ← and both.

    0 … n(n-1)/2. A reversal counts once (Tsamardinos, Brown & Aliferis 2006, for DAGs), and so does a two-cycle where
    the truth has one edge. The same in either direction of the edges.
    """
    first, second = oriented_pair(true, predicted, edge_direction=edge_direction)
    differ = first != second
    return int(np.triu(differ | differ.T).sum())


def skeleton_shd(true: Matrix, predicted: Matrix) -> int:
    """Count unordered pairs that are adjacent, by an edge in either direction or by two, in one of the graphs only.

    0 … n(n-1)/2.
    """
    first, second = oriented_pair(true, predicted, edge_direction="from row to column")
    return int(np.triu((first | first.T) != (second | second.T)).sum())


def density(graph: Matrix) -> float:
    """Return edges out of the n(n-1) possible ones, 0 … 1; a DAG has at most half. ValueError below two nodes."""
    edges = _adjacency(graph, "graph")
    return int(edges.sum()) / _ordered_pairs(len(edges))


def average_in_degree(graph: Matrix, *, edge_direction: EdgeDirection) -> float:
    """Return the average number of parents of a node: edges / n, 0 … n-1.

    Equal to `average_out_degree` by construction: each edge has one head and one tail.
    """
    return float(oriented(graph, edge_direction=edge_direction).sum(axis=0).mean())


def average_out_degree(graph: Matrix, *, edge_direction: EdgeDirection) -> float:
    """Return the average number of children of a node: edges / n, 0 … n-1.

    Equal to `average_in_degree` by construction: each edge has one head and one tail.
    """
    return float(oriented(graph, edge_direction=edge_direction).sum(axis=1).mean())


def is_acyclic(graph: Matrix) -> bool:
    """Test whether no directed path leads from a node back to it. A two-cycle is a cycle."""
    return not _reach(graph).diagonal().any()


def transitive_closure(graph: Matrix) -> NDArray[np.int8]:
    """Return the n×n matrix with 1 where a directed path of one or more edges leads from one node to another.

    Edges run as in the given matrix, either way. The diagonal is 0 even for a node on a cycle.
    """
    reach = _reach(graph)
    np.fill_diagonal(reach, False)
    return reach.astype(np.int8)


def macro_f1(truth: Matrix, cells: Matrix) -> float:
    """Return the mean over the codes of F1 = 2TP/(2TP+FP+FN), over all n² cells without the MISSING ones, 0 … 1.

    The codes are those that occur in the truth or the answers, so that a single UNREADABLE cell brings in a third
    class, whose F1 is 0. The diagonal counts: n cells that are always right. scikit-learn's f1_score with
    average="macro".
    """
    expected, answered = _replies(truth, cells)
    outcomes = Counter(zip(expected.tolist(), answered.tolist(), strict=True))
    value, _ = multiclass(outcomes)
    assert value is not None  # the diagonal is there
    return value


def cell_accuracy(truth: Matrix, cells: Matrix) -> float:
    """Return the share of right cells among all n² without the MISSING ones, 0 … 1; the diagonal counts as right."""
    expected, answered = _replies(truth, cells)
    return float((expected == answered).mean())


def cell_shd(truth: Matrix, cells: Matrix) -> int:
    """Count wrong cells, 0 … n(n-1), without the MISSING ones. A reversal costs 2; the paper calls it SHD."""
    expected, answered = _replies(truth, cells)
    return int((expected != answered).sum())


def parent_set_errors(truth: Matrix, cells: Matrix, *, edge_direction: EdgeDirection) -> int:
    """Count nodes with a wrong cell among those that ask for their parents, 0 … n.

    MISSING cells are left out: a node is right if the others are. The paper calls this number SID, but it is not the
    structural intervention distance (`harness.scoring.graphs.sid`), which goes up to n(n-1).
    """
    expected, answered = _checked_cells(truth, cells)
    wrong = (expected != answered) & (answered != MISSING)
    return int(_row_to_column(wrong, edge_direction).any(axis=0).sum())


def cell_density(cells: Matrix) -> float:
    """Return the cells that are neither NO nor MISSING out of n(n-1), 0 … 1; ValueError below two nodes.

    An UNREADABLE cell counts, as its code is not 0. MISSING cells stay in the denominator, where they weigh like NO.
    The paper calls this sparsity.
    """
    answered = _codes(cells)
    return int(((answered != NO) & (answered != MISSING)).sum()) / _ordered_pairs(len(answered))


def predicted_degree(cells: Matrix) -> float:
    """Return YES cells / n, 0 … n-1: the average in-degree.

    The paper sets it beside `true_degree`, which is twice that for the same graph.
    """
    answered = _codes(cells)
    return int((answered == YES).sum()) / len(answered)


def true_degree(truth: Matrix) -> float:
    """Return 2E/n, 0 … n-1: edges at a node on average, in or out, as in the paper's Table IX."""
    edges = _adjacency(truth, "true graph")
    return 2 * int(edges.sum()) / len(edges)


def oriented(graph: Matrix, *, edge_direction: EdgeDirection) -> NDArray[np.bool_]:
    """Return the checked n×n adjacency matrix with u → v in row u and column v."""
    return _row_to_column(_adjacency(graph, "graph"), edge_direction)


def oriented_pair(
    true: Matrix, predicted: Matrix, *, edge_direction: EdgeDirection
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return both graphs as `oriented` does; ValueError where they differ in size."""
    first, second = _adjacency(true, "true graph"), _adjacency(predicted, "predicted graph")
    _same_nodes(first, second)
    return _row_to_column(first, edge_direction), _row_to_column(second, edge_direction)


def _reach(graph: Matrix) -> NDArray[np.bool_]:
    """Return the matrix of pairs [u, v] with a path of one or more edges from u to v (Warshall 1962).

    Its diagonal tells of cycles.
    """
    reach = _adjacency(graph, "graph")
    for k in range(len(reach)):
        reach |= np.outer(reach[:, k], reach[k])
    return reach


def _replies(truth: Matrix, cells: Matrix) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the true and the answered codes of the cells that are not MISSING, in one dimension."""
    expected, answered = _checked_cells(truth, cells)
    there = answered != MISSING
    return expected[there], answered[there]


def _checked_cells(truth: Matrix, cells: Matrix) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    expected, answered = _adjacency(truth, "true graph").astype(np.int8), _codes(cells)
    _same_nodes(expected, answered)
    return expected, answered


def _adjacency(graph: Matrix, name: str) -> NDArray[np.bool_]:
    return _square(graph, (0, 1), name).astype(np.bool_)


def _codes(cells: Matrix) -> NDArray[np.int8]:
    return _square(cells, (NO, YES, UNREADABLE, MISSING), "matrix of answers")


def _square(matrix: Matrix, allowed: tuple[int, ...], name: str) -> NDArray[np.int8]:
    square = np.asarray(matrix)
    if square.ndim != 2 or square.shape[0] != square.shape[1] or not square.size:
        raise ValueError(f"the {name} must be a square matrix with at least one node; its shape is {square.shape}")
    if strange := set(np.unique(square).tolist()) - set(allowed):
        raise ValueError(f"the {name} may hold {sorted(allowed)} only; it holds {sorted(strange)} too")
    if square.diagonal().any():
        raise ValueError(f"the {name} must have zeros on its diagonal: no node is its own cause")
    return square.astype(np.int8)


def _same_nodes(first: Matrix, second: Matrix) -> None:
    if first.shape != second.shape:
        raise ValueError(f"the true graph has {len(first)} nodes, the predicted one {len(second)}; both need the same")


def _row_to_column(matrix: NDArray[np.bool_], edge_direction: EdgeDirection) -> NDArray[np.bool_]:
    if edge_direction not in get_args(EdgeDirection):
        directions = " or ".join(repr(direction) for direction in get_args(EdgeDirection))
        raise ValueError(f"edge_direction must be {directions}, not {edge_direction!r}")
    return matrix if edge_direction == "from row to column" else matrix.T


def _ordered_pairs(n: int) -> int:
    if n < 2:
        raise ValueError("a graph needs two nodes for a density")
    return n * (n - 1)


def sid(true: Matrix, predicted: Matrix, *, edge_direction: EdgeDirection) -> int:
    """Count pairs (i, j) for which the predicted parents of i are no valid adjustment set in the true graph.

    The structural intervention distance (Peters & Bühlmann 2015, Neural Computation 27(3)). To predict what setting i
    does to j, one adjusts for the parents of i in the predicted graph, Z. That is right, whatever the distribution, iff
    in the true graph no node of Z descends from (or is) a node other than i on a directed path from i to j, and Z
    blocks every path from i to j that is not directed (the adjustment criterion of Shpitser, VanderWeele & Robins
    2010). One pass per i finds all j for which this fails.

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


def _parents(graph: NDArray[np.bool_]) -> DAG:
    """Return the parents of each node of an oriented graph, which may have cycles."""
    # tolist: NumPy's integers do not shift past 63 bits
    return tuple(mask_of(np.flatnonzero(column).tolist()) for column in graph.T)
