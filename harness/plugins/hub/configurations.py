"""The configurations of the data set for the Hub: which tasks they are of, and what is known of their items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.cli.hydra_app import run_settings
from harness.config_files import read_yaml
from harness.errors import ConfigError, unknown
from harness.protocols import Task
from harness.settings import build
from harness.tasks.check import CheckedItems
from harness.types import Item


@dataclass(frozen=True, eq=False)
class Configuration:
    """A part of the data set with columns of its own."""

    name: str
    title: str
    licence: str
    splits: Mapping[str, Sequence[str]]
    """The settings that make the task of each."""

    def task(self, split: str) -> Task:
        task: Task = build(run_settings(self.splits[split]).task, "task")
        return task

    def id_of(self, split: str) -> str:
        """Return what eval.yaml and results of models call a split."""
        return self.name if split == "test" else f"{self.name}_{split}"


@cache
def configurations() -> Mapping[str, Configuration]:
    """Return the configurations of configurations.yaml, by name."""
    content = read_yaml(Path(__file__).with_name("configurations.yaml"))
    return {name: Configuration(name, **parts) for name, parts in content.items()}


def chosen(names: Sequence[str]) -> list[Configuration]:
    """Return the configurations of these names, all of them where none is named. Raises ConfigError."""
    known = configurations()
    if strangers := [name for name in names if name not in known]:
        raise ConfigError(unknown("configuration of the data set", strangers[0], known))
    return [known[name] for name in names or known]


@dataclass
class SplitFacts:
    """What is counted of the items of a split."""

    headline: str
    items: int = 0
    yes: int = 0
    clusters: set[str] = field(default_factory=set)
    kinds: dict[str, type] = field(default_factory=dict)
    """The types of the fields, by name."""
    groups: dict[str, None] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)
    """Items that have a label, by label set,"""
    differing: Counter[str] = field(default_factory=Counter)
    """and those of them whose label is not that of the headline."""

    @classmethod
    def of(cls, task: Task) -> SplitFacts:
        facts = cls(task.headline)
        for item in CheckedItems(task):
            facts._add(item)
        return facts

    def _add(self, item: Item) -> None:
        gold = item.labels[self.headline]
        self.items += 1
        self.yes += gold == 1
        self.clusters.add(item.cluster)
        self.groups |= dict.fromkeys(item.groups)
        for name, value in item.fields.items():
            kind = list if isinstance(value, list | tuple) else type(value)
            self.kinds[name] = kind if self.kinds.get(name, kind) is kind else str
        for name, label in item.labels.items():
            self.labels[name] += 1
            self.differing[name] += label != gold

    @property
    def floors(self) -> dict[str, float]:
        """Return what who knows nothing scores, in percent: accuracy of one constant answer, F1 of always Yes."""
        share = self.yes / self.items
        return {
            "accuracy of always No": 100 * (1 - share),
            "accuracy of always Yes": 100 * share,
            "F1 of always Yes": 100 * 2 * share / (1 + share),
        }


def columns_of(facts: Iterable[SplitFacts]) -> dict[str, Any]:
    """Return the columns that the splits of one configuration share, and the type of each."""
    splits = list(facts)
    kinds = {name: kind for split in splits for name, kind in split.kinds.items()}
    return {
        "id": str,
        **kinds,
        "prompt": str,
        "choices": list,
        "target": str,
        "label": int,
        **{f"label_{name}": int for split in splits for name in split.labels},
        **{f"group_{name}": str for split in splits for name in split.groups},
        "cluster": str,
        "unit": str,
    }
