"""The files in configs/model/: their names, and the model that each one makes."""

from __future__ import annotations

import re

import pytest
from model_sections import FILES, merged, text_of


@pytest.mark.parametrize("name", FILES)
def test_every_file_makes_its_model_and_says_what_it_is(name, key):
    own_name = re.search(r"^name: (.+?)(?: +#.*)?$", text_of(name), re.MULTILINE)[1]
    assert own_name in (name, "${.model}", "${.path}")
    assert merged(name).name == (name if own_name == name else "NAME" if own_name == "${.model}" else "LOCAL")
    assert text_of(name).startswith("# ")
