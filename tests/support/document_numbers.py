"""The numbers of the documents that follow from what ships, as they have to be printed, in their order."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from harness.storage.runs import load
from harness.tasks.causalbench.networks import load as load_network
from harness.tasks.causalbench.rendering import DEFAULT
from harness.tasks.corr2cause.enumerate import public_test
from harness.types import Scores

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "results" / "shipped" / "corr2cause"
PAPER = ROOT / "packages/papers/harness_papers/data/published/corr2cause.csv"
MODELS = ROOT / "harness" / "data" / "models"
LEARNED = ("tiny", "tiny_renamed")


def folder(model: str, variant: str) -> Path:
    return SHIPPED / variant / ("pair" if model in LEARNED else "plain") / model


@cache
def scores(model: str, variant: str, labels: str) -> Mapping[str, Scores]:
    """Return the rows of a run's result by what is in them."""
    rows = load(folder(model, variant)).result.scores[labels]
    return {"all": rows["overall"]["all"], **rows["relation"], **rows["num_nodes"]}


def percent(row: Scores, name: str, *, interval: bool = True) -> list[str]:
    metric = row.metric(name)
    assert metric is not None and metric.value is not None
    if metric.value == 1:
        return ["100"]
    return [f"{100 * metric.value:.2f}", *(f"{100 * end:.1f}" for end in (metric.interval or ()) if interval)]


def head_table() -> list[str]:
    """harness -m model=… task.version=v2,v1 task.perturbation=none,permutation (results/shipped)"""
    found: list[str] = []
    for model in ("always_yes", "hypothesis_only", "shortcut", "linear", *LEARNED, "reasoner"):
        if model == "reasoner":
            found.append(next(f"{float(row['f1']):.2f}" for row in paper() if row["model"] == "RoBERTa-Large MNLI"))
        found += percent(scores(model, "version=v1", "published")["all"], "f1", interval=model != "always_yes")
        for variant in ("default", "perturbation=permutation"):
            for labels in ("published", "audited"):
                found += percent(scores(model, variant, labels)["all"], "f1")
    return found


def public_labels() -> list[str]:
    return [wrong_labels()[0], wrong_labels()[1]]


def zero_shot_floor() -> list[str]:
    """harness -m model=hypothesis_only task.version=v2,v1 task.perturbation=none,permutation"""
    runs = ("version=v1", "perturbation=permutation")
    return [percent(scores("hypothesis_only", variant, "published")["all"], "f1")[0] for variant in runs]


def near_the_top() -> list[str]:
    """harness leaderboard published=true, Table 5a, and the runs of the table"""
    f1, *interval = percent(scores("linear", "version=v1", "published")["all"], "f1")
    best = sorted((float(row["f1"]) for row in paper()), reverse=True)[:5]
    return [f1, *(f"{value:.2f}" for value in best), *interval]


def train_split() -> list[str]:
    data = json.loads((MODELS / "linear" / "training.json").read_text())["data"]
    return [f"{data['premises']:,}", f"{data['items']:,}"]


def second_method() -> list[str]:
    """task=causalbench/causality task.method=2 over the fourteen networks"""
    networks = [load_network(name) for name in DEFAULT]
    pairs = sum(len(network.dag) * (len(network.dag) - 1) for network in networks)
    edges = sum(parents.bit_count() for network in networks for parents in network.dag)
    return [f"{pairs:,}", f"{6 * pairs:,}", f"{2 * edges:,}"]


def floors() -> list[str]:
    """make results: task=causalbench/causality model=always_yes,always_no,random_uniform"""
    place = ROOT / "results" / "shipped" / "causalbench" / "causality" / "default" / "closed"
    rows = {
        model: json.loads((place / model / "result.json").read_text())["scores"]["exact"]
        for model in ("always_yes", "always_no", "random_uniform")
    }
    number = len(load_network("asia").dag)
    yes, no = (f"{rows[model]['network']['asia']['sid']:.0f}" for model in ("always_yes", "always_no"))
    coin = rows["random_uniform"]["overall"]["all"]
    ends = [f"{100 * end:.1f}" for end in coin["intervals"]["f1"]]
    return [yes, str(number * (number - 1)), no, f"{100 * coin['f1']:.2f}", *ends]


def paper() -> Iterator[Mapping[str, str]]:
    """Yield the rows of Table 5a: fine-tuned models on the original texts."""
    with PAPER.open(encoding="utf-8", newline="") as file:
        yield from (
            row for row in csv.DictReader(file) if row["table"] == "Table 5a" and row["perturbation"] == "original"
        )


