"""CausalBench's graphs on the page: a network's true edges, and a run's answers, template by template."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.protocols import Task
from harness.tasks.causalbench.answer_matrix import CELLS, AnswerSheets, graph_files
from harness.tasks.causalbench.networks import NETWORKS, load
from harness.tasks.causalbench.structures import matrix, structures
from harness.tasks.causalbench.task import CausalBench
from harness.tasks.causalbench.templates import CAUSALITY, CORRELATION, SKELETON, STRUCTURES, Template
from harness.types import JSON, Record, Result, Scores

_ONE_WAY = ("direct", "indirect", "path", "reversed_direct", "reversed_indirect")
"""Structures that have a direction; of the others, both orders of a pair ask the same."""
_MEANINGS = {
    "direct": "the network's edges",
    "indirect": "directed paths of two or more edges",
    "path": "directed paths of any length",
    "path_either_way": "pairs that a directed path joins",
    "adjacent": "pairs that an edge joins",
    "d_connected": "pairs that a path or a common cause joins",
    "common_effect": "pairs with a common effect",
    "common_cause": "pairs with a common cause",
}
"""What the edges of the true graph are, by the structure that a question asks for."""
_LOST = ("unreadable", "failed")
_TEMPLATES: Mapping[str, Template] = {
    name: template
    for group in (CORRELATION, CAUSALITY, STRUCTURES, SKELETON)
    for name, template in group.items()
    if "{c}" not in template.question
}
"""The templates that ask about two variables."""


class NetworkGraphs:
    """What the page draws: a network's true edges, and the edges by a run's answers to one template."""

    @property
    def files(self) -> Iterator[tuple[str, str]]:
        return ((network, template) for network in NETWORKS for template in _TEMPLATES)

    def of_records(self, task: Task, records: Iterable[Record]) -> Mapping[str, str]:
        if not isinstance(task, CausalBench):
            return {}
        sheets = AnswerSheets(task.asked_templates, task.asks)
        for record in records:
            sheets.add(record)
        return graph_files(sheets)

    def network(self, name: str) -> dict[str, Any]:
        network = load(name)
        return {"nodes": list(network.variables), "edges": _pairs(matrix(network.dag))}

    def sheet(self, network: str, name: str, text: str, result: Result) -> dict[str, JSON] | None:
        """Return one template's answers as edges; None for a table of other variables than the network's."""
        if (rows := _cells(text, load(network).variables)) is None:
            return None
        cells, template = np.array(rows), _TEMPLATES[name]
        structure = template.paper if result.headline == "paper" and template.paper else template.exact
        true, directed = structures(matrix(load(network).dag))[structure], structure in _ONE_WAY
        if structure.startswith("reversed"):  # said of (a, b), it is an edge from b to a
            true, cells = true.T, cells.T
        yes, unasked = cells == "1", cells == ""
        lost = {why: cells == why for why in _LOST}
        if not directed:  # a readable Yes either way is one
            true, yes, unasked = np.triu(true), np.triu(yes | yes.T), unasked & unasked.T
            lost = {why: np.triu(pairs | pairs.T) & ~yes for why, pairs in lost.items()}
        lost["not asked"] = true & unasked
        scores = _scores(result, f"{network}/{name}")
        distance = "shd_closure" if structure == "path" else "shd"  # from the graph that is shown as the true one
        return {
            "title": template.question.format(a="A", b="B"),
            "shows": _MEANINGS[structure.removeprefix("reversed_")],
            "directed": directed,
            "yes": _pairs(yes),
            "lost": [[*edge, why] for why, pairs in lost.items() for edge in _pairs(pairs)],
            "true": _pairs(true),
            "shd": scores and scores[distance],
            "f1": scores and scores["f1"],
        }


def _cells(text: str, variables: Sequence[str]) -> list[list[str]] | None:
    """Return the table's cells row by row; None for a table that no run writes."""
    try:
        header, *rows = csv.reader(text.splitlines(), strict=True)
    except (ValueError, csv.Error):
        return None
    rows = [row for row in rows if row]
    square = [header[1:], [row[0] for row in rows]] == [list(variables)] * 2
    known = {cell for row in rows for cell in row[1:]} <= {"", *CELLS.values()}
    return [row[1:] for row in rows] if square and known and {len(row) for row in rows} == {len(header)} else None


def _scores(result: Result, group: str) -> Scores | None:
    """Return the headline scores of one template about one network."""
    scores = result.scores[result.headline]
    found = (scores.get(f"network/{asks}", {}).get(group) for asks in ("template", "structure"))
    return next(filter(None, found), None)


def _pairs(cells: NDArray[np.bool_]) -> list[list[int]]:
    pairs: list[list[int]] = np.argwhere(cells).tolist()
    return pairs
