"""Tables by= and over= a setting: runs that differ in nothing else, in one row."""

import csv
import io
import json
import re
import shutil
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean, median, stdev

import pytest
from msgspec import structs
from support.compared_runs import put, record
from support.page_help import run
from support.written_runs import board_row, write_manifest

from harness.compare.__main__ import main as compare
from harness.errors import ConfigError
from harness.leaderboard import __main__ as leaderboard
from harness.leaderboard.build import BoardOptions, build
from harness.leaderboard.by_setting import page_tables
from harness.leaderboard.comparable import find_runs
from harness.leaderboard.series import find_setting
from harness.plot.charts import charts_of
from harness.report.__main__ import content
from harness.scoring.summary import summarize
from harness.storage import replies as storage_replies
from harness.storage.manifest import Manifest
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.write import as_csv, as_json, markdown
from harness.types import Metric, Result, Scores, Usage

MODELS, PROMPTS, STEPS = ("random_uniform", "always_yes"), ("plain", "few_shot"), ("none", "permutation")


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Path:
    """Two baselines with two prompts, as the questions are and permuted; and two more seeds of one of them."""
    folder = tmp_path_factory.mktemp("swept") / "results"
    for model, prompt, perturbation in product(MODELS, PROMPTS, STEPS):
        settings = (f"model={model}", f"prompt={prompt}", f"task.perturbation={perturbation}")
        run(folder, *settings, "task.limit=80")
    for seed in (1, 2):
        named = (f"model.seed={seed}", f"model.name=random_uniform-s{seed}")
        run(folder, "model=random_uniform", *named, "task.limit=80")
    return folder


@pytest.fixture
def rows(swept):
    return find_runs([str(swept)])


def scores_of(folder, *, perturbation="none", prompt="plain", model="random_uniform"):
    variant = "limit=80" + ("" if perturbation == "none" else f",perturbation={perturbation}")
    place = folder / "corr2cause" / variant / prompt / model
    return place, json.loads((place / "result.json").read_text(encoding="utf-8"))["scores"]["published"]["overall"][
        "all"
    ]


def rows_of(tables):
    return {
        (row["model"], row["prompt"]): row
        for table in tables
        for row in json.loads(as_json([table]))["tables"][0]["rows"]
    }


@pytest.mark.slow
def test_few_shot_prompts_stay_in_robustness_though_their_examples_are_perturbed(rows):
    (chart,) = (chart for chart in charts_of(rows) if chart["kind"] == "robustness" and chart["metric"] == "f1")
    assert {row["label"] for row in chart["rows"]} >= {"random_uniform · plain", "random_uniform · few_shot"}
    assert all(point is not None for row in chart["rows"] for point in row["points"])
    assert chart["heading"] == "A sample of 80"


@pytest.mark.slow
def test_runs_of_one_results_folder_make_a_row_though_their_folders_are_named_one_by_one(swept, tmp_path):
    variants = [swept / "corr2cause" / f"limit=80{ending}" / "few_shot" for ending in ("", ",perturbation=permutation")]
    (chart,) = (
        chart
        for chart in charts_of(find_runs([str(folder) for folder in variants]))
        if chart["kind"] == "robustness" and chart["metric"] == "f1"
    )
    assert {row["label"] for row in chart["rows"]} == set(MODELS)
    shutil.copytree(swept / "corr2cause" / variants[1].parent.name, elsewhere := tmp_path / variants[1].parent.name)
    apart = find_runs([str(variants[0]), str(elsewhere)])
    assert not [chart for chart in charts_of(apart) if chart["kind"] == "robustness"]


def test_a_prompt_of_other_words_is_another_one_though_it_has_the_name(rows):
    def reworded(row):
        manifest = structs.replace(row.manifest, words={**row.manifest.words, "user": "{premise} {statement}?"})
        return replace(row, manifest=manifest)

    changed = [reworded(row) if (row.prompt, row.variant) == ("few_shot", "limit=80") else row for row in rows]
    (table,) = build(changed, BoardOptions(by=("perturbation",)))
    together = {line.run["prompt"] for line in table.lines if "no run" not in " ".join(c.text for c in line.cells)}
    assert together == {"plain"}


@pytest.mark.parametrize(("most", "again"), [(500_000, 0), (0, 1)])
def test_the_page_reads_each_run_once_while_there_is_room(rows, monkeypatch, most, again):
    read, records = [], Run.records
    monkeypatch.setattr(Run, "records", lambda run: read.append(run.folder) or records(run))
    monkeypatch.setattr(storage_replies, "MOST_REMEMBERED", most)
    data, _ = content(rows, answers=True)
    assert len(data["differences"]) > 2 and len({*read}) == len(rows)
    assert (len(read) > len({*read})) == again


