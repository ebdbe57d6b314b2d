"""The background texts of CausalBench's networks: none names another variable, or the part that its own one plays."""

from __future__ import annotations

import re

import pytest

from harness.tasks.causalbench.networks import NETWORKS, meanings

ROLES = re.compile(
    r"diagnoses the monitoring system|internal conclusion|complaint with which|question does not arise|put right"
    r"|serves (?:the|one)|two (?:serious|separate)|lid on convection|memory left for"
)


@pytest.mark.parametrize("network", NETWORKS)
def test_no_text_names_another_variable_or_says_what_part_its_own_plays(network):
    told = meanings(network)
    for variable, meaning in told.items():
        for other, its in told.items():
            identifier = len(other) >= 3 and re.search(rf"(?<![\w-]){re.escape(other)}(?![\w-])", meaning.text)
            name, own, text = (words.casefold() for words in (its.name, meaning.name, meaning.text))
            whole = name not in own and re.search(rf"\b{re.escape(name)}\b", text)
            assert other == variable or not (identifier or whole), (network, variable, other)
        assert not ROLES.search(meaning.text), (network, variable)
