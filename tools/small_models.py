"""Fit model=hypothesis_only and model=linear of Corr2Cause once more, byte for byte.

`python tools/small_models.py [FOLDER]`: on the train split with audited labels; nothing is drawn at random, no torch.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import SIZES, universe
from harness.tasks.corr2cause.small_models import OTHER, SHARES, UNIT, WEIGHTS, sentences, smoothed
from harness.types import JSON, Item

COMMAND = "python tools/small_models.py"
SHIPPED = Path(__file__).parents[1] / "harness" / "data"
REGULARISATION = 1.0  # scikit-learn's C, as it is by default: nothing was tuned
TOLERANCE = 1e-8  # near enough to the optimum that rounding to thousandths gives the same everywhere


class Shares(NamedTuple):
    """How many of each hypothesis are a Yes, of how many, and above which share the answer is Yes."""

    claims: Mapping[str, tuple[int, int]]
    threshold: float


class SentenceWeights(NamedTuple):
    """A regression for each hypothesis, in thousandths: slopes are [hypothesis, sentence]."""

    hypotheses: Sequence[str]
    sentences: Sequence[str]
    intercepts: NDArray[np.int64]
    slopes: NDArray[np.int64]


@dataclass(frozen=True)
class LabelledClaims:
    """Claims with their labels, by hypothesis; a premise stands once."""

    premises: Sequence[Sequence[str]]
    """The sentences of each."""
    claims: Mapping[str, Sequence[tuple[int, int]]]
    """By hypothesis: which premise, and the label (1 is Yes)."""
    sha256: str
    """Of the ids, texts and labels."""

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """How many Yes, of how many, by hypothesis."""
        return {name: (sum(label for _, label in claims), len(claims)) for name, claims in self.claims.items()}


def examples(items: Iterable[Item]) -> LabelledClaims:
    """Return the audited claims of items, hypotheses in alphabetical order."""
    premises: dict[str, int] = {}
    claims: dict[str, list[tuple[int, int]]] = {}
    digest = hashlib.sha256()
    for item in items:
        premise = premises.setdefault(str(item.fields["premise"]), len(premises))
        label = item.labels["audited"]
        claims.setdefault(str(item.fields["statement"]), []).append((premise, label))
        digest.update(f"{item.id}\n{item.fields['input']}\n{label}\n".encode())
    by_name = {name: claims[name] for name in sorted(claims)}
    return LabelledClaims([sentences(text) for text in premises], by_name, digest.hexdigest())


def train() -> LabelledClaims:
    """Return the train split in plain words."""
    return examples(map(ItemWriter("none", 0).item, universe(SIZES, split="train", seed=0)))


def fit_shares(data: LabelledClaims) -> Shares:
    """Return the share of Yes of each hypothesis, with the threshold that has the best F1 on the same claims.

    Every threshold between two neighbouring shares does the same: the one half-way is taken, in whole hundredths.
    """
    counts = data.counts
    by_share = sorted(counts.values(), key=lambda count: -count[0] / count[1])
    positives = sum(yes for yes, _ in by_share)
    best, threshold, hits, yeses = 0.0, 0.5, 0, 0
    for (yes, total), (next_yes, next_total) in pairwise(by_share):
        hits, yeses = hits + yes, yeses + total
        middle = round((yes / total + next_yes / next_total) / 2, 2)
        f1 = 2 * hits / (yeses + positives)
        if f1 > best and next_yes / next_total < middle < yes / total:
            best, threshold = f1, middle
    return Shares({**counts, OTHER: _total(data)}, threshold)


def _total(data: LabelledClaims) -> tuple[int, int]:
    yes, claims = zip(*data.counts.values(), strict=True)
    return sum(yes), sum(claims)


def fit_weights(data: LabelledClaims) -> SentenceWeights:
    """Return a logistic regression (L2) for each hypothesis with both labels; for others the log-odds of its share."""
    columns = sorted({sentence for premise in data.premises for sentence in premise})
    place = {sentence: k for k, sentence in enumerate(columns)}
    rows = np.zeros((len(data.premises), len(columns)))
    for k, premise in enumerate(data.premises):
        rows[k, [place[sentence] for sentence in premise]] = 1
    counts = {**data.counts, OTHER: _total(data)}
    slopes = np.zeros((len(counts), len(columns)), dtype=np.int64)
    intercepts = np.zeros(len(counts), dtype=np.int64)
    for number, (name, (yes, total)) in enumerate(counts.items()):
        if 0 < yes < total and name != OTHER:
            premises, labels = zip(*data.claims[name], strict=True)
            intercept, slopes[number] = _regression(rows[[*premises]], labels)
        else:
            intercept = round(UNIT * smoothed(yes, total))
        intercepts[number] = intercept
    return SentenceWeights([*counts], columns, intercepts, slopes)


def _regression(rows: NDArray[np.float64], labels: Sequence[int]) -> tuple[int, NDArray[np.int64]]:
    """Return intercept and slopes in thousandths. liblinear's Newton method draws nothing at random."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=REGULARISATION, solver="liblinear", tol=TOLERANCE, max_iter=1000)
    model.fit(rows, labels)
    return round(UNIT * float(model.intercept_[0])), np.rint(UNIT * model.coef_[0]).astype(np.int64)


