"""Whether two expressions of probabilities are the same in every model of a graph: compared on random models.

Both sides are rational functions of the models' probabilities. Where they differ at all they differ almost everywhere
(a polynomial that is not zero has zeros of measure zero), so that a few models drawn at random decide it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from harness.codec import uniform
from harness.plugins.cladder.expression import (
    MOST_SUMS,
    Chance,
    Expression,
    Index,
    Operation,
    Sum,
    Term,
)
from harness.plugins.cladder.expression_tokens import UnreadableExpression
from harness.plugins.cladder.graphs import Graph, Scm, X, Y
from harness.plugins.cladder.queries import Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MODELS = 5
SAME = 1e-9


@lru_cache(maxsize=16)
def random_models(graph: Graph) -> tuple[Scm, ...]:
    """Return five models of a graph, always the same ones, with probabilities between 0.1 and 0.9."""
    return tuple(
        Scm(
            graph,
            {
                node: tuple(
                    0.1 + 0.8 * uniform("estimand", graph.name, k, node, place) for place in range(2 ** len(causes))
                )
                for node, causes in graph.parents.items()
            },
        )
        for k in range(MODELS)
    )


def value_in(expression: Expression, scm: Scm) -> float:
    """Return what an expression comes to in a model; NaN or infinite where it divides by zero.

    Every part is worked out once, for all values of what sums run over. Raises UnreadableExpression for
    counterfactuals, which the tables of a model do not settle.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        return float(_values(expression, scm).reshape(-1)[0])


def equal(left: Expression, right: Expression, graph: Graph) -> bool:
    """Test whether two expressions are the same in every model of the graph."""
    return all(_near(value_in(left, scm), value_in(right, scm)) for scm in random_models(graph))


def is_estimand(expression: Expression, query: Query, graph: Graph) -> bool:
    """Test whether an expression gives what is asked for, in every model, by what is observed (Pearl 2009, §3.2)."""
    for chance in chances(expression):
        if chance.done or any(term.under or term.node == graph.unobserved for term in chance.event | chance.given):
            return False
    return all(_near(value_in(expression, scm), target(query, scm)) for scm in random_models(graph))


def target(query: Query, scm: Scm) -> float:
    """Return what a kind of question asks for in a model: the oracle's sum over all worlds."""
    if query == "marginal":
        return scm.probability({Y: 1})
    if query == "correlation":
        return scm.probability({Y: 1}, {X: 1}) - scm.probability({Y: 1}, {X: 0})
    effects = {"ate": scm.ate, "ett": scm.ett, "nde": scm.nde, "nie": scm.nie}
    return effects[query]


def chances(expression: Expression) -> Iterator[Chance]:
    """Yield the probabilities that an expression is made of."""
    left = [expression]
    while left:
        part = left.pop()
        if isinstance(part, Chance):
            yield part
        elif isinstance(part, Sum):
            left.append(part.body)
        elif isinstance(part, Operation):
            left += (part.left, part.right)


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * max(1.0, abs(a), abs(b))


def _values(expression: Expression, scm: Scm) -> Array:
    """Return the value by each index that it depends on: an array of so many axes, of 2 or 1 values each."""
    import numpy as np

    if isinstance(expression, float):
        return np.full((1,) * MOST_SUMS, expression)
    if isinstance(expression, Chance):
        return _of_chance(expression, scm)
    if isinstance(expression, Sum):
        values, axis = _values(expression.body, scm), expression.index.number
        total: Array = values.sum(axis=axis, keepdims=True)
        return total * 2 if values.shape[axis] == 1 else total
    left: Expression = expression
    rights = list[tuple[str, Expression]]()
    while isinstance(left, Operation):  # a long sum leans to the left: no recursion along it
        rights.append((left.sign, left.right))
        left = left.left
    values = _values(left, scm)
    for sign, right in reversed(rights):
        other = _values(right, scm)
        values = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[sign](values, other)
    return values


def _of_chance(chance: Chance, scm: Scm) -> Array:
    nodes = scm.graph.nodes
    terms = chance.event | chance.given | chance.done
    if any(term.under for term in terms):
        raise UnreadableExpression("a counterfactual has no value by the tables of a model alone")
    joint = _joint(scm, frozenset(term.node for term in chance.done))
    unnamed = tuple(k for k, node in enumerate(nodes) if node not in {term.node for term in terms})
    both = joint.sum(axis=unnamed, keepdims=True)
    known = both.sum(axis=tuple(nodes.index(term.node) for term in chance.event), keepdims=True)
    return _at(both, terms, nodes) / _at(known, chance.given | chance.done, nodes)


def _at(table: Array, terms: frozenset[Term], nodes: tuple[str, ...]) -> Array:
    """Return the entries of a table at the values of the terms, those of indices along their axes."""
    import numpy as np

    values = {term.node: term.value for term in terms}
    places = []
    for node in nodes:
        value = values.get(node, 0)
        shape, entries = [1] * MOST_SUMS, [value]
        if isinstance(value, Index):
            shape[value.number], entries = 2, [0, 1]
        places.append(np.array(entries).reshape(shape))
    selected: Array = table[tuple(places)]
    return selected


@lru_cache(maxsize=1024)
def _joint(scm: Scm, done: frozenset[str]) -> Array:
    """Return the product of the tables of all variables that are not set, with an axis for each variable."""
    import numpy as np

    nodes = scm.graph.nodes
    joint = np.ones((2,) * len(nodes))
    for node, causes in scm.graph.parents.items():
        if node in done:
            continue
        chance = np.array(scm.tables[node]).reshape((2,) * len(causes))
        table = np.stack([1 - chance, chance], axis=-1)
        axes = [nodes.index(name) for name in (*causes, node)]
        shape = [2 if k in axes else 1 for k in range(len(nodes))]
        joint = joint * table.transpose(np.argsort(axes)).reshape(shape)
    return joint


def canonical(expression: Expression) -> Mapping[Chance, int]:
    """Return a formal query as probabilities with their signs, so that the same in another notation is equal.

    do(X=1) is a subscript of all that is left; Y_{X=1} given X = 1 is Y (consistency), and Y_{X=0, V2_{X=0}} is
    Y_{X=0} (composition; Pearl 2009, §7.3). Raises UnreadableExpression for products and sums over variables.
    """
    parts: Counter[Chance] = Counter()
    left = [(1, expression)]
    while left:
        sign, part = left.pop()
        if isinstance(part, Operation) and part.sign in ("+", "-"):
            left += [(sign, part.left), (sign if part.sign == "+" else -sign, part.right)]
        elif isinstance(part, Chance):
            parts[_canonical_chance(part)] += sign
        elif part != 0.0:
            raise UnreadableExpression(
                "a formal query has probabilities with plus and minus between them, and no others"
            )
    return {part: count for part, count in parts.items() if count}


def _canonical_chance(chance: Chance) -> Chance:
    given = frozenset(Term(term.node, term.value, term.under | chance.done) for term in chance.given)
    return Chance(
        frozenset(_plain(Term(term.node, term.value, term.under | chance.done), given) for term in chance.event), given
    )


def _plain(term: Term, given: frozenset[Term]) -> Term:
    under = frozenset(other for other in term.under if not other.under)
    nested = frozenset(other for other in term.under if other.under and other.under != under)
    kept = under | nested
    return Term(term.node, term.value, frozenset() if kept <= given else kept)
