"""tools/small_models.py: what ships is made once more."""

from __future__ import annotations

from support.tools import tool

from harness.tasks.corr2cause.small_models import _text

fitting = tool("small_models")


def test_the_threshold_is_the_best_one_on_the_data():
    data = fitting.LabelledClaims(
        [("x",)], {"a": [(0, 1)] * 9 + [(0, 0)], "b": [(0, 1)] * 4 + [(0, 0)] * 6, "c": [(0, 0)] * 9}, ""
    )
    assert fitting.fit_shares(data).threshold == 0.2  # a and b are Yes: F1 0.79, where a alone has 0.78


def test_what_ships_is_made_again_byte_for_byte():
    for name, text in fitting.files().items():
        assert text == _text(*name.split("/")), name
