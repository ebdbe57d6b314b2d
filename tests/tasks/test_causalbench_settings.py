"""Settings of CausalBench's tasks that do not fit."""

from __future__ import annotations

import pytest
from support.causalbench_help import causalbench

from harness.errors import ConfigError


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"networks": ["asia"], "scale": "small"}, r"task\.networks and task\.scale both choose networks"),
        ({"networks": "assia"}, r"task\.networks=assia: .*did you mean 'asia'\?"),
        ({"networks": []}, r"no network is left"),
        ({"scale": []}, r"no network is left"),
        ({"rows": 4}, r"task\.parts=5 .*task\.rows=4"),
        ({"columns": "file"}, r"task\.columns=file .*needs task\.format=data"),
        ({"columns": "random", "format": "data"}, r"task\.columns=random: .*'file' or 'shuffled'"),
        ({"background": "authors"}, r"task\.background=authors .*needs task\.format=background"),
        (
            {"background": "authors", "format": "background"},
            r"texts for asia, none for cancer: use task\.networks=asia",
        ),
        ({"structure": "direct"}, r"task\.structure .* six structures of task\.method=2"),
    ],
)
def test_a_setting_that_does_not_fit_gets_one_sentence(settings, sentence):
    with pytest.raises(ConfigError, match=sentence) as refused:
        causalbench("Causality", **settings)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 500
