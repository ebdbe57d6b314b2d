"""The scores of one graph that a run left: of a learned pattern as a pattern, of a model's answers as they are."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.causal.cpdag import cpdag, dag_in, nearest_dag
from harness.causal.dag import DAG, mask_of, relabel
from harness.causal.learned_graph import Pattern
from harness.codec import shuffled
from harness.errors import ConfigError, DataError
from harness.plugins.discovery.acyclic import nearest_acyclic
from harness.runtime.environment import installing
from harness.scoring.graphs import MISSING, NO, UNREADABLE, YES, cell_shd
from harness.scoring.patterns import codes, pattern_shd, sid_bounds
from harness.storage.runs import Run
from harness.tasks.causalbench.answer_matrix import Sheets
from harness.tasks.causalbench.networks import load
from harness.tasks.causalbench.questions import STRUCTURES
from harness.tasks.causalbench.structures import matrix

Truth = Literal["dag", "class"]
DISTANCES = ("parent_aid", "ancestor_aid", "oset_aid")
_CODES = {"0": NO, "1": YES, "unreadable": UNREADABLE, "failed": MISSING, "": MISSING}


@dataclass(frozen=True)
class GraphScores:
    """The numbers of one graph."""

    values: Mapping[str, float]
    changed: int
    """Edges that were changed before it could be scored: the answers have a cycle, or the pattern has no DAG."""
    exact: bool
    """Whether no fewer changes would do, as far as answers with cycles go."""
    bounded: bool
    """Whether the bounds of SID need not be reached."""


def answer_matrices(run: Run) -> Iterator[tuple[str, NDArray[np.int8]]]:
    """Yield each network with the answers to "a directly causes b", from the graphs that the run left or its records.

    MISSING where there is no reply. Nothing where the question was not asked (the first method).
    """
    files = sorted(run.folder.glob("graphs/*/direct.csv"))
    for file in files:
        yield file.parent.name, _read(file)
    if files or "structure" not in run.result.scores["exact"] or run.records_file is None:
        return
    sheets = Sheets(STRUCTURES, "structure")
    for record in run.records():
        if record.groups["structure"] == "direct":
            sheets.add(record)
    yield from ((network, sheet.cells) for (network, _), sheet in sheets.items())


def _read(file: Path) -> NDArray[np.int8]:
    with file.open(encoding="utf-8", newline="") as lines:
        (_, *names), *rows = csv.reader(lines)
    if tuple(names) != load(file.parent.name).variables:
        raise DataError(f"{file} does not have the variables of {file.parent.name}: harness rescore writes it anew.")
    try:
        return np.array([[_CODES[cell] for cell in row[1:]] for row in rows], dtype=np.int8)
    except KeyError as cell:
        raise DataError(
            f"{file} holds {cell}, not one of {', '.join(_CODES)}: harness rescore writes it anew."
        ) from None


def graph_scores(network: str, cells: NDArray[np.int8], *, learned: bool, truth: Truth) -> GraphScores | None:
    """Return the numbers of one matrix; None where a pair has no reply.

    A learned matrix is a pattern, with both directions for an edge without one. A model's is taken at its word: both
    directions are a cycle, and all distances but the paper's SHD and F1 are those of the nearest acyclic graph.
    """
    if (cells == MISSING).any():
        return None
    # Files of networks list causes first: of equally near graphs the first in that order would be right by luck.
    order = shuffled(range(len(cells)), "columns", network)
    cells, dag = cells[np.ix_(order, order)], relabel(load(network).dag, tuple(int(k) for k in np.argsort(order)))
    edges, true = cells == YES, matrix(dag)
    scored, changed, exact = _scored(edges) if learned else _acyclic(edges)
    member = dag_in(scored)
    assert member is not None  # what is scored has a DAG
    both, right = int(edges.sum()) + int(true.sum()), int((edges & true).sum())
    values: dict[str, float] = {
        "cell_shd": cell_shd(true, cells),
        "f1": 2 * right / both if both else 0.0,
        "class_shd": pattern_shd(cpdag(dag), cpdag(member)),
    }
    bounds = sid_bounds(dag, scored)
    assert bounds is not None
    values |= {"sid_low": bounds.low, "sid_high": bounds.high}
    return GraphScores({**values, **distances(dag, scored, truth)}, changed, exact, not bounds.exact)


def distances(true: DAG, predicted: Pattern, truth: Truth) -> Mapping[str, int]:
    """Return the adjustment identification distances of Henckel, Würtzen and Weichwald (2024), counted by gadjid.

    0 … n(n-1), of a DAG or a completed pattern from the true DAG; with truth="class" both are the patterns of their
    classes, and what data cannot tell is no error. Raises ConfigError if gadjid is not installed.
    """
    first = cpdag(true) if truth == "class" else Pattern.of(true)
    if truth == "class":
        member = dag_in(predicted)
        assert member is not None
        predicted = cpdag(member)
    library, pair = _gadjid(), (codes(first), codes(predicted))
    return {name: int(getattr(library, name)(*pair, edge_direction="from row to column")[1]) for name in DISTANCES}


@cache
def _gadjid() -> ModuleType:
    try:
        return import_module("gadjid")
    except ImportError as error:
        raise ConfigError(f"harness league needs gadjid, which is not installed: {installing('discovery')}.") from error


def _acyclic(edges: NDArray[np.bool_]) -> tuple[Pattern, int, bool]:
    nearest = nearest_acyclic(edges)
    dag = Pattern.of(tuple(mask_of(np.flatnonzero(column).tolist()) for column in nearest.edges.T))
    return dag, nearest.removed, nearest.exact


def _scored(edges: NDArray[np.bool_]) -> tuple[Pattern, int, bool]:
    """Return what a learned pattern is scored as, the edges that differ from it, and whether it has a DAG.

    A DAG and a completed pattern stay. Any other stands for the class of a DAG in it, or of the nearest one.
    """
    both = edges & edges.T
    one = edges & ~both
    pattern = Pattern(*(tuple(mask_of(np.flatnonzero(column).tolist()) for column in part.T) for part in (one, both)))
    member = dag_in(pattern)
    if member == pattern.directed:
        return pattern, 0, True
    whole = cpdag(nearest_dag(pattern) if member is None else member)
    return whole, pattern_shd(pattern, whole), member is not None
