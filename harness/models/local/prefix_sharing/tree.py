"""Token sequences as a prefix tree: what many prompts begin with is one branch of it, and is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, count
from operator import ne


@dataclass(frozen=True)
class Tree:
    """One node for each distinct beginning of a sequence, numbered depth first: a node before all below it.

    So node a is node b, or above it, exactly where `a <= b < ends[a]`.
    """

    tokens: list[int]
    """The last token of each node's beginning."""
    depths: list[int]
    """How many tokens come before it: its position in the sequence."""
    parents: list[int]
    """The node of the beginning that is one token shorter; -1 at depth 0."""
    ends: list[int]
    """The first node after those below it."""
    last: list[int]
    """For each sequence, in the order given, the node that is the whole of it; -1 for one without tokens."""

    def path(self, node: int, length: int) -> list[int]:
        """Return the last `length` nodes on the way down to a node, itself included."""
        nodes: list[int] = []
        for _ in range(length):
            nodes.append(node)
            node = self.parents[node]
        return nodes[::-1]


def grow(sequences: Sequence[tuple[int, ...]]) -> Tree:
    """Return the tree of some sequences; equal ones share a node."""
    tree = Tree([], [], [], [], [-1] * len(sequences))
    path: list[int] = []
    before: tuple[int, ...] = ()
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):  # which is depth first
        sequence = sequences[index]
        same = _agreement(before, sequence)
        size = len(tree.tokens)
        for node in path[same:]:
            tree.ends[node] = size
        del path[same:]
        new = range(size, size + len(sequence) - same)
        tree.tokens.extend(sequence[same:])
        tree.depths.extend(range(same, len(sequence)))
        tree.parents.extend([*path[-1:], *new][: len(new)] if path else [-1, *new][: len(new)])
        tree.ends.extend(new)
        path.extend(new)
        tree.last[index] = path[-1] if path else -1
        before = sequence
    for node in path:
        tree.ends[node] = len(tree.tokens)
    return tree


def _agreement(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Return how many tokens at the beginning are the same."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))
