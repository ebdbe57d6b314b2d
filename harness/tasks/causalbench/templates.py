"""What the tasks ask about variables a, b (and c): the words of each template, and what each one really asks.

Words: Zhou et al., Appendix C. `exact` names the structure (structures.py) that makes the answer Yes, `paper` the one
that the paper's numbers were computed with, whatever the question says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
        Template(name, question, statement, "d_connected", "adjacent")
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

_EITHER: tuple[str, str] = ("path_either_way", "direct")
_PATH: tuple[str, str, Graph] = ("path", "direct", "directed")
CAUSALITY = _by_name(
    Template("causally_related", "Are {a} and {b} causally related?", "{a} and {b} are causally related.", *_EITHER),
    Template(
        "causal_connection",
        "Is there a causal connection between {a} and {b}?",
        "There is a causal connection between {a} and {b}.",
        *_EITHER,
    ),
    Template("cause", "Does {a} cause {b}?", "{a} causes {b}.", *_PATH),
    Template("influence", "Does {a} influence {b}?", "{a} influences {b}.", *_PATH),
    Template(
        "causality_between",
        "Is there causality between {a} and {b}?",
        "There is causality between {a} and {b}.",
        *_EITHER,
    ),
)
"""The first method: Appendix C.C, Type I, in its order."""

_EDGES: Mapping[str, Graph] = {"direct": "directed", "reversed_direct": "reversed"}
STRUCTURES = _by_name(
    *(
        Template(name, question, statement, name, "direct", _EDGES.get(name))
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

_DIRECTLY = "Are {a} and {b} directly related?", "{a} and {b} are directly related."
SKELETON = _by_name(
    Template("directly_related", *_DIRECTLY, "adjacent", "adjacent", "undirected"),
    Template(
        "related_given",
        "Given {c}, are {a} and {b} related?",
        "Given {c}, {a} and {b} are related.",
        "d_connected_given",
        "",
    ),
)
"""The skeleton by the convention `exact`: adjacency, and d-separation by one variable (questions ours)."""

_CONDITION = (
    "If {{a}} and {{b}} are not directly related, then {{a}} and {{b}} are {} related under {{c}}. "
    "Under this condition, are {{a}} and {{b}} related?"
)
_STATEMENT = (
    "If {{a}} and {{b}} are not directly related and are {} related under {{c}}, then {{a}} and {{b}} are related "
    "under this condition."
)
PAPER_SKELETON = _by_name(
    Template("directly_related", *_DIRECTLY, "adjacent", "adjacent"),  # no graph: asked of some pairs only
    *(
        Template(
            f"{words.replace(' ', '_')}_related",
            _CONDITION.format(words),
            _STATEMENT.format(words),
            "d_connected_given",
            "",
        )
        for words in ("conditionally", "not conditionally")
    ),
)
"""Appendix C.B; table.py has the rule that chooses among them and sets the paper's labels."""
