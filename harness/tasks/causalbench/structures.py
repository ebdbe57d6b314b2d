"""Relations between two variables of a causal graph: the truth behind every question, or a learned graph's answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG, bits
from harness.causal.learned_graph import Pattern
from harness.scoring.graphs import transitive_closure
from harness.scoring.tally import ends
from harness.tasks.causalbench.networks import load
from harness.tasks.causalbench.templates import Template
from harness.types import Answer, Item, Record, Response

Matrix = NDArray[np.bool_]

RELATIONS = ("direct", "indirect", "reversed_direct", "reversed_indirect", "common_cause", "independent")
"""How two variables stand to each other, the first that holds: an edge, a longer directed path, the same the other way
round, a common ancestor, none of these (d-separated)."""


def matrix(dag: DAG) -> Matrix:
    """Return n×n; entry (a, b) is the edge a → b."""
    edges = np.zeros((len(dag), len(dag)), dtype=np.bool_)
    for effect, causes in enumerate(dag):
        edges[list(bits(causes)), effect] = True
    return edges


def structures(edges: Matrix) -> Mapping[str, Matrix]:
    """Return for each structure an n×n matrix: does it hold of (a, b)? The diagonals are False.

    - direct: the edge a → b. indirect: a directed path of two or more edges. reversed_*: the same from b to a.
    - path: a directed path of any length from a to b. path_either_way: from a to b or from b to a.
    - common_effect, common_cause: directed paths from both to some third variable, or from one to both; in a → b → c,
      c is an effect of a and of b.
    - adjacent: an edge either way. d_connected: path_either_way or common_cause.

    Defined on cyclic graphs too, as predictions may be; there a path may pass through a variable twice.
    """
    path = transitive_closure(edges).astype(np.bool_)
    off = ~np.eye(len(edges), dtype=np.bool_)
    either = path | path.T
    # Through a third variable: on a cyclic graph a walk a → b → a → b would say so otherwise.
    indirect = _through(edges, path) & off
    common_cause = _through(path.T, path) & off
    return {
        "direct": edges,
        "indirect": indirect,
        "reversed_direct": edges.T,
        "reversed_indirect": indirect.T,
        "path": path,
        "path_either_way": either,
        "common_effect": _through(path, path.T) & off,
        "common_cause": common_cause,
        "adjacent": edges | edges.T,
        "d_connected": either | common_cause,
    }


def relations(matrices: Mapping[str, Matrix]) -> NDArray[np.int8]:
    """Return n×n; entry (a, b) is the number in RELATIONS of the first that holds."""
    masks = [matrices[name] for name in RELATIONS[:-1]]
    return np.select(masks, range(len(masks)), default=len(masks)).astype(np.int8)


def _through(first: Matrix, second: Matrix) -> Matrix:
    """Test whether some c makes first[a, c] and second[c, b]; c differs from a and b, as the diagonals are False."""
    return (first.astype(np.int32) @ second.astype(np.int32)) > 0


def learned_answers(
    templates: Mapping[str, Template], breakdown: str, items: Iterable[Item], learn: Callable[[str], Pattern]
) -> Iterator[Record]:
    """Yield a record without a request for each item; `learn` gives a network's graph when its first question comes.

    An item's group of the breakdown names its template. The items of one network come together. An undirected edge
    counts as both directions: its two variables are found to be adjacent, and which is the cause is not known. So it is
    one error of SHD, whichever way the true edge runs.
    """
    network = ""
    for item in items:
        if item.groups["network"] != network:
            network = item.groups["network"]
            holds = structures(matrix(learn(network).adjacency()))
            place = {variable: k for k, variable in enumerate(load(network).variables)}
        a, b = ends(item.unit)
        template = templates[item.groups[breakdown]]
        label = int(holds[template.exact][place[a], place[b]])
        yield Record.of(item, None, Response(text="Yes" if label else "No"), Answer(label))
