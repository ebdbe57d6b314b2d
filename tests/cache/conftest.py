"""What the tests of a cache say of its interface holds for one SQLite file and for a folder of parts."""

from __future__ import annotations

import pytest

from harness.plugins.answers import parts, parts_store


@pytest.fixture(params=["sqlite", pytest.param("parts", marks=pytest.mark.slow)])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ending of a cache's name; parts are made of a few answers, and merged."""
    monkeypatch.setattr(parts, "_sync", lambda path: None)  # no test cuts the power
    for name, value in (("MOVED", 6), ("FANOUT", 3), ("LARGEST", 54), ("AT_ONCE", 16)):
        monkeypatch.setattr(parts_store, name, value)
    return str(request.param)