def test_by_perturbation_has_the_scores_of_the_runs_and_the_differences_of_compare(swept, rows, tmp_path):
    (table,) = build(rows, BoardOptions(by=("perturbation",)))
    assert table.heading == "By perturbation, a sample of 80"
    for (model, prompt), row in rows_of([table]).items():
        if "-s" in model:
            assert row["f1/permutation"]["text"] == "– no run" and row["f1/permutation/p"]["value"] is None
            continue
        place, original = scores_of(swept, prompt=prompt, model=model)
        other, permuted = scores_of(swept, perturbation="permutation", prompt=prompt, model=model)
        assert (row["f1/original"]["value"], row["f1/permutation"]["value"]) == (original["f1"], permuted["f1"])
        assert compare([str(place), str(other), f"out={tmp_path / 'c.json'}"]) == 0
        (numbers,) = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
        assert row["f1/permutation/difference"] == numbers["difference"]
        assert row["f1/permutation/p"]["value"] == numbers["p"]["value"]


def test_any_setting_makes_columns_the_default_first(rows):
    (table,) = build([row for row in rows if row.variant == "limit=80"], BoardOptions(("accuracy",), by=("prompt",)))
    assert [column.full_text for column in table.for_readers().columns] == [
        "model",
        *("plain: accuracy", "few_shot: accuracy", "few_shot: − plain", "few_shot: p"),
    ]
    tables = build(rows, BoardOptions(by=("variant",)))
    assert "limit=80,perturbation=permutation: F1" in markdown(tables)


def test_what_cannot_be_paired_has_a_dash_and_the_reason(rows, tmp_path, swept):
    shutil.copytree(swept, tmp_path / "results")
    for file in tmp_path.rglob("*few_shot/always_yes/records.jsonl*"):
        file.unlink()
    (table,) = build(find_runs([str(tmp_path)]), BoardOptions(by=("perturbation",)))
    cells = rows_of([table])
    assert cells["always_yes", "few_shot"]["f1/permutation/difference"]["text"] == "– no records"
    assert cells["always_yes", "plain"]["f1/permutation/difference"]["text"] == "+0.00"
    assert any(note.endswith("cannot be paired: no records.") for note in table.notes)


