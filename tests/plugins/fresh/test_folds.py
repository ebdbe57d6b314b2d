"""task=corr2cause/folds: every class is answered once, by whoever has never seen it."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.causal.dag import from_integer
from harness.causal.renaming import smallest
from harness.errors import ConfigError
from harness.plugins.fresh.folds import FOLDS, Folds
from harness.prompting.prompts import load
from harness.tasks.corr2cause.enumerate import SIZES, premises
from harness.types import ChoiceRequest


def folds(**settings: object) -> list[Folds]:
    return [Folds(name="corr2cause/folds", prompts=("plain",), fold=k, **settings) for k in range(FOLDS)]  # type: ignore[arg-type]


def test_every_class_is_in_one_fold_and_the_folds_are_alike() -> None:
    held_out = Counter(name for task in folds() for name in task.held_out())
    assert held_out == dict.fromkeys((f"n{n}-g{number}" for n in SIZES for number in premises(n, "all")), 1)
    sizes = [len(task.held_out()) for task in folds()]
    assert max(sizes) - min(sizes) <= len(SIZES)


@pytest.mark.parametrize("perturbation", ["none", "varied"])
def test_nothing_is_learned_from_a_class_that_is_asked_about_under_any_names(perturbation: str) -> None:
    for task in folds(perturbation=perturbation, num_nodes=(2, 3, 4)):
        asked, learned, chosen = (
            {item.cluster for item in task.part(split).items()} for split in ("test", "train", "dev")
        )
        assert asked <= task.held_out() and not (learned | chosen) & task.held_out()
        assert not learned & chosen
        # Not only by their names: by the graphs themselves.
        assert not {_graph(name) for name in asked} & {_graph(name) for name in learned | chosen}


def _graph(cluster: str) -> tuple[int, int]:
    """Return n and the number of the class that a premise is of, found anew."""
    n = int(cluster[1 : cluster.index("-")])
    return n, smallest(from_integer(n, int(cluster[cluster.index("g") + 1 :])))


def test_a_fold_has_the_same_claims_whatever_the_seed_and_other_names_in_every_pass() -> None:
    first, other = (folds(num_nodes=(4,), perturbation="varied", seed=seed)[0] for seed in (0, 7))
    assert [item.id for item in first.items()] == [item.id for item in other.items()]
    words = [[item.fields["input"] for item in task] for task in (first.items(), other.items(), first.epoch(7))]
    assert words[0] != words[1] == words[2]


def test_it_can_be_learned_from() -> None:
    from harness.plugins.train.examples import Lessons, teaching_task

    section = {"_target_": "harness.plugins.fresh.folds.Folds", "name": "corr2cause/folds", "prompts": ["plain"]}
    with pytest.raises(ConfigError, match=r"task\.split=train"):
        teaching_task(section)
    task = teaching_task({**section, "split": "train", "fold": 2, "num_nodes": [4]})
    prompt = load("corr2cause/folds", "plain", task.examples())

    class Recipe:
        yes_share = None
        seed = 0

    lessons = Lessons(task, prompt, ChoiceRequest, Recipe())  # type: ignore[arg-type]
    assert lessons.train.positives and lessons.dev.positives
    assert not {row.cluster for row in lessons.train.rows} & task.held_out()


def test_a_fold_that_is_none_is_refused() -> None:
    from harness.settings import build

    section = {"_target_": "harness.plugins.fresh.folds.Folds", "name": "corr2cause/folds", "prompts": ["plain"]}
    with pytest.raises(ConfigError, match="fold=5"):
        build({**section, "fold": 5}, "task")
