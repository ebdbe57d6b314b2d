"""The steps to an answer, in the layout of the authors' files: names, graph, query, estimand, numbers, sum, verdict.

The sums are right where those of the files are not (a minus for a plus, a factor that is missing), and come to what is
printed behind them; what needs a formula that the graph does not bear out (an instrument, a mediator with an unobserved
cause) has none.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from harness.tasks.cladder.graphs import Graph, X, Y
from harness.tasks.cladder.models import example_models
from harness.tasks.cladder.queries import Ask, Query
from harness.tasks.cladder.questions import Question, percents
from harness.tasks.cladder.stated import XY, Printed
from harness.types import JSON

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


def steps(question: Question) -> tuple[str, ...] | None:
    """Return the seven steps; None for a question that has none (a back-door set) or whose formula does not hold."""
    ask, graph = question.ask, question.model.scm.graph
    words = question.model.story.words
    names = "; ".join(f"{node} = {words[node].name}" for node in graph.nodes)
    edges = ",".join(f"{cause}->{effect}" for cause, effect in graph.edges)
    first = (f"Let {names}.", edges, formal(ask, graph))
    if ask.query == "collider_bias":
        return (*first, "X and Y do not affect each other.", "", "0", "no" if ask.polarity else "yes")
    tables = percents(question.model.facts(ask.query).tables)
    if (told := sum_of(ask, graph, tables)) is None:
        return None
    estimand, arithmetic = told
    try:
        value = sum_value(arithmetic)
    except ZeroDivisionError:  # a condition of 0%
        return None
    middle = Fraction(ask.query == "marginal", 2)
    digits = next(digits for digits in (2, 3, 4, 8) if value == middle or round(value, digits) != middle)
    printed = f"{float(round(value, digits)) + 0.0:.{digits}f}"  # no minus before a zero
    sign = ">" if value > middle else "<" if value < middle else "="
    against = f"{float(middle):.2f}" if middle else "0"
    return (*first, estimand, numbers_told(tables), f"{arithmetic} = {printed}", f"{printed} {sign} {against}")


def sum_value(arithmetic: str) -> Fraction:
    """Return what a sum of printed numbers comes to, exactly. Raises ZeroDivisionError."""
    return _value_of(ast.parse(arithmetic, mode="eval").body)


def _value_of(part: ast.expr) -> Fraction:
    if isinstance(part, ast.BinOp):
        return _OPERATIONS[type(part.op)](_value_of(part.left), _value_of(part.right))
    return Fraction(ast.unparse(part))


_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


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


CHOSEN = (
    "college_salary-chain-easy-s0r-1-correlation-q0",
    "simpson_drug-confounding-hard-s0r-1-ate-q0",
    "candle-fork-easy-s0r-1-ett-q1",
    "encouagement_program-mediation-easy-s0r-1-nie-q1",
)
"""Two are a Yes, and all follow from their words."""


@cache
def solved() -> Sequence[Mapping[str, JSON]]:
    """Return the fields of the examples, with the steps to the answer and the answer; no split asks one of them."""
    questions = {name: question for model in example_models(("easy", "hard")) for name, question in model.questions()}
    return tuple(map(_solved, map(questions.__getitem__, CHOSEN)))


def _solved(question: Question) -> Mapping[str, JSON]:
    parts = {"background": question.model.background, "given": question.given, "question": question.text}
    return {
        "text": " ".join(parts.values()),
        **parts,
        "steps": "\n".join(steps(question) or ()),
        "answer": "Yes" if question.stated else "No",
    }
