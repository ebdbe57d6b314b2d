"""Arguments that are right, or wrong in a known way, as replies to prompt=trace."""

from __future__ import annotations

from itertools import combinations, permutations

from harness_lab.claims import in_words
from harness_lab.statements import Kind, Statement, class_of

from harness.tasks.corr2cause.text import follows, read_dag, read_question


def argued(words, *, colliders=True):
    """Return all that follows of a premise's graphs, each claim for a reason; without `colliders` every one denied."""
    premise, hypothesis = read_question(words)
    graphs, names = class_of(read_dag(premise)), premise.names
    numbers = {}

    def line(statement, *basis):
        numbers[statement] = len(numbers) + 1
        lines.append(f"{numbers[statement]}. {in_words(statement, names)} [{', '.join(map(str, basis))}]")

    def holds(kind, nodes):
        return graphs.verdict(Statement.of(kind, nodes)) == "entailed"

    lines = []
    pairs = list(combinations(range(graphs.n), 2))
    for pair in pairs:
        line(Statement.of(Kind.ADJACENT, pair, denied=not holds(Kind.ADJACENT, pair)), "premise")
    skeleton = {statement.nodes: number for statement, number in numbers.items()}
    for i, j in pairs:
        for m in set(range(graphs.n)) - {i, j}:
            sides = [tuple(sorted(side)) for side in ((i, m), (m, j))]
            if not holds(Kind.ADJACENT, (i, j)) and all(holds(Kind.ADJACENT, side) for side in sides):
                denied = not (colliders and holds(Kind.COLLIDER, (i, m, j)))
                basis = [skeleton[pair] for pair in ((i, j), *sides)]
                line(Statement.of(Kind.COLLIDER, (i, m, j), denied=denied), *basis, "premise")
    everything = list(numbers.values())
    for pair in permutations(range(graphs.n), 2):
        if colliders and holds(Kind.PARENT, pair):
            line(Statement.of(Kind.PARENT, pair), *everything)
        elif colliders and pair in pairs and holds(Kind.ADJACENT, pair) and not holds(Kind.PARENT, pair[::-1]):
            line(Statement.of(Kind.PARENT, pair, open=True), *everything)
    return "\n".join([*lines, f"Answer: {'Yes' if follows(premise, hypothesis) else 'No'}"])
