"""What a benchmark declares about itself, so that no view has to know benchmarks by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from harness.plugin import load, plugins
from harness.protocols import Task
from harness.types import JSON, Item, Record, Result

G = TypeVar("G")
PERTURBATION = "perturbation"
"""The setting of a task that puts the same questions in other words."""


@dataclass(frozen=True)
class GraphSize:
    """A graph that items are about, as charts by size show it."""

    name: str
    nodes: int
    edges: int
    scale: str


class Explanations(ABC, Generic[G]):
    """Why the answer of each item is what it is, for the page: graphs that fit the item, and a sentence."""

    def __init__(self) -> None:
        """Begin without items."""
        self._graphs: dict[Hashable, tuple[int, G]] = {}
        self._names: dict[tuple[str, ...], int] = {}
        self._rows: list[tuple[int, int, JSON]] = []

    def add(self, item: Item) -> None:
        """Add the next item. Add every item, explained or not: explanations are matched by position."""
        number, names, why = self.explain(item) or (-1, None, None)
        called = -1 if names is None else self._names.setdefault(names, len(self._names))
        self._rows.append((number, called, why))

    def json(self) -> dict[str, JSON] | None:
        """Return classes (graphs), of (the class of each item), names and why; None where nothing is explained."""
        if not self._graphs:
            return None
        classes: list[JSON] = [self.for_page(graphs) for _, graphs in self._graphs.values()]
        of, called, why = map(list, zip(*self._rows, strict=True))
        names = {"table": [list(names) for names in self._names], "codes": called}
        return {"classes": classes, "of": of, "names": names, "why": why}

    def place(self, key: Hashable, make: Callable[[], G]) -> tuple[int, G]:
        """Return the graphs of a key, made once, and their place among all."""
        if key not in self._graphs:
            self._graphs[key] = len(self._graphs), make()
        return self._graphs[key]

    @abstractmethod
    def explain(self, item: Item) -> tuple[int, tuple[str, ...], JSON] | None:
        """Return the place of the item's graphs, its variables' names, and why; None without graphs."""

    @abstractmethod
    def for_page(self, graphs: G) -> dict[str, JSON]:
        """Return graphs as the page shows them."""


class Graphs(Protocol):
    """The graphs that a run's answers amount to, for the page."""

    @property
    def files(self) -> Iterable[tuple[str, str]]:
        """Network and name of every file graphs/<network>/<name>.csv that a run may have, in the order of the page."""

    def of_records(self, task: Task, records: Iterable[Record]) -> Mapping[str, str]:
        """Return the graph files computed from these records; empty for a task without graphs."""

    def network(self, name: str) -> dict[str, JSON]:
        """Return a network's nodes and its true edges."""

    def sheet(self, network: str, name: str, text: str, result: Result) -> dict[str, JSON] | None:
        """Return what one graph file shows; None for a file that no run writes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Benchmark:
    """A benchmark as the views show it. Only name and title are required; views leave out what is missing."""

    name: str
    """The first part of its tasks' names: corr2cause, causalbench."""
    title: str
    """As people write it: Corr2Cause, CausalBench."""
    source: str = ""
    """The paper: authors, title, where and when."""
    year: int = 9999
    """In which the paper first appeared: lists of several benchmarks go by it."""

    defaults: Mapping[str, str] = field(default_factory=dict)
    """Settings of its tasks as they are where a run does not set them."""
    label_word: str = "labels"
    """What a label set is called: published labels, exact convention."""
    label_titles: Mapping[str, str] = field(default_factory=dict)
    """Label sets that are called otherwise in full."""

    setting_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Values of settings of its tasks in words, for headings: perturbation → paraphrase → paraphrased."""

    # What charts and the page show besides scores.
    perturbations: Mapping[str, str] = field(default_factory=dict)
    """Values of task.perturbation by what charts call them, `none` first: the steps of robustness."""
    graph_sizes: str = ""
    """What gives the graphs (`GraphSize`) that groups of the breakdown `network` name; () where one is not known."""
    explanations: str = ""
    """The class of its `Explanations`, as "module:name"; "" without."""
    graphs: str = ""
    """What draws the graphs of its runs, the class of its `Graphs`."""

    def labels_title(self, labels: str) -> str:
        return self.label_titles.get(labels, f"{labels} {self.label_word}")


def benchmark_of(task: str) -> Benchmark:
    """Return the benchmark of a task, or of a benchmark's own name; an empty one for any that is not installed.

    A results folder may come from anybody, so nothing is imported for the names that stand in it: they are compared
    with those of the packages below harness/tasks and of plug-ins.
    """
    name = task.partition("/")[0]
    return _installed(name) if name in _packages() else Benchmark(name=name, title=name)


@cache
def _packages() -> Mapping[str, str]:
    """Return the paths ("module:value") of the benchmarks of the harness and of plug-ins, by name."""
    added = {name: path for plugin in plugins() for name, path in plugin.benchmarks.items()}
    own = (file.parent.name for file in Path(__file__).parent.glob("*/__init__.py"))
    return added | {name: f"harness.tasks.{name}:BENCHMARK" for name in own}


@cache
def _installed(name: str) -> Benchmark:
    benchmark: Benchmark = load(_packages()[name])
    return benchmark


def lazily(package: str, **modules: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a benchmark's package: views import it and none of its tasks, `Name="module"`."""

    def attribute(name: str) -> Any:
        if name in modules:
            return load(f"{modules[name]}:{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute
