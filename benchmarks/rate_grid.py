"""The search for a rate on simulated servers, in virtual time: share of the best possible rate, refused, lost.

python benchmarks/rate_grid.py [--only WORD] [--seeds 3] [--workers 2]
"""

from __future__ import annotations

import argparse
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests")]

from support.rate_cells import cells  # noqa: E402
from support.simulated_servers import Run  # noqa: E402


def run(number_seed: tuple[int, int]) -> Run:
    number, seed = number_seed
    return cells()[number].run(seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="of cells with such a name (regular expression)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    chosen = [(number, cell) for number, cell in enumerate(cells()) if re.search(options.only, cell.name)]
    with ProcessPoolExecutor(options.workers) as pool:
        jobs = [(number, seed) for number, _ in chosen for seed in range(options.seeds)]
        runs = pool.map(run, jobs)
        print(f"{'share of the best rate: mean, least':>49}   refused %: mean, most   lost")
        for _, cell in chosen:
            of_cell = [next(runs) for _ in range(options.seeds)]
            shares = [100 * found.share for found in of_cell]
            refused = [100 * (found.refused - cell.by_chance) for found in of_cell]
            lost = sum(found.lost for found in of_cell)
            misses = "*" * (min(shares) < 90) + "!" * (max(refused) > 5) + "L" * (lost > 0)
            print(
                f"{cell.name:36}{sum(shares) / len(shares):7.1f}{min(shares):7.1f}"
                f"{sum(refused) / len(refused):10.1f}{max(refused):7.1f}{lost:9}  {misses}",
                flush=True,
            )


if __name__ == "__main__":
    main()
