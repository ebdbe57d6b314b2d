"""Why a CLadder question is a Yes, a No or open: its graph, and the range or the rule that decides."""

from __future__ import annotations

from collections.abc import Mapping

from harness.tasks.benchmark import Explanations
from harness.tasks.cladder.graphs import Graph, X, Y
from harness.tasks.cladder.parse_text import read_named
from harness.tasks.cladder.queries import NUMERIC, TITLES
from harness.tasks.cladder.stated import Stated, effect_range, stated_answer
from harness.tasks.text_models import UnreadableText
from harness.types import JSON, Item


class QuestionExplanations(Explanations[Graph]):
    """The graphs that questions tell of, and why each is answered as it is."""

    def explain(self, item: Item) -> tuple[int, tuple[str, ...], JSON] | None:
        """Return the item's graph, names and why; one in other words than the benchmark's has none."""
        try:
            stated, nodes = read_named(str(item.fields["text"]))
        except (KeyError, UnreadableText):
            return None
        called = {node: name for name, node in nodes.items()}
        number, graph = self.place(stated.graph.name, lambda: stated.graph)
        return number, tuple(called[node] for node in graph.nodes), _why(stated, item.labels)

    def for_page(self, graphs: Graph) -> dict[str, JSON]:
        hidden = f", one of them unobserved ({graphs.unobserved})" if graphs.unobserved else ""
        caption = f"The graph that the question tells: {graphs.name}, {len(graphs.nodes)} variables{hidden}."
        return {"nodes": len(graphs.nodes), "total": 1, "members": [_places(graphs, graphs.edges)], "caption": caption}


def _places(graph: Graph, edges: tuple[tuple[str, str], ...]) -> list[JSON]:
    return [[graph.nodes.index(cause), graph.nodes.index(effect)] for cause, effect in edges]


def _why(stated: Stated, labels: Mapping[str, int]) -> dict[str, JSON]:
    """Return the answer by the words, the sentence that shows it, and the edges that matter."""
    answer = stated_answer(stated)
    said = f"{_word(answer)} by the words ({TITLES[stated.ask.query]}): {_reason(stated)}"
    others = {name: label for name, label in labels.items() if name != "stated" and label != answer}
    return {
        "holds": bool(answer),
        "member": 0,
        "said": " ".join([said, *(f"The {name} answer is {_word(bool(label))}." for name, label in others.items())]),
        "marked": _places(stated.graph, _directed_paths(stated.graph)),
    }


def _word(answer: bool | None) -> str:
    return "Open" if answer is None else "Yes" if answer else "No"


def _reason(stated: Stated) -> str:
    """Return what decides: the range that the numbers leave, or the rule of a question without a number."""
    graph, ask = stated.graph, stated.ask
    if ask.query == "collider_bias":
        return "X and Y affect each other nowhere in the graph, whatever is seen among some."
    if ask.query == "backadj":
        found = (
            f"method {number} ({', '.join(method) or 'no adjustment'}) "
            f"{'satisfies' if graph.admissible(method) else 'violates'} the back-door criterion"
            for number, method in enumerate(ask.methods, start=1)
        )
        return f"{' and '.join(found)}."
    if ask.query not in NUMERIC:
        return f"with X set to {ask.action}, the mechanisms that are told decide about Y."
    quantity = "it"
    if ask.query == "exp_away":
        quantity = "P(Y=1 | X=1, V3=1) - P(Y=1 | X=0, V3=1), which has the sign of what is asked for,"
    least, most = effect_range(ask.query, graph, stated.printed)
    reason = f"{quantity} lies between {least:.3f} and {most:.3f} in every model that fits what is said."
    return f"{stated.unclear}. With the value 1 as more, {reason}" if stated.unclear else reason


def _directed_paths(graph: Graph) -> tuple[tuple[str, str], ...]:
    """Return the edges of all directed paths from X to Y."""
    below = graph.descendants(X) | {X}
    above = {node for node in graph.nodes if Y in graph.descendants(node)} | {Y}
    return tuple((cause, effect) for cause, effect in graph.edges if {cause, effect} <= below & above)
