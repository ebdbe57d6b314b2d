"""Why a CLadder question is a Yes, a No or open: its graph, what it gives, and the range that this leaves."""

from __future__ import annotations

from collections.abc import Mapping

from harness.tasks.benchmark import Explanations
from harness.tasks.cladder.formulas import formal, numbers_told, sum_of
from harness.tasks.cladder.graphs import Graph, X, Y
from harness.tasks.cladder.parse_text import read_named
from harness.tasks.cladder.queries import NUMERIC, TITLES
from harness.tasks.cladder.stated import Stated, effect_range, stated_answer
from harness.tasks.text_models import UnreadableText
from harness.types import JSON, Item


class QuestionExplanations(Explanations):
    """The graphs that questions tell of, and why each is answered as it is."""

    def __init__(self) -> None:
        """Begin without items."""
        super().__init__()
        self._graphs: dict[str, tuple[int, Graph]] = {}

    def explain(self, item: Item) -> tuple[int, tuple[str, ...], JSON] | None:
        """Return the item's graph, names and why; one in other words than the benchmark's has none."""
        try:
            stated, nodes = read_named(str(item.fields["text"]))
        except (KeyError, UnreadableText):
            return None
        graph = stated.graph
        called = {node: name for name, node in nodes.items()}
        names = tuple(called[node] for node in graph.nodes)
        number, _ = self._graphs.setdefault(graph.name, (len(self._graphs), graph))
        return number, names, _why(stated, names, item.labels)

    def classes(self) -> list[JSON]:
        """Return the graphs of the items so far."""
        return [_class(graph) for _, graph in self._graphs.values()]


def _class(graph: Graph) -> dict[str, JSON]:
    place = graph.nodes.index
    hidden = f", one of them unobserved ({graph.unobserved})" if graph.unobserved else ""
    return {
        "nodes": len(graph.nodes),
        "total": 1,
        "members": [[[place(cause), place(effect)] for cause, effect in graph.edges]],
        "caption": f"The graph that the question tells: {graph.name}, {len(graph.nodes)} variables{hidden}.",
    }


def _why(stated: Stated, names: tuple[str, ...], labels: Mapping[str, int]) -> dict[str, JSON]:
    """Return the answer by the words, the sentence and the lines that show it, and the edges that matter."""
    graph, ask = stated.graph, stated.ask
    answer = stated_answer(stated)
    lines = ["; ".join(f"{node} = {name}" for node, name in zip(graph.nodes, names, strict=True))]
    if ask.query in NUMERIC:
        lines += [formal(ask, graph), *numbers_told(stated.printed).splitlines()]
        if (total := sum_of(ask, graph, stated.printed)) is not None:
            lines += total
        least, most = effect_range(ask.query, graph, stated.printed)
        reason = f"{_quantity(stated)} lies between {least:.3f} and {most:.3f} in every model that fits what is said."
        if stated.unclear:
            reason = f"{stated.unclear}. With the value 1 as more, {reason}"
    else:
        lines.append(formal(ask, graph))
        reason = _rule(stated)
    said = f"{'Open' if answer is None else 'Yes' if answer else 'No'} by the words ({TITLES[ask.query]}): {reason}"
    others = {
        name: label for name, label in labels.items() if name != "stated" and (answer is None or label != int(answer))
    }
    if others:
        said += " " + " ".join(f"The {name} answer is {'Yes' if label else 'No'}." for name, label in others.items())
    place = graph.nodes.index
    return {
        "holds": bool(answer),
        "member": 0,
        "said": said,
        "lines": lines,
        "marked": [[place(cause), place(effect)] for cause, effect in _paths(graph)],
    }


def _quantity(stated: Stated) -> str:
    if stated.ask.query == "exp_away":
        return "P(Y=1 | X=1, V3=1) - P(Y=1 | X=0, V3=1), which has the sign of what is asked for,"
    return formal(stated.ask, stated.graph) if stated.ask.query != "correlation" else "P(Y | X=1) - P(Y | X=0)"


def _rule(stated: Stated) -> str:
    """Return why a question without a number is answered as it is."""
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
    return f"with X set to {ask.action}, the mechanisms that are told decide about Y."


def _paths(graph: Graph) -> list[tuple[str, str]]:
    """Return the edges of all directed paths from X to Y."""
    below = graph.descendants(X) | {X}
    above = {node for node in graph.nodes if Y in graph.descendants(node)} | {Y}
    return [(cause, effect) for cause, effect in graph.edges if {cause, effect} <= below & above]
