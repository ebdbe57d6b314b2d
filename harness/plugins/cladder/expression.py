"""Expressions of probabilities as replies write them, in plain text, LaTeX or Unicode, into trees.

Read are P(Y=1 | X=1, V2=0), E[...], do(X=1), counterfactual subscripts Y_{X=1}, sums over variables, numbers, + - * /,
fractions and brackets. A sum holds as far as the next plus or minus. A variable without a value is the one that a sum
around it runs over, otherwise it is 1. What can be taken in two ways is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.plugins.cladder.expression_tokens import UnreadableExpression, tokens

LONGEST, DEEPEST, MOST_SUMS = 4000, 40, 6
"""Characters, brackets and sums within each other: what has more is not read."""


@dataclass(frozen=True, slots=True)
class Index:
    """The value that a sum runs over; sums within each other have different numbers."""

    number: int


@dataclass(frozen=True, slots=True)
class Term:
    """A variable with its value, and what is set in the world in which it has it: Y_{X=1} = 1."""

    node: str
    value: int | Index
    under: frozenset[Term] = frozenset()


@dataclass(frozen=True, slots=True)
class Chance:
    """P(event | given, do(done))."""

    event: frozenset[Term]
    given: frozenset[Term] = frozenset()
    done: frozenset[Term] = frozenset()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of an expression over both values of an index."""

    index: Index
    body: Expression


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions with + - * or / between them."""

    sign: str
    left: Expression
    right: Expression


Expression = Chance | Sum | Operation | float

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def read_expression(text: str, nodes: Sequence[str]) -> Expression:
    """Return the tree of an expression of these variables, in time proportional to its length.

    Raises UnreadableExpression.
    """
    if len(text) > LONGEST:
        raise UnreadableExpression(f"it has {len(text):,} characters, more than {LONGEST:,}")
    reader = _Reader(tokens(text), {node.casefold(): node for node in nodes})
    expression = reader.sum_of_products()
    reader.expect("")
    return expression


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, tokens: Sequence[str], nodes: dict[str, str]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self._nodes = nodes
        self._scope: dict[str, Index] = {}
        """What sums around this place run over, by name,"""
        self._of: dict[Index, str] = {}
        """and the variable that each is a value of, once that is known."""
        self._bound: set[str] = set()
        """The names that some sum has run over."""

    @property
    def _next(self) -> str:
        return self._tokens[self._place]

    def _take(self) -> str:
        token = self._next
        self._place += bool(token)
        return token

    def _skip(self, token: str) -> bool:
        if self._next != token:
            return False
        self._take()
        return True

    def expect(self, token: str) -> None:
        """Take a token. Raises UnreadableExpression for another one."""
        if self._next != token:
            raise UnreadableExpression(f"{self._next or 'the end'!r} stands where {token or 'the end'!r} should")
        self._take()

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnreadableExpression("it has too many brackets within each other")
        yield
        self._depth -= 1

    def sum_of_products(self) -> Expression:
        with self._deeper():
            left: Expression = 0.0 if self._next in ("+", "-") else self._product()
            while self._next in ("+", "-"):
                left = Operation(self._take(), left, self._product())
            return left

    def _product(self) -> Expression:
        left = self._factor()
        while self._next in ("*", "/") or self._begins_factor():
            sign = self._take() if self._next in ("*", "/") else "*"
            left = Operation(sign, left, self._factor())
        return left

    def _begins_factor(self) -> bool:
        token = self._next
        return token in ("P", "E", "sum", "frac") or token in _CLOSING or token[:1].isdigit()

    def _factor(self) -> Expression:
        token = self._take()
        if token == "sum":
            with self._deeper():
                return self._sum()
        if token == "frac":
            parts = []
            for _ in range(2):
                self.expect("{")
                parts.append(self._inside("{"))
            return Operation("/", *parts)
        if token in ("P", "E"):
            return self._chance(token)
        if token in _CLOSING:
            return self._inside(token)
        if token[:1].isdigit() or token[:1] == ".":
            return float(token)
        raise UnreadableExpression(f"{token or 'the end'!r} stands where a probability, a number or a sum should")

    def _inside(self, opening: str) -> Expression:
        expression = self.sum_of_products()
        self.expect(_CLOSING[opening])
        return expression

    def _sum(self) -> Expression:
        before = dict(self._scope)
        self.expect("_")
        indices = self._indices() if self._skip("{") else [self._bind(self._take())]
        if self._skip("^"):
            braces = self._skip("{")
            self.expect("1")
            if braces:
                self.expect("}")
        body = self._product()
        self._scope = before
        for index in reversed(indices):
            body = Sum(index, body)
        return body

    def _indices(self) -> list[Index]:
        """Return what a sum runs over: V2 / v / V2=v / V2=0 (as far as 1) / V2 ∈ {0, 1}, with commas between them."""
        indices = []
        while True:
            name, symbol = self._take(), ""
            if self._skip("∈"):
                for token in ("{", "0", ",", "1", "}"):
                    self.expect(token)
            elif self._skip("="):
                symbol = self._take()
                if symbol == "0":
                    symbol = ""
                    up_to = self._tokens[self._place : self._place + 2]
                    if up_to == [",", "1"]:
                        self._place += 2
                    elif up_to != ["}", "^"]:
                        raise UnreadableExpression("a sum over a single value")
            indices.append(self._bind(name, symbol))
            if not self._skip(","):
                self.expect("}")
                return indices

    def _bind(self, name: str, symbol: str = "") -> Index:
        index = Index(len(set(self._scope.values())))
        if index.number == MOST_SUMS:
            raise UnreadableExpression("it has too many sums within each other")
        node = self._nodes.get(name.rstrip("'").casefold(), "")
        for word in filter(None, (name, symbol)):
            if not word[0].isalpha() or (symbol and not node):
                raise UnreadableExpression(f"a sum cannot run over {word!r}")
            self._scope[word.casefold()] = index
            self._bound.add(word.casefold())
        self._of[index] = node
        return index

    def _chance(self, kind: str) -> Expression:
        opening = self._take()
        if opening not in _CLOSING:
            raise UnreadableExpression(f"{kind} without a bracket")
        event, done, signs = list[Term](), list[Term](), "+"
        while True:
            self._term_or_do(event, done)
            if kind == "E" and self._next in ("+", "-"):
                signs += self._take()
            elif not self._skip(","):
                break
        given = list[Term]()
        if self._skip("|"):
            self._term_or_do(given, done)
            while self._skip(","):
                self._term_or_do(given, done)
        self.expect(_CLOSING[opening])
        if kind == "P":
            return _chance(event, given, done)
        if len(event) != len(signs) or any(term.value != 1 for term in event):
            raise UnreadableExpression("the expectation of something else than a variable")
        total: Expression = _chance(event[:1], given, done)
        for sign, term in zip(signs[1:], event[1:], strict=True):
            total = Operation(sign, total, _chance([term], given, done))
        return total

    def _term_or_do(self, terms: list[Term], done: list[Term]) -> None:
        if self._next != "do":
            terms.append(self._term())
            return
        self._take()
        opening = self._take()
        if opening not in _CLOSING:
            raise UnreadableExpression("do without a bracket")
        done.append(self._term())
        while self._skip(","):
            done.append(self._term())
        self.expect(_CLOSING[opening])

    def _term(self) -> Term:
        with self._deeper():
            value: int | Index | None = 0 if self._skip("¬") else None
            name = self._take()
            node = self._nodes.get(name.rstrip("'").casefold())
            if node is None:
                raise UnreadableExpression(f"{name or 'the end'!r} is no variable of the graph")
            under = list[Term]()
            if self._skip("_"):
                self.expect("{")
                under.append(self._setting())
                while self._skip(","):
                    under.append(self._setting())
                self.expect("}")
            if value is None:
                value = self._value(node) if self._skip("=") else self._bare(name, node)
            return Term(node, value, _distinct(under))

    def _setting(self) -> Term:
        """Return what is set in another world; V2=V2_{X=0} is V2_{X=0}."""
        name, sign, value, *_ = (*self._tokens[self._place : self._place + 4], "", "", "")
        if sign == "=" and name.casefold() == value.casefold():
            self._place += 2
        return self._term()

    def _value(self, node: str) -> int | Index:
        token = self._take()
        if token in ("0", "1"):
            return int(token)
        index = self._scope.get(token.casefold())
        if index is None or self._of[index] not in ("", node):
            raise UnreadableExpression(f"{token or 'the end'!r} is no value of {node}")
        self._of[index] = node
        return index

    def _bare(self, name: str, node: str) -> int | Index:
        if (index := self._scope.get(name.casefold())) is not None:
            return index
        if name != node or name.casefold() in self._bound:
            raise UnreadableExpression(f"which value {name!r} has is not said")
        return 1


def _chance(event: Sequence[Term], given: Sequence[Term], done: Sequence[Term]) -> Chance:
    if not event:
        raise UnreadableExpression("the probability of nothing")
    if not any(term.under for term in (*event, *given)):
        _distinct([*event, *given, *done])
    return Chance(frozenset(event), frozenset(given), _distinct(done))


def _distinct(terms: Sequence[Term]) -> frozenset[Term]:
    """Return the terms as a set. Raises UnreadableExpression where a variable comes twice."""
    if len({term.node for term in terms}) < len(terms):
        raise UnreadableExpression("a variable comes twice in one probability")
    return frozenset(terms)
