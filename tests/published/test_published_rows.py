"""What the papers print: the counts behind Tables 4 and 5a, and how published rows are shown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from support.thinned import few

from harness.plugins.papers import command as published
from harness.plugins.papers.benchmarks import METRICS
from harness.plugins.papers.published import published_tables as printed_beside
from harness.plugins.papers.published import rows, table
from harness.scoring.classification import decisions
from harness.tasks.corr2cause import Corr2Cause
from harness.tasks.find import benchmark_of

ROWS_WITH_COUNTS = table("4") + table("5a")
PRINTED_METRICS = [(row, name) for row in ROWS_WITH_COUNTS for name in METRICS]
CONTRADICTED = ("BERT-Base MNLI", "accuracy")


def own(row, name):
    """The metric by the row's counts, in percent; 0 where it is undefined, as the paper has it."""
    value = next(metric.value for metric in decisions(row.counts, unreadable="wrong") if metric.name == name)
    return 100 * (value or 0)


@pytest.mark.parametrize(("row", "name"), PRINTED_METRICS, ids=[f"{r.table}-{r.model}-{n}" for r, n in PRINTED_METRICS])
def test_every_printed_digit_follows_from_the_counts(row, name):
    if (row.model, name) == CONTRADICTED:
        assert row.contradicted == ("accuracy",)
        assert (row.printed[name], f"{own(row, name):.2f}") == ("86.51", "96.75")
    else:
        assert Decimal(row.printed[name]) == Decimal(f"{own(row, name):.2f}")
        assert name not in row.contradicted


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


def test_the_counts_are_of_the_v1_test_set():
    items = list(Corr2Cause("corr2cause", (), version="v1").items())
    positives = sum(item.labels["published"] for item in items)
    assert (
        {(row.counts.items, row.counts.positives) for row in ROWS_WITH_COUNTS}
        == {(len(items), positives)}
        == {(2246, 342)}
    )


def test_a_prompt_format_is_called_alike_in_every_table():
    called = {row.setting["prompt_format"] for row in benchmark_of("causalbench").published()}
    assert len({frozenset(name.split("+")) for name in called}) == len(called)


def test_37_rows_have_counts_and_no_other():
    assert len(ROWS_WITH_COUNTS) == 37
    assert [row for row in rows() if row.counts] == ROWS_WITH_COUNTS
    assert all(not row.intervals for row in rows() if not row.counts)


def test_intervals_hold_what_is_printed():
    for row in ROWS_WITH_COUNTS:
        for name, interval in row.intervals.items():
            if interval and name not in row.contradicted:
                assert interval[0] - 1e-4 <= float(row.printed[name]) / 100 <= interval[1] + 1e-4


def test_gpt4s_row():
    row = next(row for row in table("4") if row.model == "GPT-4")
    assert (row.counts.tp, row.counts.fp, row.counts.fn, row.counts.tn) == (163, 616, 179, 1288)
    assert row.intervals["recall"] == pytest.approx((0.4242, 0.5295), abs=1e-3)
    assert "v1.0" in benchmark_of("corr2cause").data_version


def test_a_table_says_that_it_is_published_and_what_its_intervals_are(capsys):
    assert published.main(["table=5a"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("PUBLISHED, not measured here: Table 5a of Jin et al.")
    assert "data v1.0" in text and "Wilson" in text and "86.51*" in text and "which say 96.75" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


@pytest.mark.parametrize("name", ["5b", "12", "XI", "Table XV"])
def test_other_tables_say_that_they_have_no_interval(name, capsys):
    assert published.main([f"table={name}"]) == 0
    text = capsys.readouterr().out
    assert "No row has an interval" in text and "95%" not in text


def test_shares_are_fractions_to_programs_whatever_the_paper_prints():
    tables = {table.heading.split(" (")[0][-9:].strip(): table for table in printed_beside("causalbench/causality", [])}
    ninth, third = tables["Table IX"], tables["Table III"]
    assert "percent" in ninth.above and "fractions" in third.above
    for layout, text in ((ninth, "41.92"), (third, "0.4192")):
        column = [column.name for column in layout.columns].index("accuracy")
        cell = next(line.cells[column] for line in layout.lines if line.cells[column].text == text)
        assert cell.value == pytest.approx(0.4192)
    assert {line.cells[-2].text for line in ninth.lines if line.cells[0].text == "ground truth"} >= {"2.00", "4.12"}


@pytest.mark.parametrize(
    ("given", "here", "paper"),
    few([("table=1", "5,984", "2,207"), ("table=corr2cause/3", "207,432", "207,972")], 1),
)
def test_tables_of_what_the_data_consist_of_are_measured(given, here, paper, capsys):
    assert published.main([given]) == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert any("here" in line and here in line for line in lines)
    assert any("paper" in line and paper in line for line in lines) and "Where the numbers differ:" in text


def test_without_a_table_all_are_listed(capsys):
    assert published.main([]) == 0
    output = capsys.readouterr().out
    assert ["corr2cause", "5a", "17"] in [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in output.splitlines()
    ]
    order = ["4", "5a", "5b", "6a", "6b", "12", "13", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI"]
    tables = [line.split("|")[2].strip() for line in output.splitlines() if "measured" not in line][2:]
    assert tables[: len(order)] == order and tables[-1] == "Follow-ups"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["table=5"], ["Table 5a", "Table 5b"]),
        (["table=xi"], ["Table XI"]),
        (["4"], ["Table 4"]),
        (["Table 5b"], ["Table 5b"]),
    ],
)
def test_a_table_is_found_however_it_is_called(given, said, capsys):
    assert published.main(given) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("PUBLISHED")]
    assert [line.split(": ")[1].split(" of ")[0] for line in lines] == said


def test_a_table_that_is_not_one_of_scores_is_told_as_such(capsys):
    assert published.main(["table=XII"]) == 1
    assert "there is no published table XII: Tables I and XII of CausalBench are" in capsys.readouterr().err
    assert published.main(["14"]) == 1
    assert "There are 4, 5a, 5b, 6a, 6b, 12, 13, II, III, IV, V" in capsys.readouterr().err


@pytest.mark.parametrize("given", [["table=14"], ["tabel=4"], ["results"], ["table=4", "nowhere"], ["--table"]])
def test_mistakes_are_one_sentence(given, capsys):
    assert published.main(given) == 1
    output = capsys.readouterr()
    assert output.out == "" and output.err.startswith("error: ") and output.err.count("\n") == 1


def test_what_later_works_measured_names_its_source_and_what_is_second_hand(capsys):
    followups = {(row.model, row.setting["method"]): row for row in table("follow-ups")}
    assert len(followups) < len(table("follow-ups")) == 25  # distilbert under three perturbations
    lora = followups["Qwen2.5-1.5B-Instruct", "LoRA r=4; 10k rows; 1 epoch; lr 1e-4"]
    assert lora.printed == {"f1": "69.83"} and "github.com/vladakozachok" in lora.source
    assert sum("second-hand" in row.source for row in followups.values()) == 4
    only_accuracy = [row for row in followups.values() if set(row.printed) == {"accuracy"}]
    assert [row.printed["accuracy"] for row in only_accuracy] == ["36.3", "74.6"]
    assert {row.note for row in only_accuracy} == {"only accuracy is given: always_no has 84.51"}
    assert {row.setting["items"] for row in followups.values() if "sample" in row.setting["items"]} == {
        "random sample of v2"
    }
    assert published.main(["table=follow-ups"]) == 0
    text = capsys.readouterr().out
    assert "data v1.0" not in text and "| DeepSeek-R1 (API)" in text and "arXiv:2507.23488v1 (second-hand)" in text
