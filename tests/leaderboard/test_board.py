"""Tables of the leaderboard in every form, and what is chosen for them."""

import json
import re
from dataclasses import replace

import pytest
from msgspec import structs
from support.golden import assert_golden
from support.written_runs import board_row, write_manifest

from harness.errors import ConfigError
from harness.leaderboard import __main__ as leaderboard
from harness.leaderboard.build import BoardOptions, build
from harness.leaderboard.comparable import select_runs
from harness.plot.charts import charts_of
from harness.storage.result_json import result_json
from harness.storage.runs import Run
from harness.tables.latex import latex, tex
from harness.tables.results import brief, result_tables
from harness.tables.write import ENDINGS, markdown, text_of
from harness.types import Metric, Result, Scores, Usage


def scores(f1, **more):
    interval = None if f1 is None else (max(0.0, f1 - 0.1), f1 + 0.2)
    metrics = (Metric("f1", f1, interval), *(Metric(name, value) for name, value in more.items()))
    return Scores(100, 20, 0, 0, metrics, clusters=9, resamples=1000)


def run(model, f1=0.5, *, headline="published", items="a" * 64, variant="default", complete=True, **more):
    groups = {"parent": scores(0.25), "child": scores(None)}
    said = {headline: {"overall": {"all": scores(f1, accuracy=0.5, **more)}, "relation": groups}}
    return board_row("corr2cause", variant, "plain", model, complete, Result(headline, said, 9, {}, {}, Usage()), items)


def of_role(role, row):
    return replace(row, manifest=structs.replace(row.manifest, role=role))


def saved(folder, row):
    place = folder / row.variant / row.model
    place.mkdir(parents=True)
    names = {name: getattr(row, name) for name in ("task", "variant", "prompt", "model")}
    said = {"run": names, "complete": row.complete, **result_json(row.result)}
    (place / "result.json").write_text(json.dumps(said), encoding="utf-8")
    write_manifest(place, names, row.result, complete=row.complete, items=row.items)


@pytest.mark.parametrize("form", ENDINGS.values())
def test_a_leaderboard_in_every_form(form):
    rows = [
        *(run("a_b&c", 0.9), run("m", 0.5), run("<script>", None), run("z", 0.1), run("gpt", complete=False)),
        *(run("a", variant="limit=100", items="b" * 64), of_role("solver", run("exact", 0.99))),
    ]
    assert_golden(f"leaderboard.{form}", f"{text_of(build(rows, BoardOptions(('f1', 'accuracy'))), form)}\n")


def test_footnotes_are_of_the_tables_own_runs():
    def read(model, variant):
        row = run(model, variant=variant, items=variant[:1] * 64)
        return replace(row, result=structs.replace(row.result, grades={"form": 1, "words": 3}))

    rows = [read(f"{model}_{n}", variant) for n, variant in enumerate(("default", "limit=9")) for model in "ab"]
    tables = build([*rows, run("gone", complete=False)])
    assert len(tables) == 2
    for table in tables:
        models = {line.cells[0].text for line in table.lines}
        assert {name for row in rows if (name := row.model) in " ".join(table.notes)} == models
        assert "gone" not in " ".join(table.notes)
    text = latex(tables)
    assert [line[:1] for line in text.splitlines() if "gone" in line] == ["%"]
    assert "gone" in markdown(tables)


def test_what_all_results_of_a_table_say_stands_below_it_once():
    def said(model, *notes):
        return replace(row := run(model), result=structs.replace(row.result, notes=notes))

    (table,) = build([said("a", "of all", "of a alone"), said("b", "of all"), said("c", "of c", "of all")])
    assert table.notes.count("of all") == 1 and "alone" not in " ".join(table.notes)


