from __future__ import annotations

import pytest
import yaml

from harness.errors import ConfigError
from harness.models.baselines import Baseline
from harness.settings import CONFIGS, build, chosen, listed


def corr2cause(**settings):
    section = {"_target_": "harness.tasks.corr2cause.Corr2Cause", "name": "corr2cause", "prompts": ["plain"]}
    return build(section | settings, "task")


def test_the_task_files_say_the_defaults_of_their_classes():
    # A folder of results is named by what differs from the class's defaults: the file must not differ by itself.
    for file in listed(CONFIGS, "task").values():
        assert chosen(build(yaml.safe_load(file.read_text()), "task")) == {}


def test_chosen_settings_are_the_validated_ones():
    assert chosen(corr2cause(num_nodes=5)) == chosen(corr2cause(num_nodes=[5])) == {"num_nodes": [5]}
    assert list(chosen(corr2cause(split="dev", limit=3, seed=1))) == ["limit", "seed", "split"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"limit": True}, "task.limit"),
        ({"limt": 3}, "did you mean 'task.limit'"),
        ({"seed": "x"}, "task.seed=x"),
    ],
)
def test_what_does_not_fit_is_said(settings, said):
    with pytest.raises(ConfigError, match=said):
        corr2cause(**settings)


def test_a_class_that_is_not_there_is_said():
    with pytest.raises(ConfigError, match=r"model\._target_=harness\.models\.baselines\.Nothing cannot be imported"):
        build({"_target_": "harness.models.baselines.Nothing"}, "model")


@pytest.mark.parametrize(
    ("target", "section", "said"),
    [
        ("harness.types.Answer", {"label": 1}, "has no name, identity, accepts, traits, respond: a model has name,"),
        ("harness.errors.ConfigError", {}, "is no dataclass"),
    ],
)
def test_what_a_class_lacks_to_be_a_model_is_said(target, section, said):
    with pytest.raises(ConfigError, match=said):
        build({"_target_": target, **section}, "model")


def test_a_setting_left_open_is_asked_for():
    with pytest.raises(ConfigError, match=r"model\.p_yes has to be given"):
        build({"_target_": f"{Baseline.__module__}.Baseline", "name": "b", "p_yes": "???"}, "model")
