"""The sheets of all labelled classes, against d-separation and paths by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from harness_lab.sheets import essential_graph, marks, packed, places, sheet, sheets
from support import brute_force


def brute_sheet(n, dags):
    """Return the claims that hold in all members, by paths."""
    return {claim for claim in places(n) if all(brute_force.holds(dag, *claim) for dag in dags)}


def brute_marks(n, dags):
    """Return what joins each pair in a class: the directions that its members have."""
    found = []
    for i, j in combinations(range(n), 2):
        ahead, back = any(dag[j] >> i & 1 for dag in dags), any(dag[i] >> j & 1 for dag in dags)
        found.append((i, j, "–" if ahead and back else "→" if ahead else "←" if back else ""))
    return found


def claims_of(n, words):
    """Return the claims whose bits are set."""
    values = np.unpackbits(np.ascontiguousarray(words).view(np.uint8))
    return {claim for claim, place in places(n).items() if values[place]}


@pytest.mark.parametrize(
    ("n", "classes", "distinct"),
    [
        (2, 2, 1),
        (3, 11, 4),
        (4, 185, 89),
        (5, 8_782, 4_266),
        pytest.param(6, 1_067_825, 527_222, marks=pytest.mark.slow),
    ],
)
def test_there_are_as_many_labelled_classes_as_are_known(n, classes, distinct):
    """Gillispie and Perlman (2002), Table 1."""
    found = sheets(n)
    assert len(found.graphs) == len(np.unique(found.graphs)) == classes
    assert found.words.shape == (2, distinct) and len(np.unique(found.words, axis=1).T) == distinct


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_sheets_and_graphs_are_those_of_brute_force(n):
    expected = {
        (frozenset(brute_sheet(n, dags)), tuple(brute_marks(n, dags))) for dags in brute_force.classes(n).values()
    }
    found = sheets(n)
    of_sheet, graphs = found.classes(np.arange(found.words.shape[1]))
    pairs = {
        (frozenset(claims_of(n, found.words[:, k])), tuple(marks(n, int(graph))))
        for k, graph in zip(of_sheet, graphs, strict=True)
    }
    assert pairs == expected
    for dags in brute_force.classes(n).values():
        dag = min(dags)
        assert tuple(marks(n, essential_graph(dag))) == tuple(brute_marks(n, dags))
        assert claims_of(n, packed(sheet(dag)[None])[0]) == brute_sheet(n, dags)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_nearest_sheet_is_that_of_looking_at_each(share):
    random, n = np.random.default_rng(0), 5
    every = np.unpackbits(np.ascontiguousarray(sheets(n).words.T).view(np.uint8), axis=1)[:, : len(places(n))] > 0
    for _ in range(5):
        asked = random.random(every.shape[1]) < 0.7
        answers = (random.random(every.shape[1]) < share) & asked
        rows = np.array([answers, *(np.where(asked, random.permutation(answers), False) for _ in range(3))])
        rows = rows[rows.sum(axis=1) == rows[0].sum()]
        slow = [((every ^ row) & asked).sum(axis=1) for row in rows]
        mask = packed(asked[None])[0]
        assert sheets(n).flips(packed(rows), mask).tolist() == [distances.min() for distances in slow]
        flips, nearest = sheets(n).nearest(packed(rows)[0], mask)
        assert flips == slow[0].min() and nearest.tolist() == np.flatnonzero(slow[0] == flips).tolist()
        apart = sheets(n).apart(nearest, packed(answers[None])[0])
        assert apart.tolist() == (every[nearest] ^ answers).sum(axis=1).tolist()
