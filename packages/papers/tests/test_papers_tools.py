"""tools/strengths.py: elimination against the whole joint distribution, and the file that ships, a part of it anew."""

import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from harness.tasks.causalbench.networks import load, tables

TOOL = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "strengths.py"))
interventional = TOOL["interventional"]


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
            exact = pytest.approx(brute_force(distributions, parents, cause, effect), abs=1e-12)
            assert interventional(distributions, parents, cause, effect) == exact
            assert interventional(distributions, parents, cause, effect, 3) == exact  # state by state


@pytest.mark.parametrize("name", ["asia", "survey", "sachs", "child"])
def test_the_file_that_ships_holds_what_the_tables_say(name):
    shipped = [line for line in TOOL["FILE"].read_text().splitlines() if line.startswith(f"{name},")]
    assert shipped == [",".join(line) for line in TOOL["lines"](name)]
