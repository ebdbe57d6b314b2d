"""benchmarks/league.py: a graph in time and one that is not, what is learned again, table and figure."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FILE = Path(__file__).parents[3] / "benchmarks" / "league.py"


@pytest.fixture
def league(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("league", FILE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "league", module)
    monkeypatch.syspath_prepend(FILE.parent)  # where its worker processes look for it
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "CELLS", tmp_path / "league.csv")
    monkeypatch.setattr(module, "TABLE", tmp_path / "LEAGUE.md")
    monkeypatch.setattr(module, "FIGURE", tmp_path / "league.png")
    return module


def test_a_graph_that_takes_too_long_is_named_and_learned_again_for_a_longer_limit(league):
    import csv

    from harness.tasks.causalbench.networks import NETWORKS

    # PC's library is loaded by the first: the limit of the second would leave it half imported, for all later tests.
    quick = league.learned(league.Cell(0, 100, "cancer", "pc"), 60)
    slow = league.learned(league.Cell(0, 100, "win95pts", "pc"), 0.05)
    assert quick["parent_aid"] >= 0 and slow == {**league.Cell(0, 100, "win95pts", "pc")._asdict(), "seconds": 0.05}
    header = [*quick]
    every = [
        quick | {"network": network, "samples": samples, "algorithm": algorithm, "seed": seed}
        for network in NETWORKS[:14]
        for samples in league.SAMPLES
        for algorithm in league.ALGORITHMS
        for seed in range(2)
        if (network, samples, algorithm, seed) != ("win95pts", 100, "pc", 0)
    ]
    with league.CELLS.open("w", newline="") as file:
        table = csv.DictWriter(file, header)
        table.writeheader()
        table.writerows([*every, slow])
    league.write()
    text = league.TABLE.read_text()
    assert "Too slow: pc on win95pts from 100 samples, once (0.05 s of processor time)." in text
    assert text.count("| always_no") == 4 and "3 networks: hailfinder, hepar2, win95pts" in text
    assert league.FIGURE.read_bytes()[:4] == b"\x89PNG"
    league.fill(2, 1, 60)  # the slow one alone
    rows = league.stored()
    assert len(rows) == 14 * 5 * 7 * 2 and all(row["f1"] for row in rows)
