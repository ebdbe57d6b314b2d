"""G² against scipy's, stratum by stratum, and against causal-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawing
from hypothesis import settings
from hypothesis import strategies as st
from observed import noisy_copies, observations
from support.late import Late

from harness.causal.dag import from_edges, mask_of
from harness.plugins.discovery.algorithm import Observations
from harness.plugins.discovery.mmhc import GSquare

stats = Late("scipy.stats")


def by_scipy(data, x, y, given):
    """(G², degrees of freedom): the sums over the strata, each without its empty rows and columns."""
    statistic = freedom = 0
    for stratum in {tuple(row) for row in data[:, given].tolist()}:
        rows = data[(data[:, given] == stratum).all(axis=1)]
        table = np.array([[sum((rows[:, [x, y]] == (a, b)).all(axis=1)) for b in range(9)] for a in range(9)])
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        result = stats.chi2_contingency(table, lambda_="log-likelihood", correction=False)
        statistic, freedom = statistic + result.statistic, freedom + result.dof
    return statistic, freedom


@st.composite
def tables(draw):
    arities = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    data = [[draw(st.integers(0, r - 1)) for r in arities] for _ in range(draw(st.integers(1, 40)))]
    return np.array(data), arities


@settings(max_examples=80, deadline=None)
@drawing(tables())
def test_a_test_is_scipys_summed_over_the_strata(table):
    data, arities = table
    others = list(range(2, len(arities)))
    result = GSquare(Observations(data, arities))(0, 1, mask_of(others))
    statistic, freedom = by_scipy(data, 0, 1, others)
    assert result.statistic == pytest.approx(statistic, abs=1e-9)
    assert result.freedom == freedom
    assert result.p == pytest.approx(stats.chi2.sf(statistic, freedom) if freedom else 1.0, abs=1e-9)


def test_p_values_are_causal_learns():
    library = pytest.importorskip("causallearn.utils.cit")
    data = observations(from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 3)]), [2, 3, 4, 2, 3], 400, 1)
    theirs, ours = library.CIT(data, "gsq"), GSquare(Observations(data, [2, 3, 4, 2, 3]))
    for x, y, given in [(0, 1, []), (0, 3, [2]), (0, 4, [1, 2]), (1, 4, [3]), (0, 3, [1, 2, 4])]:
        assert ours(x, y, mask_of(given)).p == pytest.approx(float(theirs(x, y, given)), abs=1e-12)


def test_states_that_do_not_occur_change_nothing():
    data = observations(from_edges(3, [(0, 1), (1, 2)]), [3, 3, 3], 200, 2)
    gaps = data * 2  # codes 0, 2, 4 of arity 7
    assert GSquare(Observations(data, [3] * 3))(0, 2, 0b010) == GSquare(Observations(gaps, [7] * 3))(0, 2, 0b010)


def test_a_constant_column_is_independent_of_everything():
    data = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0]])
    for given in (0, 0b100):
        assert GSquare(Observations(data, [2, 2, 2]))(0, 1, given) == (0.0, 0, 1.0)


def test_independence_shows_when_the_right_set_is_given():
    data = noisy_copies(5000, 4)
    test = GSquare(Observations(data, [2, 2, 2]))
    assert test(0, 2).p < 1e-6 < 0.05 < test(0, 2, 0b010).p
    assert test(2, 0, 0b010) == test(0, 2, 0b010)


def test_a_large_table_is_counted_without_its_empty_cells():
    data = np.random.RandomState(0).randint(0, 9, size=(80, 4))
    result = GSquare(Observations(data * 11, [99] * 4))(0, 1, 0b1100)
    statistic, freedom = by_scipy(data, 0, 1, [2, 3])
    assert (result.statistic, result.freedom) == (pytest.approx(statistic), freedom)


def test_rows_per_cell_counts_all_cells():
    assert GSquare(Observations(np.zeros((60, 3), dtype=np.int64), [2, 3, 5])).rows_per_cell(0, 1, 0b100) == 2
    assert GSquare(Observations(np.zeros((60, 3), dtype=np.int64), [2, 3, 5])).rows_per_cell(0, 1) == 10
