"""The answer that follows from a question's words alone; None if they leave it open.

Whole percents leave a range of the effect: that over everything that rounds to the numbers printed. Each formula is
linear in every number by itself, so its range over a box of numbers is found at ends of intervals. Where the graph and
the numbers do not settle the effect even without rounding (an instrument, a mediator with an unobserved cause), the
range is that over every model which fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from harness.tasks.cladder.graphs import Graph, Table, X, Y
from harness.tasks.cladder.queries import Ask, Query, TableKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Range = tuple[float, float]
"""The least and the largest."""
Printed = Mapping[TableKey, Sequence[float]]
"""Probability tables in percents, whole ones in questions. P(X = x, Y = 1) has the key ("XY", ())."""
XY = "XY"
ANY: Range = (0.0, 1.0)


def rounded(percent: float, slack: float = 0.5) -> Range:
    """Return the interval of probabilities printed as this percentage; `slack` is the rounding error, in percent."""
    return max(0.0, (percent - slack) / 100), min(1.0, (percent + slack) / 100)


def effect_range(query: Query, graph: Graph, printed: Printed, slack: float = 0.5) -> Range:
    """Return the range of the value that decides a question: P(Y = 1) of a marginal, an effect of the others.

    `printed` has the tables that the question gives (queries.tables_given). Of explaining away it is the sign that
    counts: P(Y | X = 1, V3 = 1) - P(Y | X = 0, V3 = 1) has that of the value which is asked for. With no `slack` the
    printed numbers are taken as they are.
    """
    if query == "correlation":
        return (0.0, 0.0) if graph.independent else _correlation(printed, slack)
    tables = {key: [rounded(percent, slack) for percent in table] for key, table in printed.items()}
    if query == "marginal":
        return _mean(tables[X, ()][0], tables[Y, (X,)])
    if query == "exp_away":
        table = tables[Y, (X, graph.collider)]
        return _difference(table[3], table[1])
    if (Y, (X,)) in tables:
        return _difference(tables[Y, (X,)][1], tables[Y, (X,)][0])
    return _of_tables(query, graph, tables)


def _of_tables(query: Query, graph: Graph, tables: Mapping[TableKey, Sequence[Range]]) -> Range:
    """Return the range of an effect that takes more than P(Y | X)."""
    if graph.name == "IV":
        return _instrument(tables[X, ("V2",)], tables[Y, ("V2",)])
    if graph.name == "arrowhead":
        return _confounded_mediator(query, tables)
    if (Y, ("V1", X)) in tables:  # P(V1 | X = 1), which the effect on the treated takes, is not among the numbers
        share = tables["V1", ()][0] if query == "ate" else ANY
        y = tables[Y, ("V1", X)]
        return _mean(share, (_difference(y[1], y[0]), _difference(y[3], y[2])))
    other = next(causes[1] for node, causes in tables if node == Y)
    y, m = tables[Y, (X, other)], tables[other, (X,)]
    of_other = [_difference(y[1], y[0]), _difference(y[3], y[2])]  # of the other variable on Y, by X
    of_x = [_difference(y[2], y[0]), _difference(y[3], y[1])]  # of X on Y, by the other variable
    if graph.name == "diamondcut":
        return _mean(m[1], of_x)
    if query == "nde":
        return _mean(m[0], of_x)
    moved = _difference(m[1], m[0])
    if graph.name == "frontdoor":
        return _times(moved, of_other[1] if query == "ett" else _mean(tables[X, ()][0], of_other))
    return _times(moved, of_other[0])


def _difference(a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def _times(a: Range, b: Range) -> Range:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _mean(share: Range, values: Sequence[Range]) -> Range:
    """Return the range of (1 - share) * first + share * second."""
    first, second = values
    return (
        min((1 - s) * first[0] + s * second[0] for s in share),
        max((1 - s) * first[1] + s * second[1] for s in share),
    )


def _correlation(printed: Printed, slack: float) -> Range:
    """Return the range of P(Y | X = 1) - P(Y | X = 0): each falls with the probability of its condition."""
    low, high = rounded(printed[X, ()][0], slack)
    without, with_x = (rounded(percent, slack) for percent in printed[XY, ()])
    least = _share(with_x[0], high) - _share(without[1], 1 - high)
    most = _share(with_x[1], low) - _share(without[0], 1 - low)
    return least, most


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 1.0 if part > 0 else 0.0


def _instrument(x: Sequence[Range], y: Sequence[Range]) -> Range:
    """Return what P(X | Z) and P(Y | Z) of an instrument Z leave open of the effect of X on Y.

    These are the vertices of the linear program of Balke and Pearl (1997) where the joint of X and Y given Z is not
    known. The ratio of the paper's estimand is the effect only where it is the same for everybody.
    """
    return _least(x, y), -_least(x, [(1 - high, 1 - low) for low, high in y])


def _least(x: Sequence[Range], y: Sequence[Range]) -> float:
    bounds = []
    for z in (0, 1):
        low = x[z][0] + y[z][0]
        high = x[1 - z][1] + y[1 - z][1]
        bounds += [2 * low - y[1 - z][1] - 3, low - 2, low - high - 1, y[z][0] - 2 * high, -high]
    return max(-1.0, *bounds)


def _confounded_mediator(query: Query, tables: Mapping[TableKey, Sequence[Range]]) -> Range:
    """Return what is left open of a natural effect where V2, unobserved, affects both the mediator V3 and Y.

    Of P(Y | X, V2, V3) only its mean over V2, P(Y | X, V3), is known. E[Y] with X = x and the mediator of the other x
    is then a linear program in one equation for each value of V3: the larger weight is filled first.
    """
    import numpy as np

    ranges = [*tables["V3", (X, "V2")], tables["V2", ()][0], *tables[Y, (X, "V3")]]
    keys = [(v2, x) for x in (0, 1) for v2 in (0, 1)]
    if query == "nie":
        ranges = ranges[:7]
    corners = np.array(list(product(*ranges))).T
    mediator = {key: corners[place] for place, key in enumerate(keys)}
    second = corners[4]
    y = {(x, v): corners[5 + 2 * x + v] for x in ((0,) if query == "nie" else (0, 1)) for v in (0, 1)}
    shown = int(query == "nde")
    least = most = 0.0
    for v in (0, 1):
        chance = {key: value if v else 1 - value for key, value in mediator.items()}
        known = [second * chance[1, shown], (1 - second) * chance[0, shown]]
        asked = [second * chance[1, 1 - shown], (1 - second) * chance[0, 1 - shown]]
        low, high = _filled(y[shown, v] * (known[0] + known[1]), known, asked)
        base = y[0, v] * (second * chance[1, 0] + (1 - second) * chance[0, 0])
        least, most = least + low - base, most + high - base
    return float(np.min(least)), float(np.max(most))


def _filled(
    total: NDArray[np.float64], room: Sequence[NDArray[np.float64]], worth: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest worth of a total that is spread over two rooms, each worth so much when full."""
    import numpy as np

    rate = [np.divide(w, r, out=np.zeros_like(w), where=r > 0) for w, r in zip(worth, room, strict=True)]
    first = np.clip(total, 0, room[0])
    last = np.clip(total - room[1], 0, room[0])
    ends = [part * rate[0] + (total - part) * rate[1] for part in (first, last)]
    return np.minimum(*ends), np.maximum(*ends)


