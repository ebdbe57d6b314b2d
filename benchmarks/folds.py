"""Small models on task=corr2cause/folds: fitted on four fifths of all 2,370 classes, tried on the rest, five times.

python benchmarks/folds.py                     always_yes, hypothesis_only, shortcut, linear, trees: minutes of a core
python benchmarks/folds.py shortcut trees      some of them

For each it prints F1 (Yes is the positive class) over all classes, each answered by a model that has not seen it, with
the names as they are and renamed twice, with its interval over classes and its deviation over folds; then the share of
answers that are right by the length of the shortest argument. It writes nothing. OMP_NUM_THREADS=1 keeps trees to one
core.

`tiny` is trained by the command that trains any other model, in 1,000 processor seconds a fold, and then asked here
(minutes more):
  harness finetune -m recipe=tiny task=corr2cause/folds task.fold=0,1,2,3,4
  python benchmarks/folds.py tiny
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.models.local.nli import NLI
from harness.plugins.fresh import trees
from harness.plugins.fresh.folds import FOLDS, Folds
from harness.plugins.train.fit_small_models import examples, fit_shares, fit_weights
from harness.tables.markdown_csv_json import markdown
from harness.tables.table import Table
from harness.tasks.corr2cause import shortcut
from harness.tasks.corr2cause.claim import Perturbation
from harness.tasks.corr2cause.text import read_question
from harness.types import Failure, Item, PairRequest, Response

RENAMED: Mapping[str, tuple[Perturbation, tuple[int, ...]]] = {
    "as they are": ("none", (0,)),
    "renamed": ("permutation", (0, 1)),
}
"""The names, and the seeds that draw them."""
RESAMPLES = 2000
Answers = Callable[[Sequence[Item]], list[int]]
"""Answers items with 1 for Yes and 0 for No."""


@cache
def items(fold: int, perturbation: Perturbation = "none", seed: int = 0) -> list[Item]:
    return list(Folds("corr2cause/folds", ("plain",), fold=fold, perturbation=perturbation, seed=seed).items())


def learned(fold: int) -> Iterator[Item]:
    """Yield the items of the other folds."""
    return chain.from_iterable(items(other) for other in range(FOLDS) if other != fold)


def text_of(item: Item) -> str:
    return str(item.fields["input"])


def by_log_odds(log_odds: Callable[[str], float]) -> Answers:
    return lambda asked: [int(log_odds(text_of(item)) > 0) for item in asked]


def always_yes(fold: int) -> Answers:
    return lambda asked: [1] * len(asked)


def hypothesis_only(fold: int) -> Answers:
    return by_log_odds(fit_shares(examples(learned(fold))).log_odds)


def linear(fold: int) -> Answers:
    return by_log_odds(fit_weights(examples(learned(fold))).log_odds)


def shortcut_model(fold: int) -> Answers:
    regressions = shortcut.fitted(sorted({class_of(item) for item in learned(fold)}))
    return by_log_odds(lambda words: shortcut.log_odds(words, regressions))


def class_of(item: Item) -> tuple[int, int]:
    """Return the number of variables and the representative."""
    n, _, number = item.cluster.removeprefix("n").partition("-g")
    return int(n), int(number)


def tree_model(fold: int) -> Answers:
    """Return trees as model=trees has them, fitted on the other folds' claims."""
    others = list(learned(fold))
    kinds, rows = rows_of(others)
    labels = np.array([item.labels["audited"] for item in others])
    fitted = {kind: trees.fit(rows[kinds == kind], labels[kinds == kind].tolist()) for kind in shortcut.CLAIMS}

    def answers(asked: Sequence[Item]) -> list[int]:
        kinds, rows = rows_of(asked)
        yes = np.zeros(len(asked), dtype=int)
        for kind, model in fitted.items():
            yes[kinds == kind] = model.predict(rows[kinds == kind])
        return yes.tolist()

    return answers


def rows_of(asked: Sequence[Item]) -> tuple[NDArray[np.str_], NDArray[np.uint8]]:
    """Return the kind of each claim, and the facts that trees look at."""
    kinds, rows, stated = [], [], {}
    for item in asked:
        premise, read = read_question(text_of(item))
        if premise not in stated:
            stated = {premise: trees.Stated.of(len(premise.names), premise.independences)}
        claim = read.canonical
        i, j = premise.names.index(claim.i), premise.names.index(claim.j)
        kinds.append(str(claim.relation))
        rows.append(trees.facts(stated[premise], claim.relation, i, j))
    return np.array(kinds), np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)


