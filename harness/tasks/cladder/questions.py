"""A model and what is asked about it into a question: its words, its numbers, and its answer under each label set.

The numbers are there twice: as they follow from the model, and as the authors' files have them. The files take a
variable's parents for independent of each other given what is known. Where they share a cause that is a mistake, and
P(Y), P(Y | X) and the effects that rest on them come out wrong (docs/cladder.md has the counts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import sqrt

from harness.codec import uniform
from harness.tasks.cladder import wording
from harness.tasks.cladder.graphs import Graph, Scm, Table, X, Y
from harness.tasks.cladder.queries import NUMERIC, Ask, Query, TableKey, asks, tables_given
from harness.tasks.cladder.stated import XY, Stated, follows, stated_answer
from harness.tasks.cladder.stories import ALIKE, WRONG_SIDE, GraphStory

NO_EFFECT = 0.005
"""The files count an effect below this as none (but for explaining away): they answer No, whichever way is asked."""


@dataclass(frozen=True, eq=False)
class ExactNumbers:
    """What follows from the model."""

    scm: Scm

    def table(self, node: str, causes: tuple[str, ...]) -> Table:
        """Return P(node = 1 | causes) for all values of the causes."""
        return tuple(
            self.scm.probability({node: 1}, dict(zip(causes, values, strict=True)))
            for values in product((0, 1), repeat=len(causes))
        )

    def value(self, query: Query) -> float:
        """Return the value that the question asks for."""
        scm = self.scm
        if query in ("ate", "ett", "nde", "nie"):
            return float(getattr(scm, query))
        if query == "marginal":
            return scm.probability({Y: 1})
        if query == "correlation":
            return scm.probability({Y: 1}, {X: 1}) - scm.probability({Y: 1}, {X: 0})
        seen = {scm.graph.collider: 1}
        if query == "collider_bias":
            return _correlation(*(scm.probability({X: x, Y: y}, seen) for x, y in ((1, 0), (0, 1), (1, 1))))
        return scm.probability({Y: 1}, seen | {X: 1}) - scm.probability({Y: 1}, seen)


@dataclass(frozen=True, eq=False)
class PublishedNumbers(ExactNumbers):
    """What the authors' files have: the same, but for where they take parents for independent."""

    def table(self, node: str, causes: tuple[str, ...]) -> Table:
        """Return P(node = 1 | causes): by the mistaken rule where the causes' own parents are among them."""
        graph = self.scm.graph
        if any(set(graph.parents[cause]) - set(causes) for cause in causes):
            return super().table(node, causes)
        return tuple(
            self._forward(node, dict(zip(causes, map(float, values), strict=True)))
            for values in product((0, 1), repeat=len(causes))
        )

    def value(self, query: Query) -> float:
        """Return the value that the question asks for."""
        if query == "marginal":
            return self._forward(Y, {})
        if query == "ate" or (query == "ett" and not self.scm.graph.parents[X]):
            return self._forward(Y, {X: 1.0}) - self._forward(Y, {X: 0.0})
        if query == "nde":
            return self._path(1, 0) - self._path(0, 0)
        if query == "nie":
            return self._path(0, 1) - self._path(0, 0)
        return super().value(query)

    def _path(self, direct: int, indirect: int) -> float:
        """Return P(Y = 1) with X = direct and the mediators as they are under X = indirect."""
        mediators = {node: self._forward(node, {X: float(indirect)}) for node in self.scm.graph.mediators}
        return self._forward(Y, {X: float(direct), **mediators})

    def _forward(self, node: str, known: Mapping[str, float]) -> float:
        """Return P(node = 1) from its parents', each on its own: the mistake."""
        if node in known:
            return known[node]
        causes = self.scm.graph.parents[node]
        chances = [self._forward(cause, known) for cause in causes]
        total = 0.0
        for chance, values in zip(self.scm.tables[node], product((0, 1), repeat=len(causes)), strict=True):
            for above, value in zip(chances, values, strict=True):
                chance *= above if value else 1 - above
            total += chance
        return total


def _correlation(first: float, second: float, both: float) -> float:
    """Return Pearson's correlation of two events from the probabilities of the first alone, the second alone, both."""
    x, y = first + both, second + both
    spread = sqrt(x * (1 - x) * y * (1 - y))
    return (both - x * y) / spread if spread else 0.0


def printed_tables(numbers: ExactNumbers, query: Query, graph: Graph) -> dict[TableKey, Table]:
    """Return the probabilities that a question gives; P(X = 0, Y = 1) and P(X = 1, Y = 1) stand under ("XY", ())."""
    if query == "correlation":
        both = (numbers.scm.probability({X: x, Y: 1}) for x in (0, 1))
        return {(X, ()): (numbers.scm.probability({X: 1}),), (XY, ()): tuple(both)}
    return {key: numbers.table(*key) for key in tables_given(query, graph)}