@dataclass(frozen=True, slots=True)
class Stated:
    """What a question says: its graph, what it asks, and the numbers or mechanisms that it gives."""

    graph: Graph
    ask: Ask
    printed: Printed
    mechanisms: Mapping[str, Table]
    """Of a deterministic counterfactual: the table of each variable with causes."""
    unclear: str = ""
    """Why the words do not tell what is asked; "" where they do."""


def stated_answer(stated: Stated) -> bool | None:
    """Return whether the answer is Yes; None where it is unclear, or models that fit all that is said differ."""
    graph, ask = stated.graph, stated.ask
    if stated.unclear:
        return None
    if ask.query == "backadj":
        first, second = (graph.admissible(method) for method in ask.methods)
        return first and not second
    if ask.query == "collider_bias":
        return not ask.polarity
    if ask.query == "det-counterfactual":
        return bool(_counterfactual(stated)) == ask.polarity
    return follows(ask, effect_range(ask.query, graph, stated.printed))


def follows(ask: Ask, values: Range) -> bool | None:
    """Return whether the answer is Yes where the value that is asked for lies in a range; None where that is open."""
    least, most = values
    if ask.query == "marginal":
        least, most = least - 0.5, most - 0.5
    upward = ask.polarity != (ask.query == "ett")  # of the treated it is asked what would be without the treatment
    return _above((least, most) if upward else (-most, -least))


def _counterfactual(stated: Stated) -> int:
    """Return Y by the mechanisms, with what is observed and X as the question sets it."""
    world = dict(stated.ask.observed) | {X: stated.ask.action}
    for node, causes in stated.graph.parents.items():
        if node not in world:
            place = 0
            for cause in causes:
                place = 2 * place + world[cause]
            world[node] = round(stated.mechanisms[node][place])
    return world[Y]


def _above(values: Range) -> bool | None:
    """Return whether every value is above 0, or none is."""
    if values[0] > _NOISE:
        return True
    return False if values[1] <= _NOISE else None


_NOISE = 1e-9
"""Below it a difference is that of sums of floats: 0.5 + 0.005 - 0.505 is not 0."""