def write_weights(weights: SentenceWeights) -> str:
    """Return the weights as CSV, a line for each hypothesis; one without slopes ends after its intercept."""
    rows = [
        [name, int(intercept), *(map(int, slopes) if slopes.any() else ())]
        for name, intercept, slopes in zip(weights.hypotheses, weights.intercepts, weights.slopes, strict=True)
    ]
    return _csv([["hypothesis", "intercept", *weights.sentences], *rows])


def _csv(rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def training_json(data: LabelledClaims, settings: Mapping[str, JSON], file: str, text: str, **more: JSON) -> str:
    """Return what training.json says of a model: the data, the settings, the versions, and a digest of its numbers."""
    positives, claims = _total(data)
    content = {
        "made_by": COMMAND,
        "task": "corr2cause",
        "data": {
            "split": "train",
            "perturbation": "none",
            "seed": 0,
            "labels": "audited",
            "premises": len(data.premises),
            "items": claims,
            "positives": positives,
            "sha256": data.sha256,
        },
        "settings": dict(settings),
        "numbers": {"file": Path(file).name, "sha256": hashlib.sha256(text.encode()).hexdigest(), **more},
        "versions": {name: version(name) for name in ("numpy", "scikit-learn")},
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def files() -> dict[str, str]:
    """Return the files that ship, by their path below harness/data."""
    data = train()
    shares, weights = fit_shares(data), fit_weights(data)
    share_text = _csv([["hypothesis", "yes", "claims"], *([name, *yes] for name, yes in shares.claims.items())])
    weight_text = write_weights(weights)
    chosen: dict[str, JSON] = {"threshold": shares.threshold, "threshold_chosen_by": "F1 on the train split"}
    fitted: dict[str, JSON] = {"penalty": "l2", "C": REGULARISATION, "solver": "liblinear", "tol": TOLERANCE}
    fitted_rows = weights.slopes.any(axis=1)
    sizes: dict[str, JSON] = {
        "regressions": int(fitted_rows.sum()),
        "sentences": len(weights.sentences),
        "weights": int(fitted_rows.sum()) * (len(weights.sentences) + 1),
    }
    return {
        SHARES: share_text,
        SHARES.replace("shares.csv", "training.json"): training_json(
            data, chosen, SHARES, share_text, shares=len(data.claims)
        ),
        WEIGHTS: weight_text,
        WEIGHTS.replace("weights.csv", "training.json"): training_json(data, fitted, WEIGHTS, weight_text, **sizes),
    }


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED
    for name, text in files().items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
        print(out / name)
