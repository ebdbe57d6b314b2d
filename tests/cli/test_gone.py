"""What is gone says what to write instead, in one sentence."""

from __future__ import annotations

import inspect

import pytest

from harness import gone
from harness.cli.commands import summaries


def test_the_table_is_short_and_names_nothing_that_is_there():
    assert inspect.getsource(gone).count("\n") <= 54 and len(gone.GONE) <= 42
    assert not [name for name in summaries() if f"command {name}" in gone.GONE]


@pytest.mark.parametrize(("arguments", "way"), [
    (["gate", "results"], "harness compare BASELINE CANDIDATE margin=3"),
    (["discover", "algorithm=pc"], "pip install -e packages/discovery"),
])  # fmt: skip
def test_a_user_of_yesterday_is_told_the_way(harness, arguments, way):
    done = harness(*arguments)
    assert done.returncode == 1 and way in done.stderr and done.stderr.count("\n") == 1
