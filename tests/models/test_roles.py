"""Every answerer declares its role: each model and algorithm that ships, and one of a plug-in's."""

from __future__ import annotations

from typing import get_args

import pytest
from model_sections import FILES, layered

from harness.models.api.endpoint import Endpoint
from harness.protocols import Traits
from harness.settings import build, class_of
from harness.types import Role

OTHERS = {
    "baseline": (
        *("always_no", "always_yes", "majority", "random_proportional", "random_third", "random_uniform"),
        *("hypothesis_only", "linear", "shortcut"),
        *("cladder_words", "cladder_shortcut", "trees"),
    ),
    "solver": ("reasoner", "ladder_reasoner"),
    "cheat": ("column_order",),
}
"""Every model that ships and is no language model."""


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_model_that_ships_says_its_role(name):
    expected = next((role for role, names in OTHERS.items() if name in names), "model")
    settings = layered(name)
    target = class_of(settings["_target_"], "model")
    if issubclass(target, Endpoint):
        assert expected == "model"
    else:
        traits = target.traits if isinstance(target.traits, Traits) else build(settings, "model").traits
        assert traits.role == expected


def test_who_does_not_say_it_is_no_model():
    with pytest.raises(TypeError, match="role"):
        Traits(instant=True)
    assert get_args(Role) == ("model", "baseline", "solver", "algorithm", "cheat")
