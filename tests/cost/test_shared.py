"""One budget for several processes: what one has spent or set aside leaves less for the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.cost.budget import Accounts, Budget
from harness.settings import Limits


@pytest.fixture
def budget(tmp_path):
    return lambda **limits: Budget(Limits(**limits), Accounts(tmp_path / "budget.sqlite"))


def test_two_jobs_never_pass_a_limit(budget):
    one, two = budget(requests=3, usd=4), budget(requests=3, usd=4)
    assert [each.take(1.0, 1) for each in (one, two, one, two, one)] == [True, True, True, False, False]
    assert two.limit(1.0, 1, alone=True) is None  # what is under way may come to nothing
    one.settle((1.0, 1), (0.0, 1))  # a refused try counts as one all the same
    one.settle((1.0, 1), (0.5, 1))
    two.settle((1.0, 1), (1.0, 1))
    assert (two.limit(1.0, 1, alone=True), two.spent.usd, two.spent.requests) == ("requests", 1.5, 3)
    assert "budget.requests=3 of all jobs together is reached (3 asked)" in str(two.reached("requests", 1.0))


def test_what_a_killed_job_had_set_aside_is_spent_and_what_a_living_one_has_is_waited_for(budget, tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from harness.cost.budget import Accounts, Budget\n"
        "from harness.settings import Limits\n"
        "assert Budget(Limits(requests=3), Accounts(Path(sys.argv[1]))).take(0.0, 1); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "budget.sqlite")], check=False)
    one, two = budget(requests=3), budget(requests=3)
    assert [one.take(0.0, 1), one.take(0.0, 1), two.take(0.0, 1)] == [True, True, False]
    assert two.spent.requests == 1 and two.limit(0.0, 1, alone=True) is None
    one.settle((0.0, 1), (0.0, 0))
    assert two.take(0.0, 1)


def test_the_clock_is_that_of_the_first_job(budget):
    one, two = budget(minutes=5), budget(minutes=5)
    one.begin()
    one._began -= 60
    two.begin()
    assert 0 <= two.left - 300 + 0.5 <= 1 and one.left < 241


def test_without_a_limit_nothing_is_written(budget, tmp_path):
    one = budget()
    one.begin()
    assert one.take(1.0, 1) and not any(tmp_path.iterdir())