@pytest.mark.parametrize("confusion", [{"fp": 3, "tn": 5}, {"tn": 8}, {"fp": 8}], ids=str)
def test_f1_without_positives_is_a_dash_everywhere(confusion):
    row = run("m", 0.0, relation=0.0)
    overall = structs.replace(row.result.overall, positives=0, confusion=confusion)
    row = replace(row, result=structs.replace(row.result, scores={"published": {"overall": {"all": overall}}}))
    (table,) = build([row])
    assert table.lines[0].cells[[column.name for column in table.columns].index("f1")].text == "–"
    assert result_tables(row.result)[0].lines[0].cells[1].text == "–" and brief(overall).startswith("F1 –")
    assert next(chart for chart in charts_of([row]) if chart["kind"] == "scores")["rows"][0]["value"] is None


def test_nothing_means_something_else_to_latex():
    assert tex("\\{50%}") == r"\textbackslash{}\{50\%\}"
    assert tex('6" gpt\n\n\0x') == "6'' gpt   x"  # \textquotedbl is not in LaTeX's usual fonts


def test_a_wide_table_takes_both_columns_of_a_page():
    assert r"\begin{table*}" not in latex(build([run("a")], BoardOptions(("f1",))))
    assert latex(build([run("a" * 100)], BoardOptions(("f1",)))).count("table*}") == 2


def test_best_and_second_of_a_column_ties_share_a_place_and_nothing_to_compare_with_has_one():
    def marked(rows, *metrics):
        text = latex(build(rows, BoardOptions(metrics)))
        return re.findall(r"\\(textbf|underline)\{([\d.]+)\}", text)

    lowest = [run("a", shd=3.0, sid=7.0, density=0.2), run("b", shd=5.25, sid=9.0, density=0.4)]
    found = build(lowest, BoardOptions(("shd", "sid")))[0].lines
    assert [[cell.text for cell in line.cells[1:]] for line in found] == [["3.00", "7"], ["5.25", "9"]]
    assert marked(lowest, "shd", "density") == [("textbf", "3.00"), ("underline", "5.25")]
    tied = [("textbf", "50.00"), ("textbf", "50.00"), ("underline", "10.00")]
    assert marked([run("a"), run("b"), run("c", 0.1)], "f1") == tied
    beside = [of_role(role, run(role, 0.9)) for role in ("solver", "baseline", "cheat")]
    assert marked([*beside, run("m", 0.5), run("z", 0.1)], "f1") == tied[1:]


def test_a_heading_says_the_settings_of_all_runs_of_a_table():
    (table,) = build([run(variant, variant=variant) for variant in ("limit=100", "default")])
    assert table.heading == "Default settings and a sample of 100"


def test_a_row_of_markdown_is_a_line_whatever_its_model_is_called():
    rows = [line for line in markdown(build([run("a\nb|c\u2028d")])).splitlines() if line.startswith("| ")]
    assert len(rows) == 3 and rows[2].startswith(r"| a b\|c d |")


def test_other_items_and_other_labels_have_tables_of_their_own():
    rows = [run("a"), run("b", items="b" * 64, variant="version=v1"), run("c", headline="audited", variant="x")]
    tables = build(rows)
    assert [len(table.lines) for table in tables] == [1, 1, 1]
    assert tables[0].heading == "Default settings; published labels"
    assert tables[0].settings == "variant default; 100 items, item set aaaaaaaa"
    assert tables[0].above.startswith("Best F1 first, metrics in percent; prompt plain; 100 items, 20 positives")
    assert [table.heading for table in tables[1:]] == ["Version v1; published labels", "Variant x; audited labels"]
    assert "<sub>variant version=v1; 100 items, item set bbbbbbbb</sub>" in markdown(tables)
    assert markdown(tables).count("## corr2cause\n") == 1


def test_columns_for_each_group():
    table = build([run("a")], BoardOptions(("f1", "items"), ("relation",)))[0]
    titles = ["model", "F1", "F1 parent", "F1 child", "items", "items parent", "items child"]
    assert [column.title for column in table.columns] == titles
    assert [cell.text for cell in table.lines[0].cells][1:4] == ["50.00", "25.00", "–"]


