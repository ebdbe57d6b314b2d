"""Corr2Cause from elsewhere: the Hugging Face Hub, or the user's own CSV, JSON lines or Parquet file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.causal.relations import Relation
from harness.errors import ConfigError, DataError
from harness.tasks.corr2cause.claim import Perturbation, item_of
from harness.tasks.corr2cause.text import Hypothesis, class_of, follows, read_hypothesis, read_premise
from harness.tasks.data_files import Row, filled
from harness.tasks.text_models import UnreadableText
from harness.types import Item

OTHER_QUESTIONS = " Questions in other words than the benchmark's are task=questions, which takes any columns."
"""What is said of a row of the user's that is not in the benchmark's words."""

_INPUT = re.compile(r"Premise: (?P<premise>.*?)\s*\nHypothesis: (?P<hypothesis>.*)", re.DOTALL)


@dataclass(frozen=True)
class HypothesisRow:
    """One row of a data set, in the benchmark's words."""

    id: str
    premise: str
    hypothesis: str
    label: int
    claim: Hypothesis
    n: int
    """How many variables the premise has."""

    @property
    def relation(self) -> Relation:
        return self.claim.relation

    def item(self) -> Item:
        """Return the row as a question, with what its words say of relation and variables.

        A premise that no graph has, or that is silent about a pair, has its published label only. The cluster is the
        class, shared by reordered or renamed texts.
        """
        claim, labels, premise = self.claim, {"published": self.label}, read_premise(self.premise)
        try:
            labels["audited"] = int(follows(premise, claim))
            cluster = "n{}-g{}".format(*class_of(premise))
        except UnreadableText:
            cluster = f"premise-{hashlib.sha256(self.premise.encode()).hexdigest()[:12]}"
        return item_of(
            self.id, self.premise, self.hypothesis, (claim.relation, claim.i, claim.j), self.n, labels, cluster
        )


def hub_config(names: list[str], perturbation: Perturbation) -> str:
    """Return the configuration that holds the perturbed test set: a part of its name says so."""
    part = {"none": "default", "paraphrase": "paraphras", "refactorization": "refactor"}[perturbation]
    fitting = [name for name in names if part in name]
    if not fitting and perturbation == "none" and len(names) == 1:
        return names[0]
    if len(fitting) != 1:
        raise ConfigError(
            f"the data set has no single configuration for task.perturbation={perturbation}; "
            f"it has {', '.join(names)}. task.source=builtin makes all perturbations itself."
        )
    return fitting[0]


def read_rows(rows: Iterable[Row], *, derivable: bool) -> Iterator[HypothesisRow]:
    """Yield the rows as questions. Raises DataError for one that cannot be read; `derivable`: or that no graph has."""
    for row in rows:
        premise, hypothesis = _texts(row)
        label = _label(row)
        try:
            read = read_premise(premise)
            claim = read_hypothesis(hypothesis, read.names)
            if derivable:
                follows(read, claim)
        except UnreadableText as departure:
            raise DataError(f"{row.where} cannot be read: {departure}.{OTHER_QUESTIONS}") from None
        yield HypothesisRow(row.id(), premise, hypothesis, label, claim, len(read.names))


def _texts(row: Row) -> tuple[str, str]:
    columns = row.columns
    if columns.get("premise") and columns.get("hypothesis"):
        return str(columns["premise"]).strip(), str(columns["hypothesis"]).strip()
    if not columns.get("input"):
        raise DataError(
            f"{row.where} needs the columns input and label, or premise, hypothesis and label; it has "
            f"{filled(columns)}.{OTHER_QUESTIONS}"
        )
    match = _INPUT.fullmatch(str(columns["input"]).strip())
    if not match:
        raise DataError(
            f'{row.where}: the input is not of the form "Premise: …", newline, "Hypothesis: …".{OTHER_QUESTIONS}'
        )
    return match["premise"], match["hypothesis"].strip()


def _label(row: Row) -> int:
    text = "" if row.columns.get("label") is None else str(row.columns["label"]).strip()
    if text not in ("0", "1", "False", "True"):
        what = f"the label {text!r}" if text else "no label"
        raise DataError(f"{row.where} has {what}; 0 (does not follow) and 1 (follows) are allowed.{OTHER_QUESTIONS}")
    return int(text in ("1", "True"))
