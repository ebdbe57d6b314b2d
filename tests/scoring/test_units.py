"""Units within one cluster: pairs of variables."""

from __future__ import annotations

import pytest

from harness.scoring.tally import ends, ordered_pair, unordered


def test_a_pair_keeps_its_order_and_is_drawn_without_it():
    unit = ordered_pair("smoke", "lung")
    assert unit == "smoke -> lung" and ends(unit) == ("smoke", "lung")
    assert unordered(unit) == unordered("lung -> smoke") != unordered("smoke -> bronc")
    assert unordered("page 3") == "page 3"


@pytest.mark.parametrize("unit", ["", "smoke", "smoke lung", "smoke -> lung -> bronc"])
def test_what_is_no_pair_is_refused(unit):
    with pytest.raises(ValueError, match="is no ordered pair"):
        ends(unit)
