"""A learned graph answers the questions of a task as a model would: what does each one come to in this graph?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from harness.causal.learned_graph import Pattern
from harness.scoring.tally import ends
from harness.tasks.causalbench.networks import load
from harness.tasks.causalbench.questions import Template
from harness.tasks.causalbench.structures import matrix, structures
from harness.types import Answer, Item, Record, Response


def answers(
    templates: Mapping[str, Template], breakdown: str, items: Iterable[Item], learn: Callable[[str], Pattern]
) -> Iterator[tuple[Record, None]]:
    """Yield a record without a request for each item; `learn` gives a network's graph when its first question comes.

    An item's group of the breakdown names its template. The items of one network come together. An undirected edge
    counts as both directions: its two variables are found to be adjacent, and which is the cause is not known. So it is
    one error of SHD, whichever way the true edge runs.
    """
    network = ""
    for item in items:
        if item.groups["network"] != network:
            network = item.groups["network"]
            holds = structures(matrix(learn(network).adjacency()))
            place = {variable: k for k, variable in enumerate(load(network).variables)}
        a, b = ends(item.unit)
        template = templates[item.groups[breakdown]]
        label = int(holds[template.exact][place[a], place[b]])
        yield (
            Record(
                item=item.id,
                cluster=item.cluster,
                unit=item.unit,
                groups=item.groups,
                labels=item.labels,
                request=None,
                outcome=Response(text="Yes" if label else "No"),
                answer=Answer(label),
            ),
            None,
        )