def errors() -> list[str]:
    """True and false positives and the missed, by audited labels: relation by relation, then by size."""
    found = []
    columns = [("hypothesis_only", "default")]
    columns += [(model, variant) for model in ("linear", "tiny") for variant in ("default", "perturbation=permutation")]
    relations = [(name,) for name in ("parent", "ancestor", "child", "descendant", "collider", "confounder")]
    for names in (*relations, ("2", "3"), ("4",), ("5",), ("6",)):
        for model, variant in columns:
            rows = [scores(model, variant, "audited")[name].confusion for name in names]
            found += [str(sum(row[cell] for row in rows)) for cell in ("tp", "fp", "fn")]
    return found


def wrong(model: str, variant: str) -> set[str]:
    """Return the items that a run answered otherwise than their published label."""
    records = load(folder(model, variant)).records()
    return {r.item for r in records if r.answer is None or r.answer.label != r.labels["published"]}


def forced_errors() -> list[str]:
    """harness compare results/…/linear results/…/reasoner"""
    row = scores("reasoner", "version=v1", "published")["all"].confusion
    v1, v2 = ((wrong("linear", variant), wrong("reasoner", variant)) for variant in ("version=v1", "default"))
    return [str(n) for n in (row["fp"] + row["fn"], row["tp"], row["fp"], row["fp"] + row["fn"],
                             len(v1[0]), len(v1[0] & v1[1]), len(v2[0]), len(v2[0] & v2[1]), len(v2[1]))]  # fmt: skip


def wrong_labels() -> list[str]:
    """The audit: every label of both public test sets derived anew"""
    found = []
    for version in ("v2", "v1"):
        claims = list(public_test(version))
        wrong = [claim for claim in claims if claim.published != claim.derived]
        found += [str(len(wrong)), f"{len(claims):,}"]
        if version == "v2":
            found += [str(sum(claim.derived for claim in wrong))]
    return found


def corr2cause_floors() -> list[str]:
    """harness -m model=always_yes,hypothesis_only,shortcut"""
    models = ("always_yes", "hypothesis_only", "shortcut")
    return [
        value
        for model in models
        for value in percent(scores(model, "default", "published")["all"], "f1", interval=False)
    ]


def shortcut() -> list[str]:
    """harness -m model=shortcut task.labels=null,audited"""
    found = []
    for labels in ("published", "audited"):
        row = scores("shortcut", "default", labels)["all"]
        found += [*percent(row, "f1"), *percent(row, "auroc", interval=False), f"{row['brier']:.4f}"]
    row = scores("shortcut", "version=v1", "published")["all"]
    return [*found, *percent(row, "f1", interval=False), *percent(row, "auroc", interval=False)]


def constant_models() -> str:
    """Return the rows of tasks.md: constant models and a coin over the networks of CausalBench."""
    lines = []
    for task, title in {
        "correlation/default": "correlation",
        "skeleton/default": "skeleton (`exact` questions)",
        "causality/default": "causality, method 1",
        "causality/method=2": "causality, method 2",
        "cot/default": "chains of causes",
    }.items():
        for model in ("always_yes", "always_no", "random_uniform"):
            sets = load(ROOT / "results/shipped/causalbench" / task / "closed" / model).result.scores
            exact, paper = (sets.get(name, sets["exact"])["overall"]["all"] for name in ("exact", "paper"))
            matrix = [(paper, name) for name in ("macro_f1", "cell_accuracy", "cell_shd") if paper.metric("cell_shd")]
            numbers = [(exact, name) for name in ("f1", "accuracy", "shd")] + (matrix or 3 * [(paper, "")])
            cells = [(row[name], 1 if name.endswith("shd") else 100) for row, name in numbers]
            words = ["–" if value is None else f"{value * factor:.2f}" for value, factor in cells]
            lines.append(f"| {title} | {model} | {' | '.join(words)} |")
    return "\n".join(lines)


def recorded_answers() -> str:
    """Return the rows of recorded.md: accuracy of o1 on CLadder, by each label set."""
    lines = []
    for labels, variant in (("published", ""), ("exact", "labels=exact,"), ("stated", "labels=stated,")):
        place = ROOT / "results/shipped/cladder" / f"{variant}split=balanced1000"
        models = ("recorded/o1-preview", "recorded/o1-mini", "recorded/o1-mini-no-reasoning")
        rows = [
            load(place / model).result.scores[labels]["overall"]["all"]
            for model in (*models, "plain/ladder_reasoner", "plain/cladder_shortcut")
        ]
        cells = [percent(row, "accuracy") for row in rows]
        told = [f"{cell[0]} [{cell[1]}, {cell[2]}]" for cell in cells[:3]] + [
            cell[0] if "." in cell[0] else f"{cell[0]}.00" for cell in cells[3:]
        ]
        lines.append(f"| `{labels}` | {rows[0].items:,} | {' | '.join(told)} |")
    return "\n".join(lines)


QUICK: Mapping[str, Callable[[], list[str]]] = {
    function.__name__: function
    for function in (
        public_labels, wrong_labels, head_table, zero_shot_floor, near_the_top, forced_errors, errors,
        train_split, second_method, floors, corr2cause_floors, shortcut,
    )
}  # fmt: skip
