"""A row of a data set from elsewhere: what it asks, whether its columns and its text agree, the item it makes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from harness.causal.relations import Relation
from harness.errors import DataError, unknown
from harness.tasks.corr2cause.text import (
    Hypothesis,
    Premise,
    as_input,
    class_of,
    follows,
    read_hypothesis,
    read_premise,
)
from harness.tasks.text_models import UnreadableText
from harness.types import Item

T = TypeVar("T")

OTHER_QUESTIONS = (
    " Questions in other words than the benchmark's are task=questions, which takes any columns (or give the columns "
    "relation, var_i, var_j and num_nodes)."
)
"""What is said of a row of the user's that is not in the benchmark's words."""


@dataclass(frozen=True)
class HypothesisRow:
    """One row of a data set, with where it comes from for error messages."""

    where: str
    id: str
    premise: str
    hypothesis: str
    label: int
    columns: Mapping[str, Any]
    builtin: Item | None = None
    """The built-in item of the same text."""
    own: bool = False
    """Whether it stands in a file of the user's."""

    @cached_property
    def _columns(self) -> Hypothesis | None:
        """Relation and variables from the columns; None where the row has none."""
        cells = {name: str(self.columns[name]) for name in ("relation", "var_i", "var_j") if self.columns.get(name)}
        if not cells:
            return None
        if len(cells) < 3:
            raise DataError(f"{self.where}: relation, var_i and var_j go together; there is only {', '.join(cells)}.")
        if cells["relation"] not in tuple(Relation):
            other = OTHER_QUESTIONS * self.own
            raise DataError(f"{self.where}: {unknown('relation', cells['relation'], Relation)}{other}")
        return Hypothesis(Relation(cells["relation"]), cells["var_i"], cells["var_j"])

    @cached_property
    def _claim(self) -> Hypothesis:
        """The claim from the columns, else from the built-in item of the same text, else read from the text."""
        if self._columns is not None:
            return self._columns
        if self.builtin is not None:
            fields = self.builtin.fields
            return Hypothesis(Relation(fields["relation"]), str(fields["var_i"]), str(fields["var_j"]))
        names = None if self._premise is None else self._premise.names
        return self._readable(lambda: read_hypothesis(self.hypothesis, names))

    @cached_property
    def _premise(self) -> Premise | None:
        """What the premise states; None if it is not in the benchmark's words."""
        try:
            return read_premise(self.premise)
        except UnreadableText:
            return None

    def _readable(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except UnreadableText as departure:
            raise DataError(f"{self.where} cannot be read: {departure}.{OTHER_QUESTIONS * self.own}") from None

    @property
    def item_id(self) -> str:
        """The id of the built-in item of the same text, else the row's own."""
        return self.id if self.builtin is None else self.builtin.id

    @property
    def relation(self) -> Relation:
        return self._claim.relation

    @property
    def num_nodes(self) -> int:
        """The number of variables."""
        cell = self.columns.get("num_nodes")
        if cell in (None, ""):
            return len(self._readable(lambda: read_premise(self.premise)).names)
        if not str(cell).isdecimal():
            raise DataError(f"{self.where} has num_nodes {cell!r}; a number is needed.")
        return int(str(cell))

    @cached_property
    def derived(self) -> int | None:
        """The label by logic; None where the premise is not in the benchmark's words or contradicts itself."""
        try:
            return int(follows(read_premise(self.premise), self._claim))
        except (UnreadableText, ValueError):
            return None

    def check(self, *, derivable: bool) -> None:
        """Refuse a row that cannot be read or contradicts itself, before any is asked about. Raises DataError.

        Where labels are derived, its premise has to be one that a graph has.
        """
        claim, count = self._claim, self.num_nodes
        self._check_hypothesis(claim)
        if self._premise is not None:
            self._check_premise(self._premise, claim, count)
        if derivable:
            self._readable(lambda: follows(read_premise(self.premise), claim))

    def _check_hypothesis(self, claim: Hypothesis) -> None:
        try:
            words = read_hypothesis(self.hypothesis)
        except UnreadableText:
            return
        if words.canonical != claim.canonical:
            raise DataError(
                f"{self.where} contradicts itself: its columns say {_cells(claim)}; its hypothesis "
                f"{self.hypothesis!r} says {_cells(words)}. Leave the columns out, or correct one of them."
            )

    def _check_premise(self, premise: Premise, claim: Hypothesis, count: int) -> None:
        names = ", ".join(premise.names)
        for name in (claim.i, claim.j):
            if name not in premise.names:
                raise DataError(f"{self.where} asks about {name!r}; its premise has {names}.")
        if count != len(premise.names):
            raise DataError(
                f"{self.where} contradicts itself: its column says num_nodes={count}; its premise has "
                f"{len(premise.names)} variables, {names}. Leave the column out, or correct one of them."
            )

    @cached_property
    def _cluster(self) -> str:
        """The class, shared by reordered or renamed texts; the text itself if no graph can be read from it."""
        try:
            n, number = class_of(read_premise(self.premise))
        except UnreadableText:
            return f"premise-{hashlib.sha256(self.premise.encode()).hexdigest()[:12]}"
        return f"n{n}-g{number}"

    @property
    def _reading(self) -> str:
        """Where relation and variables were read."""
        if self._columns is not None:
            return "given"
        return "derived" if self.builtin is None else "builtin"

    def item(self) -> Item:
        """Return the row as a question; `reading` says where relation and variables come from."""
        claim, derived = self._claim, self.derived
        return Item(
            id=self.item_id,
            fields={
                "premise": self.premise,
                "hypothesis": self.hypothesis,
                "statement": self.hypothesis.removesuffix("."),
                "input": as_input(self.premise, self.hypothesis),
                "relation": str(claim.relation),
                "var_i": claim.i,
                "var_j": claim.j,
                "num_nodes": self.num_nodes,
                "reading": self._reading,
            },
            labels={"published": self.label} | ({} if derived is None else {"audited": derived}),
            cluster=self._cluster,
            groups={"relation": str(claim.relation), "num_nodes": str(self.num_nodes)},
        )


def _cells(claim: Hypothesis) -> str:
    return f"relation={claim.relation}, var_i={claim.i}, var_j={claim.j}"
