"""Corr2Cause as the views show it: its paper, the numbers that it prints, and what is drawn of its items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.tasks.benchmark import Benchmark, Explanations, Origin

if TYPE_CHECKING:
    from harness.tasks.presets import Preset
    from harness.tasks.published import PublishedRow

METRICS = ("f1", "precision", "recall", "accuracy")
FOLLOW_UPS = "Follow-ups"
"""The table of later works, which is none of the paper's."""
PERTURBED = {
    "none": "as it is",
    "paraphrase": "paraphrased",
    "refactorization": "variables renamed",
    "permutation": "nodes permuted",
    "varied": "nodes permuted, names and words varied",
}
"""The perturbations in the words of headings."""
PERTURBATIONS = {"none": "original", **{name: name for name in tuple(PERTURBED)[1:]}}


def _published() -> Iterator[PublishedRow]:
    """Yield the printed rows, with the counts behind Tables 4 and 5a, and those of later works.

    Recall gives the true positives among 342, precision the false ones, F1 and accuracy confirm both to the last
    printed digit.
    """
    import csv

    from harness.scoring.classification import AnswerCounts
    from harness.tasks.published import read_rows

    lines = csv.DictReader(_file("corr2cause_counts.csv").splitlines())
    counts = {(line["table"], line["model"]): line for line in lines}
    settings = {called: value for value, called in PERTURBATIONS.items()}
    for row in read_rows(_file("corr2cause.csv"), "corr2cause", METRICS):
        count = counts.get((row.table, row.model))
        yield replace(
            row,
            asked={"perturbation": settings.get(row.setting["perturbation"], row.setting["perturbation"])},
            counts=None
            if count is None
            else AnswerCounts(**{name: int(count[name]) for name in ("tp", "fp", "fn", "tn")}),
            contradicted=() if count is None else tuple(count["contradicted"].split()),
        )
    yield from _followups()


def _followups() -> Iterator[PublishedRow]:
    """Yield the rows of later works, each with its source; what was not read there itself is marked second-hand."""
    import csv

    from harness.tasks.published import PublishedRow

    settings = {called: value for value, called in PERTURBATIONS.items()}
    for line in csv.DictReader(_file("corr2cause_followups.csv").splitlines()):
        mark = " (second-hand)" if line["second_hand"] else ""
        where = f"{line['source']}{mark}"
        yield PublishedRow(
            "corr2cause",
            FOLLOW_UPS,
            {name: line[name] for name in ("method", "perturbation", "items")} | {"source": where},
            line["model"],
            {name: line[name] for name in METRICS if line[name]},
            asked={"perturbation": settings[line["perturbation"]]},
            in_percent=METRICS,
            source=f"{line['title']}, {where}",
            note=line["note"],
        )


def _file(name: str) -> str:
    return (resources.files("harness") / "data" / "published" / name).read_text(encoding="utf-8")


def _presets() -> Sequence[Preset]:
    from harness.tasks.presets import read_presets

    return read_presets(_file("corr2cause.yaml"))


def _explanations() -> Explanations:
    from harness.tasks.corr2cause.explain import Classes

    return Classes()


def _origin(settings: Mapping[str, Any]) -> Origin:
    """Return the data set: where items were read from there, or are its test split made here, item by item."""
    from harness.tasks.corr2cause.sources import HUB_PATH, HUB_REVISION

    split, path = str(settings.get("split")), settings.get("path")
    if settings.get("source") == "hub":
        place = str(path or HUB_PATH)
        if place.count("/") != 1 or place.startswith((".", "/", "~")) or Path(place).exists():
            return Origin()
        return Origin(
            data_set=place,
            split=split,
            revision=settings.get("revision") or (HUB_REVISION if place == HUB_PATH else None),
        )
    made_here = settings.get("source") == "builtin" and split == "test" and settings.get("version") == "v2"
    if made_here and settings.get("perturbation") == "none":
        return Origin(data_set=HUB_PATH, split=split, revision=HUB_REVISION)
    return Origin()


BENCHMARK = Benchmark(
    name="corr2cause",
    title="Corr2Cause",
    source="Jin et al., Can Large Language Models Infer Causation from Correlation?, ICLR 2024",
    year=2023,
    data_version="data v1.0: 2,246 test items, 342 of them positive",
    published=_published,
    presets=_presets,
    digits="in percent",
    defaults={"perturbation": "none", "version": "v2"},
    version_setting="version",
    paper_labels="published",
    paper_settings={"version": "v1"},
    setting_words={"perturbation": PERTURBED},
    perturbations=PERTURBATIONS,
    explanations=_explanations,
    origin=_origin,
    own_models=(
        "harness.tasks.corr2cause.reasoner.Reasoner",
        "harness.tasks.corr2cause.shortcut.Shortcut",
        "harness.tasks.corr2cause.small_models.HypothesisOnly",
        "harness.tasks.corr2cause.small_models.Linear",
    ),
    costly={"classes": 5_000},
)
