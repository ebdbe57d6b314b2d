"""What the papers print: the counts behind Tables 4 and 5a, and how published rows are shown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from harness_papers.published import METRICS, published_tables, rows
from support.written_runs import board_row

from harness.scoring.classification import decisions
from harness.tables.write import markdown
from harness.tasks.corr2cause import Corr2Cause
from harness.types import Result, Usage


def table(name):
    return [row for row in rows("corr2cause") if row.table == f"Table {name}"]


ROWS_WITH_COUNTS = table("4") + table("5a")


def own(row, name):
    """The metric by the row's counts, in percent; 0 where it is undefined, as the paper has it."""
    value = next(metric.value for metric in decisions(row.counts, unreadable="wrong") if metric.name == name)
    return 100 * (value or 0)


def test_every_printed_digit_follows_from_the_counts_but_one_and_its_interval_holds_it():
    contradicted = {
        (row.model, name): (row.printed[name], f"{own(row, name):.2f}")
        for row in ROWS_WITH_COUNTS
        for name in METRICS
        if Decimal(row.printed[name]) != Decimal(f"{own(row, name):.2f}")
    }
    assert contradicted == {("BERT-Base MNLI", "accuracy"): ("86.51", "96.75")}
    assert {(row.model, name) for row in ROWS_WITH_COUNTS for name in row.contradicted} == contradicted.keys()
    for row in ROWS_WITH_COUNTS:
        for name, interval in row.intervals.items():
            if interval and name not in row.contradicted:
                assert interval[0] - 1e-4 <= float(row.printed[name]) / 100 <= interval[1] + 1e-4


def test_no_other_counts_fit():
    for row in ROWS_WITH_COUNTS:
        digits = {name: Decimal(value) for name, value in row.printed.items() if name not in row.contradicted}
        fitting_counts = [
            (tp, fp)
            for tp in range(343)
            if Decimal(f"{100 * tp / 342:.2f}") == digits["recall"]
            for fp in range(1905)
            if Decimal(f"{200 * tp / (tp + fp + 342):.2f}") == digits["f1"]
            and Decimal(f"{100 * tp / max(1, tp + fp):.2f}") == digits["precision"]
            and ("accuracy" not in digits or Decimal(f"{100 * (tp + 1904 - fp) / 2246:.2f}") == digits["accuracy"])
        ]
        assert fitting_counts == [(row.counts.tp, row.counts.fp)], row.model


def test_37_rows_have_counts_of_the_v1_test_set_and_no_other_has_any():
    items = list(Corr2Cause("corr2cause", (), version="v1").items())
    whole = len(items), sum(item.labels["published"] for item in items)
    assert {(row.counts.items, row.counts.positives) for row in ROWS_WITH_COUNTS} == {whole} == {(2246, 342)}
    everything = [*rows("corr2cause"), *rows("causalbench")]
    assert [row for row in everything if row.counts] == ROWS_WITH_COUNTS and len(ROWS_WITH_COUNTS) == 37
    assert all(not row.intervals for row in everything if not row.counts)


def of_table(name, **settings):
    run = board_row("corr2cause", "default", "plain", "m", True, Result("published", {}, 9, {}, {}, Usage()))
    (found,) = (each for each in published_tables("corr2cause", [run]) if f": {name} (" in each.heading)
    return found


def test_a_table_says_that_it_is_published_and_what_its_intervals_are():
    text = markdown([of_table("Table 5a")])
    assert "PUBLISHED, not measured here: Table 5a (data v1.0" in text and "From Jin et al." in text
    assert "Wilson" in text and "86.51*" in text and "which say 96.75" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_rows_without_counts_have_no_interval_and_a_paraphrased_test_set_stands_beside_runs_of_it_alone():
    for table_ in published_tables("causalbench/causality", []):
        assert "No row has an interval" in table_.notes[0]
        assert not any(cell.interval for line in table_.lines for cell in line.cells)
    assert not list(published_tables("corr2cause", []))
    assert {row.task_settings["perturbation"] for row in table("5b")} == {"paraphrase", "refactorization"}


def test_shares_are_fractions_to_programs_whatever_the_paper_prints():
    tables = {
        table.heading.split(" (")[0][-9:].strip(): table for table in published_tables("causalbench/causality", [])
    }
    ninth, third = tables["Table IX"], tables["Table III"]
    assert "percent" in ninth.above and "fractions" in third.above
    for layout, text in ((ninth, "41.92"), (third, "0.4192")):
        column = [column.name for column in layout.columns].index("accuracy")
        cell = next(line.cells[column] for line in layout.lines if line.cells[column].text == text)
        assert cell.value == pytest.approx(0.4192)
    assert {line.cells[-2].text for line in ninth.lines if line.cells[0].text == "ground truth"} >= {"2.00", "4.12"}


def test_what_later_works_measured_names_its_source_and_what_is_second_hand():
    rows_of = [row for row in rows("corr2cause") if row.table == "Follow-ups"]
    followups = {(row.model, row.setting["method"]): row for row in rows_of}
    assert len(followups) < len(rows_of) == 25  # distilbert under three perturbations
    lora = followups["Qwen2.5-1.5B-Instruct", "LoRA r=4; 10k rows; 1 epoch; lr 1e-4"]
    assert lora.printed == {"f1": "69.83"} and "github.com/vladakozachok" in lora.source
    assert sum("second-hand" in row.source for row in followups.values()) == 4
    only_accuracy = [row for row in followups.values() if set(row.printed) == {"accuracy"}]
    assert [row.printed["accuracy"] for row in only_accuracy] == ["36.3", "74.6"]
    assert {row.note for row in only_accuracy} == {"only accuracy is given: always_no has 84.51"}
    text = markdown([of_table("Follow-ups")])
    assert "data v1.0" not in text and "| DeepSeek-R1 (API)" in text and "arXiv:2507.23488v1 (second-hand)" in text
