"""harness/plugins/papers/data/strengths.csv, made once more from the networks' tables: how strong each cause is.

python benchmarks/strengths.py [network …] prints how long each network took; without names it writes the file.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

from harness.plugins.papers.strength_scores import COLUMNS, measured
from harness.tasks.causalbench.networks import NETWORKS

FILE = Path(__file__).resolve().parents[1] / "harness" / "plugins" / "papers" / "data" / "strengths.csv"


def main(names: list[str]) -> None:
    """Measure the networks, and write the file where none are named."""
    lines = []
    for name in names or NETWORKS:
        started = time.perf_counter()
        pairs = list(measured(name))
        lines += [(name, cause, effect, f"{s.value:.6f}", f"{s.error:.6f}") for cause, effect, s in pairs]
        drawn = sum(s.error > 0 for _, _, s in pairs)
        seconds = time.perf_counter() - started
        print(f"{name}: {len(pairs)} pairs, {drawn} of them drawn, {seconds:.1f} s", flush=True)
    if not names:
        with FILE.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *lines])


if __name__ == "__main__":
    main(sys.argv[1:])
