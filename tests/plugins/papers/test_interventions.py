"""P(effect | do(cause)): elimination against the whole joint distribution, draws against elimination."""

from itertools import product

import numpy as np
import pytest

from harness.plugins.papers import interventions
from harness.plugins.papers.interventions import interventional, sampled, strength
from harness.tasks.causalbench.networks import load, tables


def brute_force(distributions, parents, cause, effect):
    """Add up the truncated product over every state of every variable."""
    sizes = [table.shape[-1] for table in distributions]
    sums = np.zeros((sizes[cause], sizes[effect]))
    for states in product(*map(range, sizes)):
        probability = 1.0
        for k, table in enumerate(distributions):
            if k != cause:
                probability *= table[(*(states[parent] for parent in parents[k]), states[k])]
        sums[states[cause], states[effect]] += probability
    return sums


@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "survey"])
def test_elimination_gives_what_the_whole_joint_distribution_gives(name):
    distributions, parents = tables(name), load(name).parent_order
    for cause, effect in product(range(len(parents)), repeat=2):
        if cause != effect:
            exact = interventional(distributions, parents, cause, effect)
            assert exact == pytest.approx(brute_force(distributions, parents, cause, effect), abs=1e-12)


def test_a_variable_that_is_no_cause_has_no_strength():
    network, distributions = load("asia"), tables("asia")
    place = {name: k for k, name in enumerate(network.variables)}
    assert strength(interventional(distributions, network.parent_order, place["xray"], place["lung"])) == 0
    # Smoking: lung cancer of one in ten smokers and of one in a hundred others.
    smoking = interventional(distributions, network.parent_order, place["smoke"], place["lung"])
    assert strength(smoking) == pytest.approx(0.09)


def test_what_is_too_large_is_drawn_with_an_error_that_holds(monkeypatch):
    network, distributions = load("asia"), tables("asia")
    place = {name: k for k, name in enumerate(network.variables)}
    pair = place["smoke"], place["dysp"]
    exact = strength(interventional(distributions, network.parent_order, *pair))
    monkeypatch.setattr(interventions, "AT_ONCE", 3)
    by_state = interventional(distributions, network.parent_order, *pair)
    assert strength(by_state) == pytest.approx(exact, abs=1e-12)
    monkeypatch.setattr(interventions, "LARGEST", 3)
    assert interventional(distributions, network.parent_order, *pair) is None
    distribution, error = sampled(distributions, network.parent_order, *pair, draws=20_000, seed=0)
    assert 0 < error < 0.01
    assert strength(distribution) == pytest.approx(exact, abs=3 * error)
    again, _ = sampled(distributions, network.parent_order, *pair, draws=20_000, seed=0)
    assert (again == distribution).all()
