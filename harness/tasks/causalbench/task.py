"""CausalBench: correlation, causal skeleton and causality in fifteen networks (Zhou et al. 2024, CausalBench)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.errors import ConfigError
from harness.scoring.tally import ordered_pair
from harness.tasks.base import Count, LazyItems, Share, TaskBase
from harness.tasks.causalbench import networks, templates
from harness.tasks.causalbench.networks import SCALES, Network, load
from harness.tasks.causalbench.rendering import (
    Background,
    Columns,
    Format,
    Names,
    Networks,
    Scales,
    Wording,
    chosen_networks,
)
from harness.tasks.causalbench.scores import summarize
from harness.tasks.causalbench.structures import RELATIONS, Matrix, learned_answers, matrix, relations, structures
from harness.tasks.causalbench.table import QuestionTable, exact_skeleton, paper_skeleton, subset, table_of_pairs
from harness.tasks.causalbench.templates import Template
from harness.types import Item, Record, Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.causal.learned_graph import Pattern

TEXTS_TELL = (
    "task.background=authors: the authors' texts for asia tell three of its eight edges (smoking stands in those on "
    "lung cancer and bronchitis, difficulty breathing in that on bronchitis); ours name no other variable."
)
COLUMNS_TELL = (
    "task.columns=file: in ten of the networks every edge runs from left to right, so that the order of the columns "
    "tells directions; set model=column_order, which reads nothing else, beside the scores."
)
Convention = Literal["exact", "paper"]
Structure = Literal["direct", "indirect", "reversed_direct", "reversed_indirect", "common_effect", "common_cause"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


@dataclass(frozen=True)
class CausalBench(TaskBase):
    """What the three tasks about networks share; configs/task/causalbench/ says what each setting means."""

    prompts: tuple[str, ...]
    networks: Networks | None = None
    scale: Scales | None = None
    format: Format = "variable_name"
    names: Names = "original"
    rows: Count = 500
    parts: Count = 5
    columns: Columns | None = None
    background: Background = "ours"
    convention: Convention = "exact"
    seed: Seed = field(default=0, kw_only=True)

    asks: ClassVar[str] = "template"
    """The breakdown that the templates' names make."""

    def __post_init__(self) -> None:
        """Refuse combinations of settings that mean nothing."""
        chosen = self.chosen_networks
        if self.parts > self.rows:
            raise ConfigError(f"task.parts={self.parts} parts need as many rows at least; task.rows={self.rows}.")
        if self.columns is not None and not self.format.endswith("data"):
            raise ConfigError(
                f"task.columns={self.columns} orders the data: it needs task.format=data or background_data."
            )
        if self.background == "ours":
            return
        if not self.format.startswith("background"):
            raise ConfigError(
                "task.background=authors chooses texts: it needs task.format=background or background_data."
            )
        if without := [name for name in chosen if not networks.authors_texts(name)]:
            raise ConfigError(
                f"task.background=authors: the authors have released texts for asia, none for {without[0]}: use "
                "task.networks=asia."
            )

    @property
    def headline(self) -> str:
        return self.convention

    @property
    def balanced(self) -> str:
        """The labels whose balance a limited sample keeps: the same questions whichever convention is shown first."""
        return "exact"

    @property
    def prompt_format(self) -> str:
        return "" if self.format == "variable_name" else self.format

    @property
    def remarks(self) -> Sequence[str]:
        columns_tell = self.format.endswith("data") and self.order_of_columns == "file"
        return [*[TEXTS_TELL] * (self.background == "authors"), *[COLUMNS_TELL] * columns_tell]

    @property
    def order_of_columns(self) -> Columns:
        """The order of the data's columns; by default the paper's under its convention, else an uninformative one."""
        return self.columns or ("file" if self.convention == "paper" else "shuffled")

    def items(self) -> Iterable[Item]:
        """Return the questions, network by network, template by template."""
        return LazyItems(self._items, sum(map(len, self._tables.values())))

    def _items(self) -> Iterator[Item]:
        templates = tuple(self.asked_templates.values())
        for name, table in self._tables.items():
            wording = self.wording(name)
            _, _, _, _, *sets = table.dtype.names or ()
            for template, a, b, c, *gold in table.tolist():
                nodes = (a, b) if c < 0 else (a, b, c)
                yield self.item(wording, templates[template], nodes, dict(zip(sets, gold, strict=True)))

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return scores by both conventions, and the predicted graphs."""
        return summarize(
            records,
            templates=self.asked_templates,
            breakdown=self.asks,
            headline=self.headline,
            unreadable=self.unreadable,
        )

    @property
    def chosen_networks(self) -> tuple[str, ...]:
        return chosen_networks(self.networks, self.scale)

    @property
    @abstractmethod
    def asked_templates(self) -> Mapping[str, Template]:
        """The templates that the settings choose, by name, in their order."""

    @abstractmethod
    def table(self, network: Network) -> QuestionTable:
        """Return all questions about a network, with the labels of every convention that has one."""

    def item(self, wording: Wording, template: Template, nodes: tuple[int, ...], labels: dict[str, int]) -> Item:
        """Return the item that asks a template about some variables."""
        names = [load(wording.network).variables[node] for node in nodes]
        return Item(
            id="/".join([wording.network, template.name, *names]),
            fields=wording.fields(template, *nodes),
            labels=labels,
            cluster=wording.network,
            unit=ordered_pair(names[0], names[1]),
            groups={
                "network": wording.network,
                "scale": SCALES[wording.network],
                self.asks: template.name,
                "relation": RELATIONS[self._relations[wording.network][nodes[0], nodes[1]]],
            },
        )

    def wording(self, network: str) -> Wording:
        data = self.rows, self.parts, self.seed
        return Wording(network, self.names, self.format, *data, self.order_of_columns, self.background)

    @cached_property
    def _tables(self) -> dict[str, QuestionTable]:
        tables = {name: self.table(load(name)) for name in self.chosen_networks}
        return subset(tables, self.limit, label_set=self.balanced, seed=self.seed) if self.limit else tables

    @cached_property
    def _relations(self) -> dict[str, np.ndarray[tuple[int, int], np.dtype[np.int8]]]:
        return {name: relations(structures(matrix(load(name).dag))) for name in self.chosen_networks}


@dataclass(frozen=True)
class Correlation(CausalBench):
    """Are two variables correlated? Every ordered pair, five templates (Appendix C.A)."""

    kind: Literal["all", "direct", "indirect"] = "all"
    prior: Share = field(default=0.51, kw_only=True)

    @property
    def asked_templates(self) -> Mapping[str, Template]:
        return templates.CORRELATION

    def table(self, network: Network) -> QuestionTable:
        """Return all pairs; with kind=direct adjacent and d-separated ones, with indirect the non-adjacent ones."""
        matrices = structures(matrix(network.dag))
        return table_of_pairs(self.asked_templates, matrices, self._pairs_of_kind(matrices))

    def _pairs_of_kind(self, matrices: Mapping[str, Matrix]) -> Matrix:
        every = ~np.eye(len(matrices["adjacent"]), dtype=np.bool_)
        if self.kind == "direct":
            return every & (matrices["adjacent"] | ~matrices["d_connected"])
        return every & ~matrices["adjacent"] if self.kind == "indirect" else every


@dataclass(frozen=True)
class Causality(CausalBench):
    """Does one variable cause another? Every ordered pair, five templates or six structures (Appendix C.C)."""

    method: Literal[1, 2] = 1
    structure: Structure | None = None
    prior: Share = field(default=0.22, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.structure is not None and self.method == 1:
            raise ConfigError("task.structure chooses one of the six structures of task.method=2; set that as well.")

    @property
    def asked_templates(self) -> Mapping[str, Template]:
        if self.structure is not None:
            return {self.structure: templates.STRUCTURES[self.structure]}
        return templates.CAUSALITY if self.method == 1 else templates.STRUCTURES

    @property
    def asks(self) -> str:  # type: ignore[override]
        return "template" if self.method == 1 else "structure"

    def table(self, network: Network) -> QuestionTable:
        """Return all ordered pairs under each template."""
        matrices = structures(matrix(network.dag))
        return table_of_pairs(self.asked_templates, matrices, ~np.eye(len(network.dag), dtype=np.bool_))

    def variables(self) -> Mapping[str, int]:
        return {name: len(load(name).variables) for name in self.chosen_networks}

    def observations(self, network: str, number: int, seed: int) -> tuple[NDArray[np.int64], Sequence[int]]:
        return networks.sample(network, number, seed=seed), [len(states) for states in load(network).states]

    def learned(self, items: Iterable[Item], learn: Callable[[str], Pattern]) -> Iterator[Record]:
        return learned_answers(self.asked_templates, self.asks, items, learn)


@dataclass(frozen=True)
class Skeleton(CausalBench):
    """Which variables are directly related, and which related given a third? (Appendix C.B)."""

    prior: Share = field(default=0.52, kw_only=True)

    @property
    def asked_templates(self) -> Mapping[str, Template]:
        return templates.SKELETON if self.convention == "exact" else templates.PAPER_SKELETON

    @property
    def balanced(self) -> str:
        """The convention's labels: its questions are its own."""
        return self.convention

    def table(self, network: Network) -> QuestionTable:
        """Return the convention's questions: they differ in more than their labels."""
        matrices = structures(matrix(network.dag))
        if self.convention == "exact":
            return exact_skeleton(network, matrices["adjacent"], seed=self.seed)
        return paper_skeleton(network, matrices["adjacent"], matrices["path_either_way"])
