"""Scores of CausalBench's chains of causes."""

from __future__ import annotations

import pytest
from support.causalbench_help import (
    MISSED,
    causalbench,
    except_for,
    records,
    right,
    values,
)

from harness.tasks.causalbench.chains import longest


def test_the_longest_chain_has_every_shorter_one_right():
    assert longest({3: True, 4: True, 5: True}.items()) == 5
    assert longest({3: True, 4: False, 5: True}.items()) == 3
    assert longest({5: True, 3: True, 4: False, 26: True}.items()) == 3
    assert longest({3: False, 4: True}.items()) == 0
    assert longest({6: True, 9: True}.items()) == 9
    assert longest({}.items()) is None


def chains(respond, **settings):
    task = causalbench("Chains", **settings)
    return task.summarize(records(task, respond)).scores["exact"]


def test_perfect_answers_to_chains():
    scores = chains(right)
    assert scores["overall"]["all"]["f1"] == 1 and scores["overall"]["all"]["longest_chain"] == 26
    assert {kind: row["longest_chain"] for kind, row in scores["kind"].items()} == {
        "chain": 26,
        "reordered": 26,
        "reversed": 26,
        "broken": 25,
        "shuffled": 26,
    }
    assert list(scores["length"]) == [str(length) for length in range(3, 27)]
    for length, row in scores["length"].items():
        assert row.items == (4 if int(length) % 3 == 2 else 2) and row["accuracy"] == 1
    assert "longest_chain" not in values(scores["length"]["3"])


@pytest.mark.parametrize(("hole", "letters"), [("No", 10), ("Could be.", 10), (MISSED, None)])
def test_the_longest_chain_ends_before_the_first_that_was_not_right(hole, letters):
    scores = chains(except_for({"chain/11": hole}))
    assert scores["kind"]["chain"]["longest_chain"] == letters == scores["overall"]["all"]["longest_chain"]
    assert scores["kind"]["reversed"]["longest_chain"] == 26
    assert (scores["overall"]["all"].failed, scores["overall"]["all"].unreadable) == (
        int(hole is MISSED),
        int(hole == "Could be."),
    )