def test_over_seed_is_mean_and_deviation_and_the_share_of_answers_that_change(swept, rows):
    found = [scores_of(swept, model=name) for name in ("random_uniform", "random_uniform-s1", "random_uniform-s2")]
    values = [scores["f1"] for _, scores in found]
    answers = defaultdict(set)
    for place, _ in found:
        for line in (place / "records.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            answers[record["item"]].add(record["answer"]["label"])
    (table,) = build(rows, BoardOptions(over="seed"))
    (line,) = table.lines
    cells = {column.name: cell for column, cell in zip(table.columns, line.cells, strict=True)}
    assert cells["model"].text == "random_uniform" and cells["n"].value == 3
    assert cells["f1/sd"].value == stdev(values) and "SD |" not in markdown([table]).replace("± SD |", "")
    assert cells["f1/mean"].full_text == f"{100 * mean(values):.2f} ± {100 * stdev(values):.2f}"
    spread = [cells[f"f1/{part}"].value for part in ("least", "median", "greatest")]
    assert spread == [min(values), median(values), max(values)]
    assert cells["changes"].value == sum(len(labels) > 1 for labels in answers.values()) / 80
    assert "Not in a table, having one value of the setting" in "".join(table.others)


def test_over_prompt_is_one_row_for_each_model(rows):
    tables = build(rows, BoardOptions(over="prompt"))
    assert [table.heading for table in tables] == [
        "Over prompt, a sample of 80",
        "Over prompt, nodes permuted, a sample of 80",
    ]
    assert all({line.cells[0].text for line in table.lines} == set(MODELS) for table in tables)
    always = next(line for line in tables[0].lines if line.cells[0].text == "always_yes")
    assert [cell.text for cell in always.cells][-2:] == ["0.00", "2"]  # no answer changes


def test_by_method_is_what_was_asked_whatever_else_a_configuration_says_of_ranking():
    rows = [
        replace(
            board_row(
                "corr2cause", "default", "plain", f"m-{method}", True, Result("published", {}, 9, {}, {}, Usage())
            ),
            manifest=Manifest(
                run={}, configuration={"model": {"kind": "c"} | more}, config={"model": {"method": method}}
            ),
        )
        for method, more in (("rank", {"rank": "next token", "top_logprobs": 20}), ("generate", {}))
    ]
    setting = find_setting("method", rows)
    assert [setting.step(row) for row in rows] == ["rank", "generate"]
    assert setting.rest(rows[0]) == setting.rest(rows[1])
    temperature = find_setting("kind", rows)
    assert temperature.rest(rows[0]) != temperature.rest(rows[1])


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (BoardOptions(by=("pertubation",)), "did you mean 'perturbation'"),
        (BoardOptions(over="sed"), "did you mean 'seed'"),
        (
            BoardOptions(by=("relation", "perturbation")),
            "by=perturbation is by a setting of runs: it goes with no other by= or over=",
        ),
        (BoardOptions(by=("relation",), over="seed"), "over=seed is by a setting of runs: it goes with no other"),
        (BoardOptions(by=("labels",)), "no two runs of corr2cause differ in labels and in nothing else"),
        (BoardOptions(over="limit"), "no two runs of corr2cause differ in limit and in nothing else"),
        (BoardOptions(("items",), by=("perturbation",)), "there is no metric 'items'"),
    ],
    ids=lambda value: "" if isinstance(value, BoardOptions) else value[:12],
)
def test_what_makes_no_table_is_said(rows, choice, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        build(rows, choice)


def test_a_task_whose_runs_do_not_differ_in_it_has_a_note_beside_the_tables_of_others(rows):
    other = board_row("other", "default", "plain", "m", True, rows[0].result)
    tables = build([*rows, other], BoardOptions(by=("perturbation",)))
    assert [table.task for table in tables] == ["corr2cause", "other"] and not tables[1].lines
    assert tables[1].others[0] == "No run of other has the setting perturbation."


def test_every_form_has_the_table(swept, tmp_path, capsys):
    for ending in ("md", "csv", "json", "tex"):
        assert leaderboard.main([str(swept), "by=perturbation", f"out={tmp_path / 'table'}.{ending}"]) == 0
    capsys.readouterr()
    texts = {file.suffix: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert all("permutation" in text and "few_shot" in text.replace("\\_", "_") for text in texts.values())
    assert "$-$ original" in texts[".tex"] and "−" not in texts[".tex"]  # a sign that LaTeX does not know
    assert "f1/permutation/difference_low" in texts[".csv"].splitlines()[0]


def test_runs_of_one_value_are_named_below_the_last_table_of_the_command_alone(rows):
    other = board_row("corr2cause", "limit=7", "plain", "alone", True, rows[0].result)
    (table,) = build([*rows, other], BoardOptions(by=("perturbation",)))
    assert table.others[0] == "Not in a table, having one value of the setting: limit=7/plain/alone."
    on_page = list(page_tables("corr2cause", [*rows, other], ReplyReader()))
    assert on_page and not any(table.others for table in on_page)


def test_what_is_the_same_in_all_rows_is_said_in_the_caption_and_kept_for_programs(rows):
    tables = build(rows)
    text = markdown(tables)
    assert "80 items, 11 positives" in tables[0].above and tables[0].above.endswith("none unreadable, none failed.")
    assert "| items" not in text and "| failed" not in text
    read = list(csv.DictReader(io.StringIO(as_csv(tables))))
    assert {row["items"] for row in read} == {"80"} and {row["failed"] for row in read} == {"0"}
    wanted = markdown(build(rows, BoardOptions(("f1", "items"))))
    assert "| items |" in wanted


def test_columns_of_what_was_said_and_of_what_a_run_took():
    confusion = {"tp": 6, "fn": 14, "fp": 24, "tn": 56}
    overall = Scores(100, 20, 0, 0, (Metric("f1", 0.24),), clusters=9, confusion=confusion)
    result = Result("published", {"published": {"overall": {"all": overall}}}, 9, {}, {}, Usage(5000, 200))
    row = board_row("corr2cause", "default", "plain", "m", True, result)
    row = replace(row, result_json={"cost": {"usd": 0.123456}})
    (table,) = build([row], BoardOptions(("yes", "cost", "tokens_in", "tokens_out")))
    assert [cell.text for cell in table.lines[0].cells][1:] == ["30.00", "0.1235", "5,000", "200"]
    assert any("the share of Yes among the replies that could be read" in note for note in table.notes)


def test_a_run_whose_every_call_failed_is_named_and_not_ranked():
    def failed(model, failures):
        overall = Scores(20, 3, 0, failures, (Metric("f1", None if failures == 20 else 0.5),), clusters=9)
        result = Result(
            "published", {"published": {"overall": {"all": overall}}}, 9, {"bad_request": failures}, {}, Usage()
        )
        return board_row("corr2cause", "default", "plain", model, True, result)

    (table,) = build([failed("ctx", 20), failed("good", 1)])
    assert [line.cells[0].text for line in table.lines] == ["good"]
    assert table.others[-1] == "Not ranked, as there is no answer (every call failed): default/plain/ctx."


@pytest.mark.parametrize(
    "view", [(), ("by=relation",), ("metrics=f1",), ("by=perturbation",), ("over=perturbation",), ("by=task",)]
)
def test_what_is_without_an_answer_is_counted_below_every_table(tmp_path, capsys, view):
    for step, variant, lost in (("none", "default", 3), ("permutation", "perturbation=permutation", 0)):
        answers = [record(n, None if n < lost else n % 2, gold=n % 2, cluster=f"c{n // 4}") for n in range(40)]
        folder = Path(put(tmp_path / step, answers, variant=variant, perturbation=step))
        place = {"task": "corr2cause", "variant": variant, "prompt": "plain", "model": "m"}
        result = summarize(answers, headline="published", orders={}, unreadable="wrong")
        settings = {"task": {"perturbation": step}, "data": {}, "prompt": {"name": "plain"}, "model": {}}
        write_manifest(folder, place, result, items="a" * 64, configuration=settings)
    assert leaderboard.main([str(tmp_path), *view]) == 0
    said = capsys.readouterr().out
    assert "Replies without an answer count as the wrong answer (where No is right, as a Yes)" in said
    assert re.search("Unreadable replies: m.* 3; of all others none" if view else "unreadable", said)
