"""Distances of patterns against gadjid's, and bounds against all DAGs of a pattern."""

from __future__ import annotations

import random

import gadjid
import pytest

from harness.causal.cpdag import cpdag
from harness.causal.dag import bits, from_integer, relabel
from harness.causal.equivalence import members
from harness.causal.learned_graph import Pattern
from harness.scoring import patterns
from harness.scoring.graphs import sid
from harness.scoring.patterns import Bounds, codes, pattern_shd, sid_bounds

DOWN = "from row to column"


def pairs(count, n):
    draw = random.Random(n)

    def dag():
        number = draw.getrandbits(n * (n - 1) // 2) & draw.getrandbits(63)
        return relabel(from_integer(n, number), tuple(draw.sample(range(n), n)))

    for _ in range(count):
        yield dag(), dag()


def every_sid(true, dags):
    return [sid(codes(Pattern.of(true)), codes(Pattern.of(dag)), edge_direction=DOWN) for dag in dags]


def test_shd_of_500_pairs_of_completed_patterns_is_gadjids():
    for first, second in pairs(500, 8):
        one, other = cpdag(first), cpdag(second)
        assert pattern_shd(one, other) == gadjid.shd(codes(one), codes(other))[1]


def test_sid_of_500_pairs_of_dags_is_gadjids():
    for true, dag in pairs(500, 8):
        value = gadjid.sid(codes(Pattern.of(true)), codes(Pattern.of(dag)), edge_direction=DOWN)[1]
        assert sid_bounds(true, Pattern.of(dag)) == Bounds(value, value)


def test_bounds_are_the_least_and_the_largest_of_all_members():
    for true, dag in pairs(200, 6):
        values = every_sid(true, members(dag))
        assert sid_bounds(true, cpdag(dag)) == Bounds(min(values), max(values))


def test_a_direction_that_data_cannot_tell_narrows_the_bounds():
    """Of a pattern between a DAG and its class, the members with its directions alone count."""
    narrower = 0
    for true, dag in pairs(300, 6):
        whole = cpdag(dag)
        loose = [(u, v) for v, beside in enumerate(whole.undirected) for u in bits(beside) if dag[v] >> u & 1]
        if len(loose) < 2:
            continue
        u, v = loose[0]
        directed, undirected = list(whole.directed), list(whole.undirected)
        directed[v] |= 1 << u
        undirected[v] ^= 1 << u
        undirected[u] ^= 1 << v
        values = every_sid(true, (member for member in members(dag) if member[v] >> u & 1))
        bounds = sid_bounds(true, Pattern(tuple(directed), tuple(undirected)))
        assert bounds == Bounds(min(values), max(values))
        narrower += bounds != sid_bounds(true, whole)
    assert narrower > 20


def test_beyond_the_number_of_orientations_bounds_still_hold_all_members(monkeypatch):
    monkeypatch.setattr(patterns, "MOST_MEMBERS", 1)
    loose = 0
    for true, dag in pairs(200, 6):
        values = every_sid(true, members(dag))
        bounds = sid_bounds(true, cpdag(dag))
        assert bounds.low <= min(values) and max(values) <= bounds.high
        assert bounds.exact == (len(values) == 1)
        loose += (bounds.low, bounds.high) != (min(values), max(values))
    assert loose > 0


@pytest.mark.parametrize("directed", [(0b100, 0b001, 0b010)])
def test_a_pattern_without_a_dag_has_no_bounds(directed):
    assert sid_bounds((0, 0, 0), Pattern(directed, (0, 0, 0))) is None
