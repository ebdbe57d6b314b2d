"""The questions of cladder/steps (CausalCoT's six steps and the answer; Jin et al. 2023, §4), and right replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.plugins.cladder.graphs import GRAPHS, Graph
from harness.plugins.cladder.metrics import Step
from harness.plugins.cladder.parse_text import read_named
from harness.plugins.cladder.queries import TITLES, Ask, Query
from harness.plugins.cladder.questions import Question, percents
from harness.plugins.cladder.reasoning import formal, numbers_told, sum_of
from harness.plugins.cladder.stated import Printed, Range, effect_range, follows
from harness.tasks.text_reasoner import UnreadableText

_LINE = 'End with one line: "Answer: " and {what}.'
WORDS: Mapping[Step, str] = {
    "graph": (
        "{text}\n\nWe work this out in seven steps, with 1 for yes and 0 for no, and these letters: {letters}.\n\n"
        "Step 1: Which variables have a direct effect on which? "
        + _LINE.format(what="the pairs, each written as X -> Y with the cause first, with semicolons between them")
    ),
    "kind": (
        f"Step 2: Which kind of question is it? One of: {', '.join(TITLES.values())}. {_LINE.format(what='the kind')}"
    ),
    "formal": (
        "Step 3: Which quantity decides the question? Write it in symbols, before the graph is used: P(Y=1) or E[Y], "
        "conditions after a bar, do(X=1) for an intervention, Y_{{X=1}} for a counterfactual, nested as in "
        "Y_{{X=1, V_{{X=1}}}}. Where two situations are compared, take the second one from the first. "
        + _LINE.format(what="the expression")
    ),
    "estimand": (
        "Step 4: Use the graph: which expression of probabilities of what is observed, without do and counterfactuals, "
        "is that quantity? Write a sum over both values of a variable as \\sum_{{V}} P(Y=1|X=1,V) P(V). "
        + _LINE.format(what="the expression")
    ),
    "data": (
        "Step 5: Which probabilities does the text give? "
        + _LINE.format(what="all of them, each written as P(Y=1|X=1) = 0.25, with semicolons between them")
    ),
    "number": (
        "Step 6: What does the quantity come to? Percents are whole numbers that were rounded; take them as they are. "
        + _LINE.format(what="the number, such as 0.25 or -0.25")
    ),
    "answer": 'Step 7: What is the answer to the question? End with one line: "Answer: Yes" or "Answer: No".',
}
"""What each step asks, with the text of the question in the first."""
_DIFFERENCE = "P(Y=1 | X=1) - P(Y=1 | X=0)"
_FORMAL: Mapping[Query, str] = {"marginal": "P(Y=1)", "correlation": _DIFFERENCE}
ROUNDING = 0.005
"""How far a number may be off that is rounded to two decimals."""


@dataclass(frozen=True)
class Case:
    """What the steps to one question rest on."""

    graph: Graph
    ask: Ask
    printed: Printed
    names: Mapping[str, str]
    """What the story calls each variable."""

    @classmethod
    def of(cls, question: Question) -> Case:
        words = question.model.story.words
        graph = question.model.scm.graph
        printed = percents(question.model.facts(question.ask.query).tables)
        return cls(graph, question.ask, printed, {node: words[node].name for node in graph.nodes})

    @classmethod
    def read(cls, text: str) -> Case:
        """Return the case that a text tells of. Raises UnreadableText."""
        stated, nodes = read_named(text)
        return cls(stated.graph, stated.ask, stated.printed, {node: name for name, node in nodes.items()})

    @property
    def formal(self) -> str:
        return _FORMAL.get(self.ask.query) or formal(self.ask, self.graph)

    @property
    def value(self) -> float:
        """What the printed numbers come to, as they are."""
        return effect_range(self.ask.query, self.graph, self.printed, slack=0.0)[0]

    @cached_property
    def rounded(self) -> Range:
        """Between what a number is right: what fits the printed percents, itself rounded to two decimals."""
        graph = self.graph
        if self.ask.query == "correlation" and graph.independent:  # not 0 alone: also what the percents come to
            graph = GRAPHS["chain"]
        least, most = effect_range(self.ask.query, graph, self.printed)
        return least - ROUNDING, most + ROUNDING

    def reply(self, step: Step) -> str:
        """Return the line with which a right reply to a step ends. Raises UnreadableText where there is none."""
        return f"Answer: {self._right(step)}"

    def _right(self, step: Step) -> str:
        if step == "graph":
            return "; ".join(f"{cause} -> {effect}" for cause, effect in self.graph.edges)
        if step == "kind":
            return TITLES[self.ask.query]
        if step == "formal":
            return self.formal
        if step == "data":
            return "; ".join(numbers_told(self.printed).splitlines())
        if step == "number":
            return f"{self.value:.4f}"
        if step == "estimand":
            if (parts := sum_of(self.ask, self.graph, self.printed)) is None:
                raise UnreadableText("the graph does not settle what is asked for")
            return parts[0]
        holds = follows(self.ask, effect_range(self.ask.query, self.graph, self.printed))
        if holds is None:
            raise UnreadableText("the numbers leave the answer open")
        return "Yes" if holds else "No"


def letters(question: Question) -> str:
    """Return which letter stands for which variable of a story, and what it is for its value to be 1."""
    words = question.model.story.words
    nodes = question.model.scm.graph.nodes
    return "; ".join(f"{node} = {words[node].name} ({node}=1: {words[node].noun[1]})" for node in sorted(nodes))
