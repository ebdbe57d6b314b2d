"""Settings of CausalBench's tasks that do not fit."""

from __future__ import annotations

import pytest
from support.causalbench_help import causalbench

from harness.errors import ConfigError


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"networks": ["asia"], "scale": "small"}, r"task\.networks and task\.scale both choose networks"),
        ({"networks": "assia"}, r"task\.networks=assia: .*did you mean asia\?"),
        ({"networks": ["asia", "alrm"]}, r"task\.networks=alrm: .*did you mean alarm\?"),
        ({"networks": []}, r"no network is left"),
        ({"scale": []}, r"no network is left"),
        ({"scale": "smal"}, r"task\.scale=smal: .*did you mean small\?"),
        ({"rows": 4}, r"task\.parts=5 .*task\.rows=4"),
        ({"rows": 10, "parts": 11}, r"task\.parts=11 .*task\.rows=10"),
        ({"rows": 0}, r"task\.rows=0: .*greater than 0"),
        ({"parts": "five"}, r"task\.parts=five: .*integer"),
        ({"format": "backgroud"}, r"task\.format=backgroud: .*did you mean background\?"),
        ({"names": "readible"}, r"task\.names=readible: .*did you mean readable\?"),
        ({"convention": "papr"}, r"task\.convention=papr: .*did you mean paper\?"),
        ({"limit": 0}, r"task\.limit=0: .*greater than 0"),
        ({"limit": 2.5}, r"task\.limit=2\.5: .*integer"),
        ({"unreadable": "skip"}, r"task\.unreadable=skip: "),
        ({"seed": "x"}, r"task\.seed=x: .*integer"),
        ({"columns": "file"}, r"task\.columns=file .*needs task\.format=data"),
        ({"columns": "random", "format": "data"}, r"task\.columns=random: .*'file' or 'shuffled'"),
        ({"background": "authors"}, r"task\.background=authors .*needs task\.format=background"),
        (
            {"background": "authors", "format": "background"},
            r"texts for asia, none for cancer: use task\.networks=asia",
        ),
        ({"method": 3}, r"task\.method=3: .*1 or 2"),
        ({"structure": "direct"}, r"task\.structure .* six structures of task\.method=2"),
        ({"structure": "dirct", "method": 2}, r"task\.structure=dirct: .*did you mean direct\?"),
        ({"kind": "all"}, r"no setting .?task\.kind"),
        ({"limt": 3}, r"no setting .?task\.limt.*did you mean 'task\.limit'"),
    ],
)
def test_a_setting_that_does_not_fit_gets_one_sentence(settings, sentence):
    with pytest.raises(ConfigError, match=sentence) as refused:
        causalbench("Causality", **settings)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 500


def test_a_kind_of_correlation_that_does_not_exist():
    with pytest.raises(ConfigError, match=r"task\.kind=indirct: .*did you mean indirect\?"):
        causalbench("Correlation", kind="indirct")


def test_the_format_of_the_prompt():
    assert causalbench("Causality").prompt_format == ""
    for form in ("background", "data", "background_data"):
        assert causalbench("Causality", format=form).prompt_format == form
    assert causalbench("Chains").prompt_format == ""
