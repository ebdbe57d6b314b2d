"""The run that ships beside the package: verified, made anew, and named where the package is missing."""

import json
from pathlib import Path

import pytest

from harness.plugin import plugins
from harness.storage import upgrade
from harness.verify import __main__ as verify

RUN = Path("causalbench/strength/among=network/closed/mutual_information")
RESULTS = Path(__file__).parents[1] / "results"


def test_the_run_that_ships_holds_as_far_as_it_can_be_said_without_its_records(capsys):
    verify.main([str(RESULTS)])
    assert f"{RUN}: settings, items and prompt hold; no records" in capsys.readouterr().out


@pytest.mark.slow
def test_its_scores_are_made_again(harness, tmp_path):
    arguments = ("model=mutual_information", "task=causalbench/strength", "task.among=network")
    assert harness(*arguments).returncode == 0
    again, shipped = (
        json.loads((place / RUN / "result.json").read_text()) for place in (tmp_path / "results", RESULTS)
    )
    assert again["scores"] == shipped["scores"]


def test_without_the_package_verify_names_it(monkeypatch):
    monkeypatch.setattr("harness.plugin.plugins", lambda: [each for each in plugins() if each.name != "papers"])
    with pytest.raises(upgrade.PluginMissing, match="needs the package harness_papers"):
        upgrade.need_plugin("harness_papers.strength.Strength")
