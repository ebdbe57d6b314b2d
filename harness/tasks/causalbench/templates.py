"""What the tasks ask about variables a, b (and c): the words of each template, and what each one really asks.

Words: Zhou et al., Appendix C. `exact` names the structure (structures.py) that makes the answer Yes, `paper` the one
that the paper's numbers were computed with, whatever the question says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Graph = Literal["directed", "reversed", "undirected"]


@dataclass(frozen=True)
class Template:
    """One way to ask about variables."""

    name: str
    question: str
    statement: str
    """The question as a hypothesis, for entailment models (ours)."""
    exact: str
    paper: str
    graph: Graph | None = None
    """How a Yes becomes an edge of the predicted graph: a → b, b → a, a – b; None where a question asks no edge."""


def _by_name(*templates: Template) -> Mapping[str, Template]:
    return {template.name: template for template in templates}


CORRELATION = _by_name(
    *(
        Template(name, question, statement, exact="d_connected", paper="adjacent")
        for name, question, statement in (
            ("related", "Are {a} and {b} related?", "{a} and {b} are related."),
            ("correlated", "Are {a} and {b} correlated?", "{a} and {b} are correlated."),
            (
                "correlation",
                "Is there a correlation between {a} and {b}?",
                "There is a correlation between {a} and {b}.",
            ),
            ("relation", "Is there a relation between {a} and {b}?", "There is a relation between {a} and {b}."),
            ("connection", "Do {a} and {b} have a connection?", "{a} and {b} have a connection."),
        )
    )
)
"""Appendix C.A, in its order."""

CAUSALITY = _by_name(
    *(
        Template(name, question, statement, exact=exact, paper="direct", graph="directed" if exact == "path" else None)
        for name, question, statement, exact in (
            (
                "causally_related",
                "Are {a} and {b} causally related?",
                "{a} and {b} are causally related.",
                "path_either_way",
            ),
            (
                "causal_connection",
                "Is there a causal connection between {a} and {b}?",
                "There is a causal connection between {a} and {b}.",
                "path_either_way",
            ),
            ("cause", "Does {a} cause {b}?", "{a} causes {b}.", "path"),
            ("influence", "Does {a} influence {b}?", "{a} influences {b}.", "path"),
            (
                "causality_between",
                "Is there causality between {a} and {b}?",
                "There is causality between {a} and {b}.",
                "path_either_way",
            ),
        )
    )
)
"""The first method: Appendix C.C, Type I, in its order."""

_EDGES: Mapping[str, Graph] = {"direct": "directed", "reversed_direct": "reversed"}
STRUCTURES = _by_name(
    *(
        Template(name, question, statement, exact=name, paper="direct", graph=_EDGES.get(name))
        for name, question, statement in (
            ("direct", "Does {a} directly cause the {b}?", "{a} directly causes {b}."),
            (
                "indirect",
                "Does {a} causes something else which causes {b}?",
                "{a} causes something else which causes {b}.",
            ),
            ("reversed_direct", "Does {b} directly cause the {a}?", "{b} directly causes {a}."),
            (
                "reversed_indirect",
                "Is the {b} a cause for the {a} but not a direct one?",
                "{b} is a cause for {a} but not a direct one.",
            ),
            (
                "common_effect",
                "Is there at least one common effect of {a} and the {b}?",
                "There is at least one common effect of {a} and {b}.",
            ),
            (
                "common_cause",
                "Is there at least common cause of the {a} and the {b}?",
                "There is at least one common cause of {a} and {b}.",
            ),
        )
    )
)
"""The second method: Appendix C.C, Type II, word for word. The appendix prints the common effect twice and the reversed
direct cause, of which Section III-E speaks, not at all: that question is ours, after the first one."""

SKELETON = _by_name(
    Template(
        "directly_related",
        "Are {a} and {b} directly related?",
        "{a} and {b} are directly related.",
        exact="adjacent",
        paper="adjacent",
        graph="undirected",
    ),
    Template(
        "related_given",
        "Given {c}, are {a} and {b} related?",
        "Given {c}, {a} and {b} are related.",
        exact="d_connected_given",
        paper="",
    ),
)
"""The skeleton by the convention `exact`: adjacency, and d-separation by one variable (questions ours)."""

_CONDITION = (
    "If {{a}} and {{b}} are not directly related, then {{a}} and {{b}} are {} related under {{c}}. "
    "Under this condition, are {{a}} and {{b}} related?"
)
_CONDITION_STATEMENT = (
    "If {{a}} and {{b}} are not directly related and are {} related under {{c}}, then {{a}} and {{b}} are related "
    "under this condition."
)
PAPER_SKELETON = _by_name(
    replace(SKELETON["directly_related"], graph=None),  # asked of some pairs only
    *(
        Template(
            name,
            _CONDITION.format(words),
            _CONDITION_STATEMENT.format(words),
            exact="d_connected_given",
            paper="",
        )
        for name, words in (
            ("conditionally_related", "conditionally"),
            ("not_conditionally_related", "not conditionally"),
        )
    ),
)
"""Appendix C.B; table.py has the rule that chooses among them and sets the paper's labels."""
