"""CausalBench's graphs on the page: a network's true edges, and a run's answers, template by template."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.protocols import Task
from harness.tasks.causalbench.networks import NETWORKS, load
from harness.types import JSON, Record, Result, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.tasks.causalbench.templates import Template

    Cells = NDArray[np.str_]

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
_CELLS = {"", "0", "1", *_LOST}
"""What a cell of a table can be."""


class NetworkGraphs:
    """What the page draws: a network's true edges, and the edges by a run's answers to one template."""

    @property
    def files(self) -> Iterator[tuple[str, str]]:
        return ((network, template) for network in NETWORKS for template in _templates())

    def of_records(self, task: Task, records: Iterable[Record]) -> Mapping[str, str]:
        from harness.tasks.causalbench.answer_matrix import AnswerSheets, graph_files
        from harness.tasks.causalbench.task import CausalBench

        if not isinstance(task, CausalBench):
            return {}
        sheets = AnswerSheets(task.asked_templates, task.asks)
        for record in records:
            sheets.add(record)
        return graph_files(sheets)

    def network(self, name: str) -> dict[str, Any]:
        from harness.tasks.causalbench.structures import matrix

        network = load(name)
        return {"nodes": list(network.variables), "edges": _pairs(matrix(network.dag))}

    def sheet(self, network: str, name: str, text: str, result: Result) -> dict[str, JSON] | None:
        """Return one template's answers as edges; None for a table of other variables than the network's."""
        import numpy as np

        from harness.tasks.causalbench.structures import matrix, structures

        variables = load(network).variables
        if (rows := _cells(text, variables)) is None:
            return None
        cells = np.array(rows)
        template = _templates()[name]
        structure = template.paper if result.headline == "paper" and template.paper else template.exact
        true, directed = structures(matrix(load(network).dag))[structure], structure in _ONE_WAY
        if structure.startswith("reversed"):  # said of (a, b), it is an edge from b to a
            true, cells = true.T, cells.T
        yes = cells == "1"
        unasked = cells == ""
        if not directed:
            true, yes, unasked = np.triu(true), np.triu(yes | yes.T), unasked & unasked.T
        scores = _scores(result, network, name)
        distance = "shd_closure" if structure == "path" else "shd"  # from the graph that is shown as the true one
        return {
            "title": template.question.format(a="A", b="B"),
            "shows": _MEANINGS[structure.removeprefix("reversed_")],
            "directed": directed,
            "yes": _pairs(yes),
            "lost": [*_lost(cells, yes, directed=directed), *([*edge, "not asked"] for edge in _pairs(true & unasked))],
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
    square = [header[1:], [row[0] for row in rows if row]] == [list(variables)] * 2
    if not square or any(len(row) != len(header) for row in rows) or not {c for row in rows for c in row[1:]} <= _CELLS:
        return None
    return [row[1:] for row in rows]


def _lost(cells: Cells, yes: NDArray[np.bool_], *, directed: bool) -> Iterator[list[JSON]]:
    """Yield the pairs without a readable answer, and why; of a symmetric question those without a Yes either way."""
    import numpy as np

    for why in _LOST:
        pairs = cells == why
        yield from ([*edge, why] for edge in _pairs(pairs if directed else np.triu(pairs | pairs.T) & ~yes))


def _scores(result: Result, network: str, template: str) -> Scores | None:
    """Return the headline scores of one template about one network."""
    for breakdown in ("network/template", "network/structure"):
        groups = result.scores[result.headline].get(breakdown, {})
        if scores := groups.get(f"{network}/{template}"):
            return scores
    return None


def _pairs(cells: NDArray[np.bool_]) -> list[list[int]]:
    import numpy as np

    pairs: list[list[int]] = np.argwhere(cells).tolist()
    return pairs


@cache
def _templates() -> Mapping[str, Template]:
    """Return the templates that ask about two variables, by name."""
    from harness.tasks.causalbench import templates

    every: Iterable[Mapping[str, Template]] = (
        templates.CORRELATION,
        templates.CAUSALITY,
        templates.STRUCTURES,
        templates.SKELETON,
    )
    return {name: template for group in every for name, template in group.items() if "{c}" not in template.question}
