from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from harness.config_files import CONFIGS, listed
from harness.errors import ConfigError
from harness.models.baselines import Baseline
from harness.settings import LOCAL, build, chosen
from harness.storage.configuration import safe, variant


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


@dataclass(frozen=True)
class Reads:
    name: str
    files: tuple[Path, ...] = ()
    place: str | None = field(default=None, metadata=LOCAL)
    words: str = ""


def test_files_and_folders_stand_by_name_and_content(tmp_path, monkeypatch):
    for folder in ("a", "b"):
        (tmp_path / folder / "data").mkdir(parents=True)
        (tmp_path / folder / "data/rows.csv").write_text(folder)
    first, other = (chosen(Reads("r", place=str(tmp_path / folder / "data/rows.csv")))["place"] for folder in "ab")
    assert first != other and first == f"rows.csv-{hashlib.sha256(b'a').hexdigest()[:8]}"
    assert safe(variant({"path": first})) == f"path={first}"
    assert chosen(Reads("r", files=(tmp_path / "a/data/rows.csv",))) == {"files": [first]}
    folders = [chosen(Reads("r", place=str(tmp_path / folder / "data")))["place"] for folder in "ab"]
    assert len(set(folders)) == 2 and all(re.fullmatch("data-[0-9a-f]{8}", name) for name in folders)
    monkeypatch.chdir(tmp_path / "a/data")
    assert chosen(Reads("r", place="."))["place"] == folders[0]
    (tmp_path / "a/data/rows.csv").rename(tmp_path / "a/data/others.csv")
    assert chosen(Reads("r", place="."))["place"] != folders[0]
    # What is not on this machine is a name of somewhere else; other settings are no places.
    assert chosen(Reads("r", place="causalnlp/corr2cause")) == {"place": "causalnlp/corr2cause"}
    assert chosen(Reads("r", words="others.csv")) == {"words": "others.csv"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limit": True}, "task.limit"),
        ({"limt": 3}, "did you mean 'task.limit'"),
        ({"seed": "x"}, "task.seed=x"),
        *(({"path": word, "source": "file"}, r"is quoted twice: 'task\.path=\"…\"'") for word in (1e5, True, 7)),
    ],
)
def test_what_does_not_fit_is_said(settings, message):
    with pytest.raises(ConfigError, match=message):
        corr2cause(**settings)


def test_a_class_that_is_not_there_is_said():
    with pytest.raises(ConfigError, match=r"model\._target_=harness\.models\.baselines\.Nothing cannot be imported"):
        build({"_target_": "harness.models.baselines.Nothing"}, "model")


@pytest.mark.parametrize(
    ("target", "section", "message"),
    [
        ("harness.types.Answer", {"label": 1}, "has no name, identity, accepts, traits, respond: a model has name,"),
        ("harness.errors.ConfigError", {}, "is no dataclass"),
    ],
)
def test_what_a_class_lacks_to_be_a_model_is_said(target, section, message):
    with pytest.raises(ConfigError, match=message):
        build({"_target_": target, **section}, "model")


def test_a_setting_left_open_is_asked_for():
    with pytest.raises(ConfigError, match=r"model\.p_yes has to be given"):
        build({"_target_": f"{Baseline.__module__}.Baseline", "name": "b", "p_yes": "???"}, "model")
