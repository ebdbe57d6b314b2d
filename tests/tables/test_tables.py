"""Results as tables."""

import pytest

from harness.tables.numbers import metric_text, metrics_of
from harness.tables.results import brief, judge_notes, remarks, result_tables
from harness.tables.table import Table
from harness.tables.write import markdown, markdown_table
from harness.types import Judged, Metric, Result, Scores, Usage, replace


def scores(items=4, positives=1, unreadable=0, failed=0, **metrics):
    return Scores(items, positives, unreadable, failed, tuple(Metric(name, value) for name, value in metrics.items()))


def result_of(overall, *, failures=None, finish_reasons=None, usage=None, clusters=21, **breakdowns):
    rows = {"overall": {"all": overall}, **breakdowns}
    return Result("published", {"published": rows}, clusters, failures or {}, finish_reasons or {}, usage or Usage())


def text_of(first, *others):
    return markdown(result_tables(result_of(first, relation=dict(zip("abc", others, strict=False)))))


def cells(*rows):
    """Return the cells of the table of these rows, without their names."""
    return [line[1:] for line in rows_of(text_of(*rows))[2:]]


def rows_of(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (None, "f1", "–"),
        (None, "brier", "–"),
        (0.0, "f1", "0.00"),
        (1.0, "f1", "100.00"),
        (0.290123, "recall", "29.01"),
        (0.29016, "", "29.02"),
        (0.18571, "brier", "0.1857"),
        (0.0, "brier", "0.0000"),
        (12.0, "shd", "12"),
        (739.214, "shd", "739.21"),
        (1234.0, "cell_shd", "1,234"),
        (26.0, "longest_chain", "26"),
        (None, "sid", "–"),
        (1.0, "acyclic", "100.00"),
    ],
)
def test_a_share_in_percent_and_anything_else_as_a_number(value, name, text):
    assert metric_text(name, value) == text


@pytest.mark.parametrize(
    ("rows", "texts", "lines"),
    [
        ([["gpt-4", "29.08"], ["é", "–"]], 1, ["| gpt-4 | 29.08 |", "| é     |     – |"]),
        ([["1", "longer"]], 2, ["| 1     | longer |"]),
        ([], 1, []),
    ],
)
def test_columns_are_aligned_text_to_the_left_and_numbers_to_the_right(rows, texts, lines):
    head, rule, *body = markdown_table(Table.of(["model", "F1"], rows, text_columns=texts)).splitlines()
    assert body == lines and {len(line) for line in body} <= {len(head)} == {len(rule)}
    assert head.startswith("| model |") and rule.endswith("- |" if texts == 2 else ": |")


def test_a_row_with_a_cell_too_few_is_an_error():
    with pytest.raises((ValueError, IndexError)):
        markdown_table(Table.of(["model", "F1"], [["gpt-4", "1"], ["gpt-4"]]))


def test_a_row_has_the_metrics_asked_for_and_the_counts():
    (row,) = cells(replace(scores(1162, 180, 3, 2, f1=0.5, auroc=None, brier=0.25), clusters=21))
    assert row == ["50.00", "–", "0.2500", "1,162", "180", "21", "3", "2"]


def with_intervals(**values):
    metrics = tuple(Metric(name, value, interval) for name, (value, interval) in values.items())
    return Scores(9, 4, 0, 0, metrics, clusters=7, resamples=10_000)


def test_intervals_stand_below_intervals_and_values_below_values():
    rows = [with_intervals(f1=(0.5, (0.21234, 0.6))), with_intervals(f1=(1.0, None)), scores(f1=0.0)]
    assert [line.split(" | ")[1] for line in text_of(*rows).splitlines()[2:]] == [
        " 50.00 [21.2, 60.0]",
        "100.00             ",
        "  0.00             ",
    ]
    assert [line[0] for line in cells(*rows[1:])] == ["100.00", "0.00"]


@pytest.mark.parametrize(
    ("name", "value", "interval", "text"),
    [
        ("brier", 0.18571, (0.15, 0.2212), "0.1857 [0.150, 0.221]"),
        ("shd", 1739.214, (310.55, 2310.0), "1,739.21 [310.6, 2,310.0]"),
        ("recall", 0.98333, (0.9, 1.0), "98.33 [90.0, 100.0]"),
    ],
)
def test_an_interval_has_a_decimal_less(name, value, interval, text):
    assert cells(with_intervals(**{name: (value, interval)}))[0][0] == text


def test_clusters_that_are_parts_of_one_are_named_and_unknown_ones_are_not_made_up():
    rows = [replace(scores(), clusters=1128, unit="pair"), scores(), scores(items=0)]
    assert [line[2] for line in cells(*rows)] == ["1,128 pairs", "–", "0"]


def test_metrics_come_in_one_order_whatever_order_they_are_found_in():
    rows = [scores(shd=1.0, brier=0.1, f1=0.5), scores(accuracy=0.5, audit=0.2, auroc=None)]
    assert metrics_of(rows) == ["f1", "accuracy", "auroc", "brier", "shd", "audit"]


