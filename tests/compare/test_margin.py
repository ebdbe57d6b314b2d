"""compare margin=: the verdict, its way round, and what is no evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.compared_runs import put, record

from harness.compare import __main__ as compare
from harness.compare.comparison import NO_WORSE, UNKNOWN, WORSE, Comparison, Row, verdict
from harness.compare.difference import Difference
from harness.compare.pairing import Pairing, Replies
from harness.errors import ConfigError
from harness.scoring.definitions import definitions
from harness.scoring.summary import OVERALL
from harness.storage.runs import Run

ONE_TWO = [1, 2] * 10


def comparison(interval, metric="accuracy", complete=True):
    d = Difference(0.0, interval, metric=metric, first=0.5, second=0.5, p=None)
    row = Row(OVERALL, 9, 9, "", (d,), None)
    a, b = (Replies(Run(Path(name), {}, complete, None), {}) for name in "ab")
    return Comparison("a", "b", (a, b), Pairing("published"), (row,))


def run(folder, model, wrong, complete=True):
    """Write a run of ten items in each cluster, of which as many are wrong as `wrong` has."""
    records = []
    for cluster, lost in enumerate(wrong):
        for k in range(10):
            number, gold = cluster * 10 + k, int(k % 3 == 0)
            records.append(record(number, 1 - gold if k < lost else gold, gold=gold, cluster=f"c{cluster}"))
    return str(put(folder / model, records, model=model, complete=complete))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([2, 4] * 10, ONE_TWO, NO_WORSE),
        (ONE_TWO, [4, 6] * 10, WORSE),
        (ONE_TWO, [1, 3] * 9 + [0, 5], UNKNOWN),
        (ONE_TWO, ONE_TWO, UNKNOWN),  # the same answers: there is no interval
    ],
)
def test_a_verdict_in_words_and_for_programs(tmp_path, capsys, old, new, expected):
    runs, out = (run(tmp_path, "old", old), run(tmp_path, "new", new)), tmp_path / "out.json"
    assert compare.main([*runs, "metrics=accuracy", "margin=5", f"out={out}"]) == 0
    assert f"new against old, margin 5 points of accuracy: {expected}" in capsys.readouterr().out
    assert f"margin 5 points of accuracy: {expected}" in json.loads(out.read_text())["tables"][0]["notes"][0]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=2).map(sorted), st.floats(0, 100), st.floats(0, 100))
def test_a_wider_margin_never_has_a_worse_verdict(ends, one, other):
    order = [WORSE, UNKNOWN, NO_WORSE]
    narrow, wide = (verdict(comparison(tuple(ends)), margin)[0] for margin in sorted((one, other)))
    assert order.index(narrow) <= order.index(wide)


def test_of_a_metric_of_which_less_is_better_more_is_worse():
    name = next(name for name, metric in definitions().items() if metric.best == "low")
    assert verdict(comparison((0.1, 0.2), name), 3)[0] == WORSE
    assert verdict(comparison((-0.2, -0.1), name), 3)[0] == NO_WORSE


def test_what_is_no_evidence():
    assert verdict(comparison((0.1, 0.2), complete=False), 3) == (
        UNKNOWN,
        f"b against a, margin 3 points of accuracy: {UNKNOWN}, as a is not complete.",
    )
    neither = next(name for name, metric in definitions().items() if metric.best is None)
    with pytest.raises(ConfigError, match="neither end of"):
        verdict(comparison((0.1, 0.2), neither), 3)
