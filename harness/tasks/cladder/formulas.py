"""What a question asks for as a formula, and the sum that gives it, over the numbers printed.

The sums are right where those of the authors' files are not (a minus for a plus, a factor that is missing); what needs
a formula that the graph does not bear out (an instrument, a mediator with an unobserved cause) has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from harness.tasks.cladder.graphs import Graph, X, Y
from harness.tasks.cladder.queries import Ask, Query
from harness.tasks.cladder.stated import XY, Printed

_FORMAL: Mapping[Query, str] = {
    "ate": "E[Y | do(X = 1)] - E[Y | do(X = 0)]",
    "ett": "E[Y_{X = 1} - Y_{X = 0} | X = 1]",
    "marginal": "P(Y)",
    "correlation": "P(Y | X)",
    "exp_away": "P(Y = 1 | X = 1, V3 = 1) - P(Y = 1 | V3 = 1)",
    "collider_bias": "E[Y | do(X = 1)] - E[Y | do(X = 0)]",
}
_DIFFERENCE = "P(Y=1|X=1) - P(Y=1|X=0)"
_FRONT = (
    "\\sum_{V3 = v} [P(V3 = v|X = 1) - P(V3 = v|X = 0)] * [\\sum_{X = h} P(Y = 1|X = h,V3 = v)*P(X = h)]",
    "({m1} - {m0}) * ({q} * ({y01} - {y00}) + {p} * ({y11} - {y10}))",
)
_TOTAL = (_DIFFERENCE, "{y1} - {y0}")
_ADJUSTED = (
    "\\sum_{V1=v} P(V1=v)*[P(Y=1|V1=v,X=1) - P(Y=1|V1=v, X=0)]",
    "{q} * ({y01} - {y00}) + {p} * ({y11} - {y10})",
)
_MARGINAL = ("P(Y | X=1)*P(X=1) + P(Y | X=0)*P(X=0)", "{p} * {y1} + {q} * {y0}")
_CORRELATION = ("P(X = 1, Y = 1)/P(X = 1) - P(X = 0, Y = 1)/P(X = 0)", "{b1}/{p} - {b0}/{q}")
_UNCONFOUNDED = ("chain", "fork", "mediation", "diamond", "arrowhead")
_SUMS: Mapping[tuple[Query, str], tuple[str, str]] = {
    **{(query, graph): _TOTAL for query in ("ate", "ett") for graph in _UNCONFOUNDED},
    ("ate", "confounding"): _ADJUSTED,
    ("ate", "diamondcut"): _ADJUSTED,
    ("ate", "frontdoor"): _FRONT,
    ("ett", "diamondcut"): (
        "\\sum_{V3=v} P(V3=v|X=1)*[P(Y=1|X=1,V3=v) - P(Y=1|X=0,V3=v)]",
        "{n1} * ({y10} - {y00}) + {m1} * ({y11} - {y01})",
    ),
    ("ett", "frontdoor"): (
        "\\sum_{V3=v}P(Y=1|X=1,V3=v)*[P(V3=v|X=1)-P(V3=v|X=0)]",
        "{y11} * ({m1} - {m0}) + {y10} * ({n1} - {n0})",
    ),
    ("nie", "chain"): _TOTAL,
    ("nie", "diamond"): _TOTAL,
    ("nie", "frontdoor"): _FRONT,
    ("nie", "mediation"): (
        "\\sum_{V2 = v} P(Y=1|X =0,V2 = v)*[P(V2 = v | X = 1) − P(V2 = v | X = 0)]",
        "({m1} - {m0}) * ({y01} - {y00})",
    ),
    ("nde", "mediation"): (
        "\\sum_{V2=v} P(V2=v|X=0)*[P(Y=1|X=1,V2=v) - P(Y=1|X=0, V2=v)]",
        "{n0} * ({y10} - {y00}) + {m0} * ({y11} - {y01})",
    ),
}
"""Estimand, and the sum over the numbers: p and q of a single probability and its complement, m and n of a mediator's
(or V3's) by X, y of the outcome by its conditions in their order, b of X and Y together."""


def sum_of(ask: Ask, graph: Graph, printed: Printed) -> tuple[str, str] | None:
    """Return the estimand and its sum over the printed numbers; None where no formula holds in the graph."""
    fixed = {"marginal": _MARGINAL, "correlation": _CORRELATION}
    found = fixed.get(ask.query) or _SUMS.get((ask.query, graph.name))
    if found is None:
        return None
    try:
        return found[0], found[1].format(**_cells(printed))
    except KeyError:  # the text gives other tables than the benchmark's
        return None


def formal(ask: Ask, graph: Graph) -> str:
    """Return what is asked for as a formula."""
    if ask.query in ("nie", "nde"):
        under = [", ".join(f"{node}_{{X={value}}}" for node in graph.mediators) for value in (0, 1)]
        if ask.query == "nie":
            return f"E[Y_{{X=0, {under[1]}}} - Y_{{X=0, {under[0]}}}]"
        return f"E[Y_{{X=1, {under[0]}}} - Y_{{X=0, {under[0]}}}]"
    if ask.query == "det-counterfactual":
        seen = ", ".join(f"{node}={value}" for node, value in ask.observed)
        return f"Y_{{X={ask.action}}} = {int(ask.polarity)} | {seen}"
    if ask.query == "backadj":
        return "[backdoor adjustment set for Y given X]"
    return _FORMAL[ask.query]


def numbers_told(printed: Printed) -> str:
    """Return the printed numbers, a line each."""
    lines = []
    for (node, causes), table in printed.items():
        for values, percent in zip(product((0, 1), repeat=max(len(causes), node == XY)), table, strict=True):
            chance = f"{percent / 100:.2f}"
            if node == XY:
                lines.append(f"P(Y=1, X={values[0]}) = {chance}")
            elif causes:
                given = ", ".join(f"{cause}={value}" for cause, value in zip(causes, values, strict=True))
                lines.append(f"P({node}=1 | {given}) = {chance}")
            else:
                lines.append(f"P({node}=1) = {chance}")
    return "\n".join(lines)


def _cells(printed: Printed) -> dict[str, str]:
    """Return the printed numbers by the names that the sums call them."""
    cells: dict[str, str] = {}
    for (node, causes), table in printed.items():
        for place, percent in enumerate(table):
            chance, rest = f"{percent / 100:.2f}", f"{1 - percent / 100:.2f}"
            if node == XY:
                cells[f"b{place}"] = chance
            elif node == Y:
                cells[f"y{place:0{len(causes)}b}"] = chance
            elif causes == (X,):
                cells[f"m{place}"], cells[f"n{place}"] = chance, rest
            else:
                cells["p"], cells["q"] = chance, rest
    return cells
