"""The acyclic graph nearest to a model's answers about one network of CausalBench: the fewest causes to take back.

A Yes to "does a cause b?" is an edge. Adding edges makes no graph acyclic, so the nearest one leaves out a smallest
feedback arc set, found exactly by dynamic programming over sets of nodes (Held and Karp 1962) in each strongly
connected component: 2^k sets for k nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from harness.plugins.beliefs.belief import Belief, Believed, shuffles
from harness.scoring.graphs import MISSING, UNREADABLE, shd, transitive_closure
from harness.tasks.causalbench.answer_matrix import Sheet, Sheets
from harness.tasks.causalbench.questions import CAUSALITY, STRUCTURES
from harness.tasks.causalbench.structures import matrix, structures
from harness.types import Record

Matrix = NDArray[np.bool_]
LARGEST = 20
"""Nodes of a component that is looked through: a tenth of a second of processor time."""
_FAR = 60_000


def believe(records: Iterable[Record], *, least: float, number: int, seed: int) -> Believed:
    """Return the belief about each network by each template whose Yes is an edge with a direction."""
    believed = Believed()
    templates = {**CAUSALITY, **STRUCTURES}
    by_template = {name: Sheets(templates, name) for name in ("template", "structure")}
    for record in records:
        by_template["template" if "template" in record.groups else "structure"].add(record)
    for answers in (sheet for of in by_template.values() for sheet in of.values()):
        if answers.template.graph not in ("directed", "reversed"):
            continue
        read = answers.has_question & (answers.cells != MISSING) & (answers.cells != UNREADABLE)
        believed.unread += int((answers.has_question & ~read).sum())
        if read.sum() < max(1, least * (read.size - len(read))):
            believed.too_few += 1
        elif (belief := _belief(answers, read, number, seed)) is None:
            believed.too_large += 1
        else:
            believed.beliefs.append(belief)
    return believed


def _belief(answers: Sheet, read: Matrix, number: int, seed: int) -> Belief | None:
    """Return the belief by one template; None where a graph, or a shuffled one, is too large to be sure of."""
    reverse = answers.template.graph == "reversed"
    asked, edges = (read.T if reverse else read), answers.graph
    backward = feedback(edges)
    cells = edges[asked]
    rows = shuffles(cells, ["cause"] * len(cells), number, (seed, len(edges), int(cells.sum())))
    costs = [] if rows is None else [_flips(asked, row) for row in rows]
    if backward is None or None in costs:
        return None
    true = structures(matrix(answers.network.dag))[answers.template.exact]
    true, acyclic = (true.T if reverse else true), edges & ~backward
    return Belief(
        name=answers.network.name,
        size=len(edges),
        group=answers.template.name,
        answers=len(cells),
        yes=int(cells.sum()),
        flips=int(backward.sum()),
        shuffled=float(np.mean([cost for cost in costs if cost is not None])) if costs else None,
        nearest=None,
        answers_off=float((acyclic != true)[asked].sum()),
        graph_off=float(shd(true, acyclic, edge_direction="from row to column")),
    )


def _flips(asked: Matrix, row: Matrix) -> int | None:
    edges = np.zeros_like(asked)
    edges[asked] = row
    backward = feedback(edges)
    return None if backward is None else int(backward.sum())


def feedback(edges: Matrix) -> Matrix | None:
    """Return a smallest set of edges without which the graph has no cycle, the first in the order of the nodes.

    None where more than LARGEST nodes lie on cycles through each other.
    """
    reach = transitive_closure(edges).astype(np.bool_) | np.eye(len(edges), dtype=np.bool_)
    together = reach & reach.T
    backward = np.zeros_like(edges)
    for members in {tuple(np.flatnonzero(row).tolist()) for row in together if row.sum() > 1}:
        if len(members) > LARGEST:
            return None
        order = np.array(members)[_order(edges[np.ix_(members, members)])]
        place = np.full(len(edges), -1)
        place[order] = np.arange(len(order))
        inside = (place[:, None] >= 0) & (place[None, :] >= 0)
        backward |= edges & inside & (place[:, None] > place[None, :])
    return backward


def _order(edges: Matrix) -> list[int]:
    """Return an order of the nodes against which the fewest edges run.

    cost[S] is the fewest edges that run backwards among the nodes of S where these come first: some v of S is the last
    of them, and its edges into the others run backwards.
    """
    n = len(edges)
    targets = [int(row @ (1 << np.arange(n))) for row in edges.astype(np.int64)]
    cost = np.full(1 << n, _FAR, np.uint16)
    cost[0] = 0
    for sets in _by_size(n)[1:]:
        best = np.full(len(sets), _FAR, np.uint16)
        for v, out in enumerate(targets):
            # Where v is not in the set, its union with v is of the next size, whose cost is still far.
            np.minimum(best, cost[sets ^ (1 << v)] + np.bitwise_count(sets & out), out=best)
        cost[sets] = best
    order, left = [], (1 << n) - 1
    while left:
        last = next(
            v
            for v in range(n)
            if left >> v & 1 and cost[left] == int(cost[left ^ 1 << v]) + (left & targets[v]).bit_count()
        )
        order.append(last)
        left ^= 1 << last
    return order[::-1]


@cache
def _by_size(n: int) -> list[NDArray[np.int32]]:
    """Return all sets of n nodes as bit masks, those of each size together."""
    sets = np.arange(1 << n, dtype=np.int32)
    sizes = np.bitwise_count(sets)
    order = np.argsort(sizes, kind="stable").astype(np.int32)
    return np.split(order, np.cumsum(np.bincount(sizes))[:-1])
