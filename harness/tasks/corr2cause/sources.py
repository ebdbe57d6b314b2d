"""Corr2Cause from elsewhere: the Hugging Face Hub, or the user's own CSV, JSON lines or Parquet file."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from harness.errors import ConfigError, DataError
from harness.tasks.corr2cause.claim import Claim, ItemWriter, Perturbation, claims
from harness.tasks.corr2cause.data_rows import OTHER_QUESTIONS, HypothesisRow
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.text import as_input, class_of, read_premise
from harness.tasks.data_files import Columns, DataFile, Repeats, filled, hub_rows
from harness.tasks.text_models import UnreadableText
from harness.types import Item


class BuiltinTexts:
    """The built-in items by their texts: those of the public test set, and all six of each pair beside them.

    Only items of a class that is asked about are made. They are kept by the SHA-256 of their text.
    """

    def __init__(self, perturbation: Perturbation, seed: int) -> None:
        """Take the words of a perturbation; `seed` draws the order of arguments where the paper drew it."""
        self._writer, self._seed = ItemWriter(perturbation, seed), seed
        self._classes: dict[tuple[int, int], Mapping[bytes, Claim]] = {}

    def item(self, premise: str, hypothesis: str) -> Item | None:
        """Return the built-in item with this text, or None."""
        try:
            key = class_of(read_premise(premise))
        except UnreadableText:
            return None
        if key not in self._classes:
            self._classes[key] = self._by_text(*key)
        claim = self._classes[key].get(_digest(as_input(premise, hypothesis)))
        return None if claim is None else self._writer.item(claim)

    def _by_text(self, n: int, number: int) -> Mapping[bytes, Claim]:
        everything = [*claims(n, number, seed=self._seed), *self._public[n, number]]
        # The public test set comes last: where both have a text, the claim is the published one.
        return {_digest(str(self._writer.item(claim).fields["input"])): claim for claim in everything}

    @cached_property
    def _public(self) -> Mapping[tuple[int, int], list[Claim]]:
        by_class: dict[tuple[int, int], list[Claim]] = defaultdict(list)
        for claim in public_test("v2"):
            by_class[claim.n, claim.number].append(claim)
        return by_class


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


HUB_PATH = "causalnlp/corr2cause"
HUB_REVISION = "42ba12c769e11ff6427c9f52d7db58e3f9bf3e53"

_INPUT = re.compile(r"Premise: (?P<premise>.*?)\s*\nHypothesis: (?P<hypothesis>.*)", re.DOTALL)


def from_file(path: str) -> tuple[list[HypothesisRow], tuple[str, ...]]:
    """Return the rows of a file, and the remarks on them."""
    file, repeats = DataFile(path), Repeats()
    rows = list(_rows(file.rows(), where=path, stem=file.stem, own=True))
    for number, row in enumerate(rows, start=1):
        repeats.add(number, (row.premise, row.hypothesis), row.label)
    return rows, (*file.remarks(), *repeats.remarks(path))


def from_hub(
    name: str, revision: str | None, *, split: str, perturbation: Perturbation, seed: int
) -> list[HypothesisRow]:
    """Return the rows of a data set of the Hub, or of a local folder in the same layout.

    A row whose text a built-in item has, with the arguments in the order that `seed` draws, knows that item.
    """
    table, config = hub_rows(name, split, revision, lambda names: _hub_config(names, perturbation))
    rows = list(_rows(table, where=f"{name}, {split}", stem=f"{config}-{split}"))
    return list(_with_builtin_items(rows, BuiltinTexts(perturbation, seed)))


def _with_builtin_items(rows: Iterable[HypothesisRow], texts: BuiltinTexts) -> Iterator[HypothesisRow]:
    """Yield the rows, each with the built-in item of the same text; a repeated text becomes an item of its own."""
    ids: set[str] = set()
    for row in rows:
        item = texts.item(row.premise, row.hypothesis)
        if item is None or item.id in ids:
            yield row
        else:
            ids.add(item.id)
            yield replace(row, builtin=item)


def _hub_config(names: list[str], perturbation: str) -> str:
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


def _rows(table: Iterable[Columns], *, where: str, stem: str, own: bool = False) -> Iterator[HypothesisRow]:
    """Yield the rows of a table; `own` says that it is a file of the user's."""
    for number, columns in enumerate(table):
        here = f"{where}, row {number + 1}"
        premise, hypothesis = _texts(columns, here)
        yield HypothesisRow(here, f"{stem}-{number + 1}", premise, hypothesis, _label(columns, here), columns, own=own)


def _texts(columns: Columns, where: str) -> tuple[str, str]:
    if columns.get("premise") and columns.get("hypothesis"):
        return str(columns["premise"]).strip(), str(columns["hypothesis"]).strip()
    if not columns.get("input"):
        raise DataError(
            f"{where} needs the columns input and label, or premise, hypothesis and label; it has {filled(columns)}."
            f"{OTHER_QUESTIONS}"
        )
    match = _INPUT.fullmatch(str(columns["input"]).strip())
    if not match:
        raise DataError(
            f'{where}: the input is not of the form "Premise: …", newline, "Hypothesis: …".{OTHER_QUESTIONS}'
        )
    return match["premise"], match["hypothesis"].strip()


def _label(columns: Columns, where: str) -> int:
    if columns.get("label") in (None, ""):
        raise DataError(f"{where} has no label; the column label takes 0 or 1.")
    text = str(columns["label"]).strip()
    if columns["label"] is True or columns["label"] is False:  # JSON's own words for it
        return int(columns["label"])
    if text not in ("0", "1"):
        raise DataError(
            f"{where} has the label {text!r}; 0 (does not follow) and 1 (follows) are allowed.{OTHER_QUESTIONS}"
        )
    return int(text)
