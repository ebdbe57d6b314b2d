from __future__ import annotations

from collections.abc import Iterator

import pytest
from batch_runs import BatchServer


@pytest.fixture(scope="module")
def remote() -> Iterator[BatchServer]:
    server = BatchServer()
    yield server
    server.close()


@pytest.fixture
def server(remote, key, monkeypatch, tmp_path) -> BatchServer:
    monkeypatch.chdir(tmp_path)
    remote.set(fresh=True, faults={}, seed=1, looks=2, tokens=1e9, pause="0.01")
    return remote
