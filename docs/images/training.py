"""The figure of docs/training.md, from the curve that examples/grpo.py has left: python docs/images/training.py"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

HERE = Path(__file__).parent
STEPS = 50
"""Of one point of the rewards: those of a single step are noise."""


def main() -> None:
    """Draw rewards in training and accuracy in validation over the steps."""
    rows = [json.loads(line) for line in (HERE / "training.jsonl").read_text(encoding="utf-8").splitlines()]
    parts: dict[int, list[float]] = {}
    for row in rows:
        parts.setdefault(-(-row["step"] // STEPS) * STEPS, []).append(row["reward"])
    asked = [row for row in rows if row["validation"] is not None]
    figure, frame = pyplot.subplots(figsize=(7, 3.4))
    frame.axhline(50, color="grey", linewidth=1, linestyle=":", label="chance")
    means = [100 * sum(part) / len(part) for part in parts.values()]
    frame.plot(list(parts), means, color="tab:blue", label=f"reward in training, up to 5 variables ({STEPS} steps)")
    right = [100 * row["validation"] for row in asked]
    frame.plot([row["step"] for row in asked], right, color="tab:orange", marker="o", markersize=3,
               label="validation, 6 variables")  # fmt: skip
    frame.set(xlabel="step", ylabel="right answers in percent", ylim=(40, 80))
    frame.legend(frameon=False, fontsize=8, loc="upper left")
    frame.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(HERE / "training.png", dpi=150)


if __name__ == "__main__":
    main()
