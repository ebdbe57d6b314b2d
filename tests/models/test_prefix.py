"""The prefix tree by itself: tokens are numbers, and nothing here knows a model."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from harness.models.local.prefix_tree import Tree

# Few tokens and short sequences, so that beginnings in common are the rule.
SEQUENCES = st.lists(st.lists(st.integers(0, 2), max_size=6).map(tuple), max_size=12)


def grow(sequences) -> Tree:
    from harness.models.local import prefix_tree  # with torch, which not every worker needs

    return prefix_tree.grow(sequences)


def beginning(tree: Tree, node: int) -> tuple[int, ...]:
    """Return the tokens on the way down to a node."""
    found: list[int] = []
    while node >= 0:
        found.append(tree.tokens[node])
        node = tree.parents[node]
    return tuple(found[::-1])


@given(SEQUENCES)
def test_there_is_one_node_for_each_distinct_beginning(sequences):
    tree = grow(sequences)
    found = [beginning(tree, node) for node in range(len(tree.tokens))]
    assert sorted(found) == sorted({s[:k] for s in sequences for k in range(1, len(s) + 1)})
    assert [beginning(tree, node) for node in tree.last] == sequences
    assert tree.depths == [len(tokens) - 1 for tokens in found]
    assert all(parent < node for node, parent in enumerate(tree.parents))


@given(SEQUENCES)
def test_a_node_is_above_those_that_begin_with_it(sequences):
    tree = grow(sequences)
    found = [beginning(tree, node) for node in range(len(tree.tokens))]
    for a, begun in enumerate(found):
        assert [a <= b < tree.ends[a] for b in range(len(found))] == [t[: len(begun)] == begun for t in found]


@given(SEQUENCES.filter(any), st.data())
def test_a_path_is_the_end_of_the_way_down(sequences, data):
    tree = grow(sequences)
    k = data.draw(st.sampled_from([k for k, sequence in enumerate(sequences) if sequence]))
    length = data.draw(st.integers(0, len(sequences[k])))
    path = tree.path(tree.last[k], length)
    assert tuple(tree.tokens[node] for node in path) == sequences[k][len(sequences[k]) - length :]
    assert all(tree.parents[b] == a for a, b in pairwise(path))