def test_the_table_of_a_result():
    result = result_of(
        scores(f1=0.5, brier=0.25),
        num_nodes={"3": scores(items=1, f1=None, brier=0.5)},
        relation={"parent": scores(items=3, f1=1.0)},
    )
    assert rows_of(markdown(result_tables(result)))[0] == [
        "published labels", "F1", "Brier", "items", "positives", "clusters", "unreadable", "failed",
    ]  # fmt: skip
    assert [row[:4] for row in rows_of(markdown(result_tables(result)))[2:]] == [
        ["all", "50.00", "0.2500", "4"],
        ["num nodes: 3", "–", "0.5000", "1"],
        ["relation: parent", "100.00", "–", "3"],
    ]


def test_a_result_in_half_a_line():
    assert brief(scores(f1=None, accuracy=0.5)) == "F1 –, accuracy 50.00"
    overall = with_intervals(f1=(0.5, (0.2, 0.6)), accuracy=(0.25, None))
    assert brief(overall) == "F1 50.00 [20.0, 60.0], accuracy 25.00"


def test_items_and_clusters_are_said():
    (line,) = remarks(result_of(scores(items=1162)))
    assert line.startswith("1,162 items in 21 clusters") and "metrics in percent" in line
    assert " 1 cluster " in "".join(remarks(result_of(scores(), clusters=1)))


def test_what_other_labels_say_is_said():
    both = {name: {"overall": {"all": scores(f1=f1)}} for name, f1 in (("published", 0.5), ("audited", 0.75))}
    said = "".join(remarks(replace(result_of(scores(f1=0.5)), scores=both)))
    assert "By audited labels, some of which are others than the published: F1 75.00" in said
    assert "audited" not in "".join(
        remarks(replace(result_of(scores(f1=0.5)), scores=both | {"audited": both["published"]}))
    )


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"failures": {"timeout": 1200, "refused": 1}}, "Failed calls are in no metric: 1,200 timeout, 1 refused."),
        ({"finish_reasons": {"length": 12, "stop": 3}}, "12 replies were cut off at max_tokens."),
        ({"finish_reasons": {"length": 1}}, "1 reply was cut off at max_tokens."),
        ({"finish_reasons": {"premise_truncated": 9}}, "9 items had their premise cut to the model's length."),
        ({"finish_reasons": {"premise_truncated": 1}}, "1 item had its premise cut to the model's length."),
        ({"usage": Usage(input=1000, output=20, cached_input=5)}, "Tokens of these answers: 1,000 input, 20 output."),
        ({"finish_reasons": {"stop": 3}}, ""),
    ],
)
def test_what_did_not_go_well_is_said(what, message):
    always = remarks(result_of(scores()))
    assert [line for line in remarks(result_of(scores(), **what)) if line not in always] == [message][: len(message)]


@pytest.mark.parametrize(
    ("number", "way", "sentence"),
    [
        (3, "wrong", "3 replies could not be read and count as wrong."),
        (1200, "no", "1,200 replies could not be read and count as No."),
        (1, "wrong", "1 reply could not be read and counts as wrong."),
    ],
)
def test_unreadable_replies_are_said_and_how_they_score(number, way, sentence):
    # No setting is named: a benchmark of the user's own need have none.
    assert sentence in remarks(replace(result_of(scores(unreadable=number)), unreadable=way))


def test_a_single_reply_that_went_to_the_judge_is_one():
    overall = scores(f1=0.5, accuracy=0.5)
    judged = Judged("careful", 1, 0, 0, 0, {}, Usage(), without=overall)
    (note,) = judge_notes(replace(result_of(overall), judge=judged))
    assert note.startswith("1 reply that the rules could not read went to the judge careful: 1 read as Yes, 0 as No, ")


def test_how_the_intervals_were_made_is_said_and_that_clusters_are_few():
    sentences = remarks(result_of(with_intervals(f1=(0.5, (0.2, 0.6))), clusters=7))
    assert any(line.startswith("In brackets: 95% intervals over clusters") and "10,000" in line for line in sentences)
    assert any(line.startswith("Intervals over 7 clusters are wide") for line in sentences)
    many = replace(with_intervals(f1=(0.5, (0.2, 0.6))), clusters=300)
    assert not any("wide" in line for line in remarks(result_of(many)))
    assert not any("brackets" in line for line in remarks(result_of(scores(f1=0.5))))


def test_why_there_is_no_interval_is_said():
    overall = Scores(
        9, 4, 0, 0, (Metric("f1", 0.0, no_interval="because"), Metric("recall", 0.0, no_interval="because"))
    )
    row = Scores(9, 4, 0, 0, (Metric("f1", 0.0, no_interval="so few"), Metric("recall", 0.0, no_interval="as so few")))
    (line,) = [line for line in remarks(result_of(overall, relation={"x": row})) if line.startswith("No interval")]
    assert line == "No interval: because; so few."


def test_bounds_are_said():
    overall = Scores(9, 4, 1, 0, (Metric("f1", 0.5, bounds=(0.4, 0.6)), Metric("auroc", 0.5)))
    sentences = remarks(result_of(overall))
    assert "If all of them had been wrong, or all right: F1 40.00 to 60.00." in sentences
