"""The figure of findings.md: what each step away from the public test split takes from each model.

python docs/images/steps.py draws steps.png from results/shipped/, and prints the numbers that it shows. It needs the
records of these runs: `make results` leaves them there, and git holds some.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np

from harness.storage.runs import Run, load
from harness.tables.table import Table
from harness.tables.write import markdown

mpl.use("agg")
from matplotlib import pyplot

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "results" / "shipped" / "corr2cause"
STEPS = {
    "public split": "default",
    "renamed": "perturbation=permutation",
    "fresh premises": "fresh/limit=996,names=first,num_nodes=6",
    "matched pairs": "pairs/names=first,num_nodes=6",
}
MODELS = ("reasoner", "trees", "tiny_renamed", "shortcut", "tiny", "linear", "hypothesis_only", "always_no")
RESAMPLES = 10_000


class Share(NamedTuple):
    """A balanced accuracy with its 95% interval over clusters, in percent."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"


def balanced(run: Run) -> Share:
    """Return the mean of the shares of Yes and of No that are right, by logic."""
    cells: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for record in run.records():
        gold, label = record.labels["audited"], None if record.answer is None else record.answer.label
        cells[record.cluster][2 * gold] += label == gold
        cells[record.cluster][2 * gold + 1] += 1
    counts = np.array(list(cells.values()))
    draws = counts[np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))].sum(axis=1)
    shares = (draws[:, 0] / draws[:, 1] + draws[:, 2] / draws[:, 3]) / 2
    no, of_no, yes, of_yes = counts.sum(axis=0)
    return Share(50 * (no / of_no + yes / of_yes), *np.percentile(100 * shares, [2.5, 97.5]))


def rows() -> Iterator[tuple[str, list[Share]]]:
    """Yield what each model has at each step."""
    for model in MODELS:
        yield model, [balanced(load(next((SHIPPED / place).glob(f"*/{model}")))) for place in STEPS.values()]


def main() -> None:
    """Draw, and print."""
    shown = list(rows())
    figure, axes = pyplot.subplots(figsize=(6.75, 3.6), layout="constrained")
    for number, (model, shares) in enumerate(shown):
        places = np.arange(len(STEPS)) + (number - len(shown) / 2) * 0.02
        values = [share.value for share in shares]
        errors = [[s.value - s.low for s in shares], [s.high - s.value for s in shares]]
        axes.errorbar(places, values, yerr=np.maximum(errors, 0), marker="o", markersize=4, linewidth=1.4, label=model)
    axes.axhline(50, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(STEPS)), STEPS)
    axes.set_ylabel("balanced accuracy, audited labels (%)")
    axes.set_ylim(40, 102)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(HERE / "steps.png", dpi=200)
    table = [[model, *map(str, shares)] for model, shares in shown]
    print(markdown([Table.of(["model", *STEPS], table, text_columns=1)]))


if __name__ == "__main__":
    main()
