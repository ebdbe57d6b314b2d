"""Answers as matrices: for each network and template a sheet with a cell for every pair, and its files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from harness.scoring.graphs import MISSING, NO, UNREADABLE, YES
from harness.scoring.tally import ends
from harness.tasks.causalbench.networks import NETWORKS, Network, load
from harness.tasks.causalbench.templates import Template
from harness.types import IN_FORM, Failure, Record

_STRICT = {"Yes": YES, "Yes.": YES, "No": NO, "No.": NO}
"""What the paper's code took for an answer; any other reply was a third class."""


@dataclass
class Sheet:
    """The answers to one template about one network. Row: variable a; column: variable b."""

    network: Network
    template: Template
    cells: NDArray[np.int8] = field(init=False)
    """The answers as the prompt's parser read them; MISSING without a reply, 0 on the diagonal."""
    strict: NDArray[np.int8] = field(init=False)
    """The same by the paper's reading: Yes, Yes., No, No. or unreadable."""
    has_question: NDArray[np.bool_] = field(init=False)
    outcomes: Counter[tuple[int, int]] = field(default_factory=Counter)
    """(the paper's label, strict code) → questions, for templates with a third variable too."""

    def __post_init__(self) -> None:
        n = len(self.network.variables)
        self.cells = np.full((n, n), MISSING, dtype=np.int8)
        np.fill_diagonal(self.cells, NO)
        self.strict = self.cells.copy()
        self.has_question = np.zeros((n, n), dtype=np.bool_)

    @property
    def every_cell(self) -> bool:
        """Whether every ordered pair has a reply, readable or not."""
        return not np.any(self.cells == MISSING)

    @property
    def every_pair(self) -> bool:
        """Whether every unordered pair has a reply, whichever variable was named first."""
        return not np.any(np.maximum(self.cells, self.cells.T) == MISSING)

    @property
    def graph(self) -> NDArray[np.bool_]:
        """The edges that were answered with Yes, as the template means them; an unreadable reply makes none."""
        yes = self.cells == YES
        if self.template.graph == "reversed":
            return np.asarray(yes.T)
        return np.logical_or(yes, yes.T) if self.template.graph == "undirected" else np.asarray(yes)

    def add(self, record: Record) -> None:
        """Enter an answer, by the pair that the record names and never by its place in the file."""
        place = tuple(map(self.network.variables.index, ends(record.unit)))
        code, strict = readings(record)
        self.cells[place], self.strict[place], self.has_question[place] = code, strict, True
        if "paper" in record.labels:
            self.outcomes[record.labels["paper"], strict] += 1


class AnswerSheets(dict[tuple[str, str], Sheet]):
    """Sheets by network and template, in the order of the records."""

    def __init__(self, templates: Mapping[str, Template], breakdown: str) -> None:
        """Make it empty; `breakdown` is the group that names a record's template."""
        super().__init__()
        self._templates = templates
        self._breakdown = breakdown

    def add(self, record: Record) -> None:
        network, template = key = record.groups["network"], record.groups[self._breakdown]
        if key not in self:
            self[key] = Sheet(load(network), self._templates[template])
        self[key].add(record)

    def in_order(self) -> Sheets:
        """Return the sheets by network and template, in the order of their items: records come in any."""
        return {key: self[key] for key in product(NETWORKS, self._templates) if key in self}


Sheets = Mapping[tuple[str, str], Sheet]


def readings(record: Record) -> tuple[int, int]:
    """Return the answer's code, and its code by the paper's reading; MISSING for a failed call.

    Where a model ranks or entails, or its answer stood in a field, there is no reply to read strictly: both are the
    answer.
    """
    if isinstance(record.outcome, Failure) or record.answer is None:
        return MISSING, MISSING
    label = record.answer.label
    code = UNREADABLE if label is None else label
    no_words = record.outcome.logprobs or record.answer.rule == IN_FORM
    return code, code if no_words else _STRICT.get(record.outcome.text.strip(), UNREADABLE)


CELLS = {NO: "0", YES: "1", UNREADABLE: "unreadable", MISSING: "failed"}


def graph_files(sheets: Sheets) -> Mapping[str, str]:
    """Return graphs/<network>/<template>.csv for every template that asks about two variables.

    Row a, column b: 1 for Yes, 0 for No, `unreadable`, `failed`, empty where nothing was asked.
    """
    return {
        f"graphs/{network}/{template}.csv": _table(sheet)
        for (network, template), sheet in sheets.items()
        if "{c}" not in sheet.template.question
    }


def _table(sheet: Sheet) -> str:
    names, text = sheet.network.variables, io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["", *names])
    known = sheet.has_question | np.eye(len(names), dtype=np.bool_)
    for name, codes, there in zip(names, sheet.cells.tolist(), known.tolist(), strict=True):
        rows.writerow([name, *(CELLS[code] if is_there else "" for code, is_there in zip(codes, there, strict=True))])
    return text.getvalue()
