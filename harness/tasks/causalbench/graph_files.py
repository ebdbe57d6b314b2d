"""What a model said of a network, as files: every answer as CSV, and the predicted graph as GraphML."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from xml.etree import ElementTree

import numpy as np

from harness.scoring.graphs import MISSING, NO, UNREADABLE, YES
from harness.tasks.causalbench.answer_matrix import Sheet, Sheets

_CELLS = {NO: "0", YES: "1", UNREADABLE: "unreadable", MISSING: "failed"}


def graph_files(sheets: Sheets) -> Mapping[str, str]:
    """Return graphs/<network>/<template>.csv for every template that asks about two variables.

    Row a, column b: 1 for Yes, 0 for No, `unreadable`, `failed`, empty where nothing was asked. Templates whose Yes
    is an edge have a .graphml beside it.
    """
    files: dict[str, str] = {}
    for (network, template), sheet in sheets.items():
        if "{c}" not in sheet.template.question:
            files[f"graphs/{network}/{template}.csv"] = _table(sheet)
        if sheet.template.graph:
            files[f"graphs/{network}/{template}.graphml"] = _graphml(sheet)
    return files


def _table(sheet: Sheet) -> str:
    names = sheet.network.variables
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["", *names])
    for a, name in enumerate(names):
        rows.writerow([name, *(_cell(sheet, a, b) for b in range(len(names)))])
    return text.getvalue()


def _cell(sheet: Sheet, a: int, b: int) -> str:
    if a == b:
        return "0"
    return _CELLS[int(sheet.cells[a, b])] if sheet.was_asked[a, b] else ""


def _graphml(sheet: Sheet) -> str:
    """Write nodes by name and an edge for every Yes; the graph's `unanswered` names pairs without a readable reply."""
    names = sheet.network.variables
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    ElementTree.SubElement(
        root, "key", {"id": "unanswered", "for": "graph", "attr.name": "unanswered", "attr.type": "string"}
    )
    undirected = sheet.template.graph == "undirected"
    graph = ElementTree.SubElement(
        root, "graph", id=sheet.network.name, edgedefault="undirected" if undirected else "directed"
    )
    without = [
        f"{names[a]} -> {names[b]}: {_cell(sheet, a, b)}"
        for a, b in np.argwhere(sheet.was_asked & ((sheet.cells == UNREADABLE) | (sheet.cells == MISSING))).tolist()
    ]
    ElementTree.SubElement(graph, "data", key="unanswered").text = "; ".join(without)
    for name in names:
        ElementTree.SubElement(graph, "node", id=name)
    for a, b in np.argwhere(np.triu(sheet.graph) if undirected else sheet.graph).tolist():
        ElementTree.SubElement(graph, "edge", source=names[a], target=names[b])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