def tiny(fold: int) -> Answers:
    """Return what `harness finetune` has made of the other folds, as model=nli asks it."""
    model = NLI(name="tiny", path=str(checkpoint(fold)), dtype="float32", device="cpu")

    def answers(asked: Sequence[Item]) -> list[int]:
        pairs = [PairRequest(str(item.fields["premise"]), str(item.fields["hypothesis"])) for item in asked]
        outcomes = dict(chain.from_iterable(model.respond(dict.fromkeys(pairs))))
        return [says_yes(outcomes[pair]) for pair in pairs]

    return answers


def says_yes(outcome: Response | Failure) -> int:
    assert isinstance(outcome, Response) and outcome.logprobs
    return int(max(outcome.logprobs, key=outcome.logprobs.__getitem__) == "entailment")


def checkpoint(fold: int) -> Path:
    """Return the folder of the model trained for a fold. Raises SystemExit if there is none."""
    for notes in sorted(Path("checkpoints/tiny").glob("*/training.json")):
        task = json.loads(notes.read_bytes())["task"]
        if task["name"] == "corr2cause/folds" and task.get("fold", 0) == fold:
            return notes.parent
    raise SystemExit("first: harness finetune -m recipe=tiny task=corr2cause/folds task.fold=0,1,2,3,4")


MODELS: Mapping[str, Callable[[int], Answers]] = {
    "always_yes": always_yes,
    "hypothesis_only": hypothesis_only,
    "shortcut": shortcut_model,
    "linear": linear,
    "trees": tree_model,
    "tiny": tiny,
}


class Counts:
    """What became of a model's answers under some names."""

    def __init__(self) -> None:
        self.premises: dict[tuple[int, str], list[int]] = {}
        """By fold and premise: twice the true positives, and how often Yes is said or true."""
        self.right: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
        """By label and length of the argument: how many are right, of how many."""

    def add(self, fold: int, item: Item, answer: int) -> None:
        gold = item.labels["audited"]
        cell = self.premises.setdefault((fold, item.cluster), [0, 0])
        cell[0] += 2 * (answer & gold)
        cell[1] += answer + gold
        right = self.right[gold, item.groups["argument"]]
        right[0] += answer == gold
        right[1] += 1

    def row(self) -> list[str]:
        """Return F1, its 95% interval over classes, and its standard deviation over folds, in percent."""
        cells = np.array(list(self.premises.values()))
        fold = np.array([fold for fold, _ in self.premises])
        draws = np.random.default_rng(0).integers(len(cells), size=(RESAMPLES, len(cells)))
        sums = cells[draws].sum(axis=1)
        low, high = np.percentile(sums[:, 0] / sums[:, 1], [2.5, 97.5])
        each = [cells[fold == k].sum(axis=0) for k in range(FOLDS)]
        deviation = np.std([hits / of for hits, of in each], ddof=1)
        hits, of = cells.sum(axis=0)
        return [f"{len(cells):,}", *(f"{100 * value:.2f}" for value in (hits / of, low, high, deviation))]


def measured(name: str) -> dict[str, Counts]:
    """Return the counts of a model under each kind of names."""
    counts = {words: Counts() for words in RENAMED}
    for fold in range(FOLDS):
        answers = MODELS[name](fold)
        for words, (perturbation, seeds) in RENAMED.items():
            for seed in seeds:
                asked = items(fold, perturbation, seed)
                for item, answer in zip(asked, answers(asked), strict=True):
                    counts[words].add(fold, item, answer)
        print(f"{name}: fold {fold}", file=sys.stderr, flush=True)
    return counts


def tables(counts: Mapping[str, Mapping[str, Counts]]) -> Iterator[Table]:
    """Yield F1 over all classes, and the share of right answers by the length of the shortest argument."""
    header = ["model", "names", "classes", "F1", "least", "greatest", "deviation over folds"]
    yield Table.of(header, [[name, words, *of.row()] for name, by in counts.items() for words, of in by.items()],
                   text_columns=2)  # fmt: skip
    for label, title in ((1, "Yes: shortest argument"), (0, "No: shortest argument")):
        lengths = sorted(
            {length for by in counts.values() for of in by.values() for gold, length in of.right if gold == label},
            key=lambda length: int(length.split()[0]),
        )
        plain = next(iter(counts.values()))["as they are"]
        rows = [["claims", "", *(f"{plain.right[label, length][1]:,}" for length in lengths)]]
        for name, by in counts.items():
            for words, of in by.items():
                shares = (of.right[label, length] for length in lengths)
                rows.append([name, words, *(f"{100 * right / all_:.1f}" for right, all_ in shares)])
        yield Table.of([title, "names", *lengths], rows, text_columns=2)


def main(names: Sequence[str]) -> None:
    for name in names or [name for name in MODELS if name != "tiny"]:
        for table in tables({name: measured(name)}):
            print(markdown([table]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
