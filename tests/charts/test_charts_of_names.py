"""Original beside readable names, and direct beside indirect pairs: the runs of a model as one line."""

from support.written_runs import board_row, scores

from harness.charts import charts_of
from harness.charts.values import as_json
from harness.types import Result, Usage

CAUSALITY = "causalbench/causality"
CORRELATION = "causalbench/correlation"


def run(task, model, variant="default"):
    f1 = (len(model) + len(variant)) / 40
    result = Result("exact", {"exact": {"overall": {"all": scores(f1)}}}, 9, {}, {}, Usage())
    return board_row(task, variant, "closed", model, True, result)


def of_kind(rows, kind):
    return {chart.id: as_json(chart) for chart in charts_of(rows) if chart.kind == kind}


def test_runs_that_differ_in_names_alone_make_a_line():
    plain, readable = run(CAUSALITY, "gpt4"), run(CAUSALITY, "gpt4", variant="names=readable")
    alone = run(CAUSALITY, "gpt35", variant="names=readable")
    charts = of_kind([plain, readable, alone], "names")
    chart = charts["causalbench/causality/names/f1"]
    assert chart["steps"] == ["original", "readable"] and chart["title"] == "F1 with original and with readable names"
    (row,) = chart["rows"]
    assert row["label"] == "gpt4"
    values = [point["value"] for point in row["points"]]
    assert values == [of.result.overall["f1"] for of in (plain, readable)]
    assert not of_kind([plain, alone], "names")


def test_other_settings_stand_apart():
    runs = [run(CAUSALITY, "gpt4", variant=v) for v in ("method=2", "method=2,names=readable", "names=readable")]
    (chart,) = [chart for name, chart in of_kind(runs, "names").items() if name.endswith("/f1")]
    assert chart["id"] == "causalbench/causality/method=2/names/f1" and chart["heading"]


def test_direct_and_indirect_pairs_stand_beside_each_other():
    runs = [run(CORRELATION, model, variant=f"kind={kind}") for model in ("a", "b") for kind in ("direct", "indirect")]
    chart = of_kind(runs, "directness")["causalbench/correlation/directness/f1"]
    assert chart["steps"] == ["direct", "indirect"] and len(chart["rows"]) == 2
