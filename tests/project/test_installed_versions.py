"""What is installed, as importlib.metadata says it."""

from __future__ import annotations

import sys
from importlib import metadata

from harness.plugin import version_of


def test_versions_are_those_of_importlib_metadata(tmp_path, monkeypatch):
    for ending in ("dist-info", "egg-info"):
        for place, number in (("first", 1), ("second", 2)):
            (tmp_path / place / f"Two_Words-{number}.0+cpu.{ending}").mkdir(parents=True)
    (tmp_path / "first" / "old-3.1-py3.11.egg-info").mkdir()
    (tmp_path / "first" / "checkout.egg-info").mkdir()
    (tmp_path / "here" / "sent-1.0.dist-info").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [str(tmp_path / name) for name in ("here", "first", "second")] + sys.path)
    assert version_of("two-words") == "1.0+cpu"
    assert version_of("old") == "3.1"
    assert version_of("checkout") is None
    assert version_of("sent") is None  # nobody has installed what lies in the working directory
    names = ["numpy", "hydra-core", "scikit-learn", "genai-prices", "aiohttp"]
    assert [version_of(name) for name in names] == [metadata.version(name) for name in names]