@pytest.mark.parametrize("choice", [BoardOptions(("f2",)), BoardOptions(by=("realtion",))])
def test_what_no_run_has_is_named(choice):
    with pytest.raises(ConfigError, match="there is no"):
        build([run("a")], choice)


def test_rows_by_name_glob_or_list_and_names_with_commas():
    rows = [run("gpt4"), run("gpt35", variant="labels=audited,limit=20"), run("b", variant="labels=audited")]
    assert [row.model for row in select_runs(rows, model="gpt*")] == ["gpt4", "gpt35"]
    assert [row.model for row in select_runs(rows, model="gpt4, b")] == ["gpt4", "b"]
    assert [row.model for row in select_runs(rows, variant="labels=audited,limit=20")] == ["gpt35"]
    with pytest.raises(ConfigError, match="no model 'c'"):
        select_runs(rows, model="c")


def test_several_folders_and_formats(tmp_path, capsys):
    saved(tmp_path / "A", run("a"))
    saved(tmp_path / "B", run("a", 0.25))
    folders = [str(tmp_path / "A"), str(tmp_path / "B")]
    assert leaderboard.main([*folders, f"out={tmp_path / 'x.tex'}"]) == 0
    output = capsys.readouterr().out
    assert folders[0] in output and folders[1] in output
    assert (tmp_path / "x.tex").read_text(encoding="utf-8").startswith("% needs")
    assert leaderboard.main([*folders, "format=csv", "model=a"]) == 0
    assert capsys.readouterr().out.count("\n") == 3
    assert not list(tmp_path.rglob("LEADERBOARD.md"))


def test_runs_that_were_read_by_other_rules_are_counted_below_the_table():
    def older(row: Run, folder: str, **manifest) -> Run:
        return replace(row, manifest=structs.replace(row.manifest, reading={"version": 0}, **manifest), source=folder)

    rows = [run("a"), older(run("b"), "results"), older(run("c"), "my results"), older(run("d"), "results")]
    unranked = [older(run("e", complete=False), "f"), older(run("f"), "f", config={"algorithm": {"name": "f"}})]
    (table,) = build([*rows, *unranked])
    sentence = "3 of these runs were read by other rules than today's: harness reread results 'my results' reads"
    assert sum(note.startswith(sentence) for note in table.notes) == 1
    (table,) = build([rows[0]])
    assert not any("other rules" in note for note in table.notes)


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_models_by_benchmarks(form):
    def other(model, f1, **more):
        return replace(run(model, f1, **more), place={**run(model, **more).place, "task": "causalbench/cot"})

    rows = [
        *(run("gpt4", 0.9), run("gpt35", 0.5), other("gpt4", 0.25), other("new", None), run("gpt4", complete=False)),
        *(run("gpt4", 0.1, variant="limit=100", items="b" * 64), of_role("solver", other("exact", 1.0))),
    ]
    tables = build(rows, BoardOptions(by=("task",)))
    assert_golden(f"by_task.{form}", f"{text_of(tables, form)}\n")
    (table,) = build(rows, BoardOptions(("accuracy", "f1"), by=("task",)))
    assert [column.name for column in table.columns[3:]] == ["accuracy/corr2cause", "f1/corr2cause"]
    with pytest.raises(ConfigError, match="by=task goes with metrics= alone"):
        build(rows, BoardOptions(by=("task", "relation")))


def test_of_several_runs_of_a_model_the_tasks_first_prompt_stands_among_benchmarks():
    def prompted(prompt, f1):
        row = run("gpt4", f1)
        config = {"task": {"prompts": ["plain", "cot"]}}
        manifest = structs.replace(row.manifest, config=config)
        return replace(row, place={**row.place, "prompt": prompt}, manifest=manifest)

    (table,) = build([prompted("cot", 0.9), prompted("plain", 0.5)], BoardOptions(by=("task",)))
    assert [line.cells[1].text for line in table.lines] == ["50.00"]
