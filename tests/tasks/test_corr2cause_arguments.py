"""The shortest arguments: by brute force over graphs that share no code with the index, and as a group of runs."""

from __future__ import annotations

from functools import cache
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import brute_force
from support.tools import tool

from harness import evaluate
from harness.causal.equivalence import representatives
from harness.causal.relations import Relation
from harness.causal.separation import Independence
from harness.tasks.corr2cause.arguments import GROUPS, SIZES, length, meanings

argument_lengths = tool("argument_lengths")


@cache
def facts(n: int) -> list[Independence]:
    return [
        (i, j, given_)
        for i, j in combinations(range(n), 2)
        for given_ in brute_force.subsets([k for k in range(n) if k not in (i, j)])
    ]


def as_bits(n: int, independences: frozenset[Independence]) -> int:
    return sum((fact in independences) << k for k, fact in enumerate(facts(n)))


@cache
def classes(n: int) -> dict[int, frozenset[tuple[Relation, int, int]]]:
    """Return all labelled classes by what they say, with what follows in them."""
    return {
        as_bits(n, said): frozenset(
            claim for claim in meanings(n) if all(brute_force.holds(dag, *claim) for dag in members)
        )
        for said, members in brute_force.classes(n).items()
    }


def shortest(n: int, number: int, claim: tuple[Relation, int, int]) -> int:
    """Return the length by trying all sets of facts, the small ones first."""
    own = as_bits(n, brute_force.separations(brute_force.numbered(n, number)))
    label = claim in classes(n)[own]
    apart = {own ^ other for other, answers in classes(n).items() if (claim in answers) != label}
    for size in range(len(facts(n)) + 1):
        for chosen in combinations(range(len(facts(n))), size):
            kept = sum(1 << k for k in chosen)
            if all(kept & differs for differs in apart):
                return size
    raise AssertionError


@pytest.mark.parametrize("n", [2, 3])
def test_no_shorter_set_of_facts_settles_an_answer(n):
    for number in representatives(n):
        for claim in meanings(n):
            assert length(n, number, *claim) == shortest(n, number, claim), (number, claim)


@given(st.lists(st.sets(st.integers(0, 7), min_size=1), max_size=8))
def test_a_smallest_hitting_set_is_one(sets):
    hitting = argument_lengths.smallest_hitting_set([sum(1 << k for k in members) for members in sets])
    assert all(any(hitting >> k & 1 for k in members) for members in sets)
    smaller = chain.from_iterable(combinations(range(8), size) for size in range(hitting.bit_count()))
    assert not any(all(members & set(chosen) for members in sets) for chosen in smaller)


def index(classes_: Any, which: int) -> list[int]:
    n, number = classes_.n, classes_.numbers[which]
    return [length(n, number, *claim) for claim in meanings(n)]


@pytest.mark.parametrize(("n", "some"), [(4, range(20)), pytest.param(5, (17, 101), marks=pytest.mark.slow)])
def test_the_index_is_what_the_program_makes(n, some):
    classes_ = argument_lengths.LabelledClasses.over(n)
    for which in some:
        assert argument_lengths.Arguments(classes_, which).lengths() == index(classes_, which)


def test_every_class_has_all_its_lengths():
    for n in SIZES:
        for number in representatives(n):
            assert min(length(n, number, *claim) for claim in meanings(n)) >= 0
    # No hypothesis follows over two variables, so nothing has to be ruled out.
    assert {length(2, number, *claim) for number in representatives(2) for claim in meanings(2)} == {0}


def test_a_run_is_scored_by_it(tmp_path):
    settings = ["task.num_nodes=5", "task.limit=24"]
    run = evaluate("always_no", "corr2cause/fresh", overrides=settings, results=str(tmp_path))
    rows = run.result.scores["audited"]["argument"]
    assert sum(row.items for row in rows.values()) == 24
    assert [*rows] == [group for group in GROUPS if group in rows]
