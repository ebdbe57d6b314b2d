"""harness/plugins/papers/data/latent_classes.csv, made once more: what follows of five observed variables.

python benchmarks/latent_classes.py looks at every graph, in a few minutes, and writes the file.
"""

from __future__ import annotations

import csv
from pathlib import Path

from harness.plugins.papers.latent_graphs import FILE, MOST_HIDDEN, MOST_OBSERVED, computed, rows

PLACE = Path(__file__).resolve().parents[1] / "harness" / "plugins" / "papers" / "data" / FILE


def main() -> None:
    """Write the classes of each number of hidden variables."""
    with PLACE.open("w", encoding="utf-8", newline="") as file:
        for hidden in range(MOST_HIDDEN + 1):
            classes = computed(MOST_OBSERVED, hidden)
            csv.writer(file, lineterminator="\n").writerows(rows(hidden, classes))
            print(f"{hidden} hidden: {len(classes)} classes", flush=True)


if __name__ == "__main__":
    main()