@dataclass(frozen=True, eq=False)
class ToldModel:
    """A model, and the story that tells it."""

    cluster: str
    """Story and model: what is asked about one model is not independent."""
    variant: str
    """commonsense, anticommonsense or nonsense."""
    difficulty: str
    """easy, hard, or random where no story says anything of strengths; "" of a deterministic model."""
    story: GraphStory
    scm: Scm
    spec: str = ""
    """What the authors call a model of theirs; "" of a fresh one."""
    _tables: dict[Query, Mapping[TableKey, Table]] = field(default_factory=dict)

    def questions(self) -> Iterator[ToldQuestion]:
        """Yield the questions about it: of a fresh deterministic one both ways about one thing observed."""
        asked = asks(self.scm.graph, deterministic=not self.difficulty)
        if not self.difficulty and not self.spec:
            pair = 2 * int(uniform("cladder", "asked", self.cluster) * (len(asked) // 2))
            asked = asked[pair : pair + 2]
        counts: Counter[Query] = Counter()
        for ask in asked:
            begin = f"{self.story.name}-{self.scm.graph.name}" if self.spec else self.cluster
            parts = (begin, ask.query, *([self.spec] if self.spec else []), f"q{counts[ask.query]}")
            counts[ask.query] += 1
            yield ToldQuestion("-".join(parts), self, ask)

    @cached_property
    def numbers(self) -> ExactNumbers:
        """Those that are printed."""
        return PublishedNumbers(self.scm) if self.spec else ExactNumbers(self.scm)

    @cached_property
    def mechanisms(self) -> Mapping[str, Table]:
        """Those that a deterministic question tells of: of diamondcut the authors negate X where V3 should be."""
        tables = self.scm.tables
        if self.spec and not self.difficulty and self.scm.graph.name == "diamondcut":
            return {**tables, "X": tables["V3"], "V3": tables["X"]}
        return tables

    def tables(self, query: Query) -> Mapping[TableKey, Table]:
        """Return the probabilities that the questions of a kind give, made once."""
        if query not in self._tables:
            self._tables[query] = printed_tables(self.numbers, query, self.scm.graph)
        return self._tables[query]

    @cached_property
    def background(self) -> str:
        return wording.background(self.story)


@dataclass(frozen=True, eq=False)
class ToldQuestion:
    """A question about a model."""

    name: str
    model: ToldModel
    ask: Ask

    @property
    def whole(self) -> str:
        return f"{self.model.background} {self.given} {self.text}"

    @cached_property
    def given(self) -> str:
        """What the question gives besides the graph, in words."""
        ask, story, model = self.ask, self.model.story, self.model
        if ask.query == "backadj":
            return wording.methods_in_words(story, ask.methods)
        if ask.query == "det-counterfactual":
            return wording.mechanisms_in_words(story, model.mechanisms, ask)
        if ask.query == "collider_bias":
            return wording.collider_in_words(story, model.numbers.value(ask.query))
        tables = model.tables(ask.query)
        if ask.query == "correlation":
            return wording.joint_in_words(story, *tables.values())
        return wording.tables_in_words(story, tables)

    @property
    def text(self) -> str:
        """What is asked: fresh questions name values where the authors' words have names that do not tell which."""
        by_value = not self.model.spec and not wording.names_tell(self.model.story, self.ask.query)
        return wording.question(self.model.story, self.ask, by_value=by_value)

    @property
    def labels(self) -> dict[str, int]:
        """Its answers; `stated` where the words decide one."""
        labels = {"exact": self.exact}
        if self.model.spec:
            labels["published"] = self.published()
        if self.stated is not None:
            labels["stated"] = self.stated
        return labels

    @cached_property
    def value(self) -> float:
        """The value that the question asks for, by the model; 0 where it asks for none."""
        return ExactNumbers(self.model.scm).value(self.ask.query) if self.ask.query in NUMERIC else 0.0

    @cached_property
    def exact(self) -> int:
        """The answer that the model implies."""
        if self.ask.query in NUMERIC:
            return int(bool(follows(self.ask, (self.value, self.value))))
        return int(bool(stated_answer(Stated(self.model.scm.graph, self.ask, {}, self.model.scm.tables))))

    @cached_property
    def stated(self) -> int | None:
        """The answer that follows from the words, None where they leave it open."""
        if self.misleading:
            return None
        model, query = self.model, self.ask.query
        printed = percents(model.tables(query)) if query in NUMERIC else {}
        answer = stated_answer(Stated(model.scm.graph, self.ask, printed, model.mechanisms))
        return None if answer is None else int(answer)

    @property
    def misleading(self) -> bool:
        """Whether its words say the opposite of what they should, the same of both values, or do not tell which."""
        words = self.model.story.words
        if self.model.spec and not wording.names_tell(self.model.story, self.ask.query):
            return True
        if self.ask.query == "ett" and words[X].name in WRONG_SIDE:
            return True
        tables = self.model.tables(self.ask.query)
        return any(words[cause].name in ALIKE for _, causes in tables for cause in causes)

    def published(self) -> int:
        """The answer by the authors' rule from the numbers as they have them."""
        ask = self.ask
        if ask.query == "backadj":  # the smallest set that will do is the right one, and any other is not
            directly = self.model.scm.graph.admissible(())
            return int(ask.methods[0] == (() if directly else max(ask.methods)))
        if ask.query not in NUMERIC:
            return self.exact
        return self.by_rule(self.model.numbers.value(ask.query))

    def by_rule(self, value: float) -> int:
        """Return the answer by the authors' rule from a value: an effect below 0.005 counts as no effect."""
        ask = self.ask
        if ask.query == "marginal":
            return int((value > 0.5) == ask.polarity)
        if abs(value) < NO_EFFECT and ask.query != "exp_away":
            return 0
        return int((value > 0) == (ask.polarity != (ask.query == "ett")))


def percents(tables: Mapping[TableKey, Table]) -> dict[TableKey, list[int]]:
    return {key: [int(f"{chance:.0%}"[:-1]) for chance in table] for key, table in tables.items()}
