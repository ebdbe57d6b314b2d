"""The data that CausalBench's items show: five parts of rows, drawn from a seed."""

from __future__ import annotations

from collections import Counter

import pytest
from support.causalbench_help import causalbench, items
from support.thinned import few

from harness.codec import shuffled
from harness.prompting import prompts
from harness.run import ask
from harness.tasks.causalbench.column_order import ColumnOrder
from harness.tasks.causalbench.networks import load
from harness.types import ChatRequest


def matrix_of(item) -> tuple[list[str], list[list[list[int]]]]:
    """Return (header, the rows of each part) of the data in an item."""
    parts = [part.split("\n") for part in item.fields["parts"]]
    assert len({part[0] for part in parts}) == 1
    return parts[0][0].split(" | "), [[list(map(int, row.split(" | "))) for row in part[1:]] for part in parts]


def test_states_are_coded_in_alphabetical_order():
    (item, *_) = items("Causality", networks="asia", format="data", rows=500)
    header, parts = matrix_of(item)
    rows = [row for part in parts for row in part]

    def share(variable: str, code: int) -> float:
        return sum(row[header.index(variable)] == code for row in rows) / 500

    # yes stands before no in the file, but no is 0: P(asia=yes) = 0.01, P(xray=yes) = 0.11.
    assert share("asia", 1) < 0.05 and share("asia", 0) > 0.95 and share("xray", 1) < 0.2
    (item, *_) = items("Causality", networks="survey", format="data", rows=500)
    header, parts = matrix_of(item)
    rows = [row for part in parts for row in part]
    # A: young 0.3, adult 0.5, old 0.2 in the file's order; alphabetical: adult, old, young.
    assert [round(share("A", code), 1) for code in range(3)] == [0.5, 0.2, 0.3]


def test_the_order_of_the_columns_tells_nothing_but_where_the_paper_has_it():
    def columns(**settings):
        (item, *_) = items("Causality", networks="alarm", format="data", rows=60, **settings)
        header, parts = matrix_of(item)
        return header, dict(zip(header, zip(*(row for part in parts for row in part), strict=True), strict=True))

    in_file, cells = columns(columns="file")
    assert in_file == list(load("alarm").variables)
    header, moved = columns()
    assert header == [in_file[k] for k in shuffled(range(37), "columns", "alarm", 0)] != in_file
    assert moved == cells and columns(columns="shuffled") == (header, moved)
    assert (
        columns(convention="paper") == (in_file, cells) and columns(convention="paper", columns="shuffled")[0] == header
    )
    assert columns(seed=1)[0] not in (header, in_file)


# How often the arrows of a network run from a left column to a right one, F1 of "Does A cause B?" by the exact labels:
# computed from the files by other code.
LEFT_CAUSES_RIGHT = {"asia": 0.783, "cancer": 0.889, "earthquake": 0.889, "survey": 0.929, "sachs": 0.052}


@pytest.mark.parametrize("names", few(["readable", "original"], 1))
def test_column_order_reads_the_order_off_and_nothing_else(names):
    def f1(form: str, **settings) -> dict[str, float]:
        task = causalbench("Causality", scale="small", format=form, names=names, rows=10, **settings)
        prompt, counts = prompts.load(task.name, "closed", (), format=form), {}
        for record in ask(task.items(), prompt, ColumnOrder(), ChatRequest):
            if record.groups["template"] == "cause":
                tally = counts.setdefault(record.groups["network"], Counter())
                tally[record.answer.label, record.labels["exact"]] += 1
        return {name: 2 * t[1, 1] / (2 * t[1, 1] + t[1, 0] + t[0, 1]) for name, t in counts.items()}

    for form in ("data", "background_data"):
        assert f1(form, columns="file") == pytest.approx(LEFT_CAUSES_RIGHT, abs=5e-4)
    assert sum(f1("data").values()) < 0.75 * sum(LEFT_CAUSES_RIGHT.values())


def test_column_order_without_a_table_says_so():
    task = causalbench("Causality", networks="cancer")
    for record in ask(task.items(), prompts.load(task.name, "closed", ()), ColumnOrder(), ChatRequest):
        assert record.answer.label is None and "no table" in record.outcome.text
