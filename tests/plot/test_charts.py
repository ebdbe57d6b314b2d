"""Charts as values: what result.json says, in the order and with the names of the leaderboard's tables."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from pathlib import Path

import pytest
from support.openai_server import Server, chat_reply
from support.page_help import run
from support.written_runs import board_row, put, scores

from harness import evaluate
from harness.leaderboard.build import build
from harness.leaderboard.comparable import find_runs
from harness.plot.charts import charts_of
from harness.types import Result, Usage

CAUSALITY = "causalbench/causality"
CORRELATION = "causalbench/correlation"


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Path:
    """Real runs: two baselines and the reasoner, as the questions are and permuted."""
    folder = tmp_path_factory.mktemp("swept") / "results"
    for model, perturbation in product(("reasoner", "always_yes", "random_uniform"), ("none", "permutation")):
        run(folder, f"model={model}", f"task.perturbation={perturbation}", "task.limit=40")
    return folder


def charts_by_id(*folders):
    """Return the charts as JSON by their ids, which are unique."""
    chart_list = charts_of(find_runs([str(folder) for folder in folders]))
    charts = {chart["id"]: json.loads(json.dumps(chart)) for chart in chart_list}
    assert len(charts) == len(chart_list) and list(charts.values()) == chart_list
    return charts


@pytest.mark.slow
def test_values_are_those_of_result_json(swept):
    charts = charts_by_id(swept)
    for row in charts["corr2cause/limit=40/scores/f1"]["rows"]:
        scores = json.loads((swept / row["run"] / "result.json").read_text(encoding="utf-8"))["scores"]["published"]
        overall = scores["overall"]["all"]
        assert row["value"] == overall["f1"] and row["interval"] == overall["intervals"].get("f1")
        assert (row["items"], row["clusters"]) == (40, overall["clusters"])
        heat = charts["corr2cause/limit=40/heat/relation"]
        cells = next(other["cells"] for other in heat["rows"] if other["run"] == row["run"])
        assert heat["metrics"] == ["f1", "precision", "recall", "accuracy"]
        for column, cell in zip(heat["columns"], cells, strict=True):
            group = scores["relation"][column["group"]]
            undefined = () if group["positives"] else ("f1",)
            assert cell["values"] == {n: None if n in undefined else group[n] for n in heat["metrics"]}
            assert cell["intervals"]["accuracy"] == group.get("intervals", {}).get("accuracy")
            assert (column["items"], column["positives"]) == (group["items"], group["positives"])
        counts = next(
            other["counts"] for other in charts["corr2cause/limit=40/confusion"]["rows"] if other["run"] == row["run"]
        )
        assert {name: n for name, n in counts.items() if name in overall["confusion"]} == overall["confusion"]
        assert len(counts) == 8 and sum(counts.values()) == 40


@pytest.mark.slow
def test_order_and_names_are_those_of_the_tables(swept):
    tables = build(find_runs([str(swept)]))
    charts = [chart for chart in charts_by_id(swept).values() if chart["kind"] == "scores" and chart["metric"] == "f1"]
    assert len(charts) == len(tables) == 2
    for chart, table in zip(charts, tables, strict=True):
        assert [row["label"] for row in chart["rows"]] == [line.cells[0].text for line in table.lines]
        assert chart["heading"] == table.heading
    assert {row["label"]: row["role"] for row in charts[0]["rows"]} == {
        "reasoner": "solver",
        "always_yes": "baseline",
        "random_uniform": "baseline",
    }


@pytest.mark.slow
def test_robustness_pairs_the_perturbations_of_each_model(swept):
    chart = charts_by_id(swept)["corr2cause/limit=40/robustness/accuracy"]
    assert chart["steps"] == ["original", "permutation"] and len(chart["rows"]) == 3
    for row in chart["rows"]:
        for point, variant in zip(row["points"], ("default,limit", "perturbation=permutation"), strict=True):
            content = json.loads((swept / point["run"] / "result.json").read_text(encoding="utf-8"))
            assert point["value"] == content["scores"]["published"]["overall"]["all"]["accuracy"]
            assert content["run"]["model"] == row["label"] and variant.partition(",")[2] in content["run"]["variant"]
        assert row["run"] == row["points"][0]["run"]


def test_runs_that_differ_in_more_than_the_perturbation_are_no_pair(tmp_path):
    put(tmp_path, "m")
    put(tmp_path, "m", prompt="cot", variant="perturbation=permutation", items="b")
    put(tmp_path, "n", kind="openai")
    put(tmp_path, "n", kind="nli", variant="perturbation=permutation", items="b")
    assert not [name for name in charts_by_id(tmp_path) if "robustness" in name]
    put(tmp_path, "n", variant="perturbation=paraphrase", items="c", f1=None)
    (row,) = charts_by_id(tmp_path)["corr2cause/robustness/f1"]["rows"]
    assert row["label"] == "n" and [point["value"] for point in row["points"]] == [0.5, None]


def test_other_questions_are_no_robustness_of_the_same_chart_and_headings_tell_which(tmp_path):
    def headings():
        charts = [chart for name, chart in charts_by_id(tmp_path).items() if name.endswith("robustness/f1")]
        return {chart["heading"]: [row["label"] for row in chart["rows"]] for chart in charts}

    def chain(model, headline="published", labels="", **items):
        for step, items_of_step in items.items():
            settings = [labels, f"perturbation={step}" if step != "none" else ""]
            variant = ",".join(filter(None, settings)) or "default"
            put(tmp_path, model, variant=variant, items=items_of_step, headline=headline)

    chain("m", none="a", permutation="b")
    assert headings() == {"": ["m"]}
    chain("n", none="a", permutation="d")
    chain("p", "audited", "labels=audited", none="a", permutation="b")
    start = "Default settings; published labels; original: 100 items, item set aaaaaaaa"
    assert headings() == {
        f"{start}; permutation: 100 items, item set bbbbbbbb": ["m"],
        f"{start}; permutation: 100 items, item set dddddddd": ["n"],
        "Audited labels": ["p"],
    }
    chain("q", paraphrase="e", refactorization="f")  # no step in common
    of_q = "paraphrase: 100 items, item set eeeeeeee; refactorization: 100 items, item set ffffffff"
    assert headings() == {
        f"{start}; permutation: 100 items, item set bbbbbbbb": ["m"],
        f"{start}; permutation: 100 items, item set dddddddd": ["n"],
        f"Default settings; published labels; {of_q}": ["q"],
        "Audited labels": ["p"],
    }


def test_other_items_other_labels_and_incomplete_runs_are_never_mixed(tmp_path):
    put(tmp_path, "a")
    put(tmp_path, "b", items="b", variant="version=v1")
    put(tmp_path, "c", headline="audited", variant="labels=audited")
    put(tmp_path, "d", complete=False)
    charts = charts_by_id(tmp_path)
    sets = {name: [row["label"] for row in chart["rows"]] for name, chart in charts.items()}
    places = ("", "labels=audited/", "version=v1/")
    assert [sets[f"corr2cause/{place}scores/f1"] for place in places] == [["a"], ["c"], ["b"]]
    assert all(len(set(labels)) == 1 and "d" not in labels for labels in sets.values())
    assert charts["corr2cause/scores/f1"]["heading"].startswith("Default settings; published labels")
    heading = charts["corr2cause/labels=audited/scores/f1"]["heading"]
    assert heading == "Audited labels"


def test_a_run_more_passes_no_name_to_other_runs(tmp_path):
    def runs():
        return {name: {row["run"] for row in chart["rows"]} for name, chart in charts_by_id(tmp_path).items()}

    put(tmp_path, "m", items="d")
    for perturbation, items in (("paraphrase", "a"), ("permutation", "c")):
        put(tmp_path, "m", variant=f"perturbation={perturbation}", items=items)
    before = runs()
    put(tmp_path, "m", variant="limit=200", items="b")
    put(tmp_path, "n", variant="labels=audited,perturbation=paraphrase", items="a", headline="audited")
    put(tmp_path, "n", variant="perturbation=permutation", items="e")
    after = runs()
    assert "corr2cause/labels=audited+perturbation=paraphrase/scores/f1" in after.keys() - before.keys()
    assert all(after[name] == rows for name, rows in before.items() if name in after)
    assert {name for name in before if "scores/f1" in name} - after.keys() == {
        "corr2cause/perturbation=permutation/scores/f1"
    }
    shared = [rows for name, rows in after.items() if name.startswith("corr2cause/perturbation=permutation/eeeeeeee/s")]
    assert shared and all(row.endswith("/n") for rows in shared for row in rows)


def test_labels_say_what_differs_and_no_more(tmp_path):
    put(tmp_path, "m", 0.9)
    put(tmp_path, "m", 0.8, prompt="cot")
    put(tmp_path, "m", 0.7, prompt="cot", variant="unreadable=no")
    put(tmp_path, "n", 0.6, prompt="cot", variant="unreadable=no")
    labels = [row["label"] for row in charts_by_id(tmp_path)["corr2cause/scores/f1"]["rows"]]
    assert labels == ["m · plain", "m · cot · default", "m · cot · unreadable=no", "n"]


def test_the_same_run_in_two_folders_is_told_apart(tmp_path):
    for folder in ("A", "B", "A/inner"):
        put(tmp_path / folder, "m")
    put(tmp_path / "A", "n")
    rows = charts_by_id(tmp_path / "A", tmp_path / "B")["corr2cause/scores/f1"]["rows"]
    names = [row["run"] for row in rows]
    assert len(set(names)) == 4 == len({row["label"] for row in rows})
    assert names[-1] == "corr2cause/default/plain/n" and f"{tmp_path / 'B'}//corr2cause/default/plain/m" in names


def test_cost_is_per_thousand_items_and_of_models_alone(tmp_path):
    put(tmp_path, "paid", 0.6, cost={"usd": 0.03, "answers_without_cost": 0})
    put(tmp_path, "free", 0.5, kind="nli")
    put(tmp_path, "partly", 0.4, cost={"usd": 0.03, "answers_without_cost": 1})
    put(tmp_path, "always_no", 0.1, role="baseline")
    usd = charts_by_id(tmp_path)["corr2cause/cost/f1/usd"]
    assert [(row["label"], row["x"], row["value"]) for row in usd["rows"]] == [("paid", pytest.approx(0.3), 0.6)]
    assert "free, partly" in usd["notes"][0] and usd["notes"][1].startswith("Lines: 95% intervals")


def test_networks_stand_by_their_size(tmp_path):
    parts = {"network": {name: scores(value) for name, value in (("alarm", 0.2), ("asia", 0.8), ("cancer", None))}}
    put(tmp_path, "m", task="causalbench/causality", headline="exact", parts=parts)
    put(tmp_path, "hc", 0.1, task="causalbench/causality", headline="exact", data=(500, 0), kind="x")
    chart = charts_by_id(tmp_path)["causalbench/causality/scale/f1"]
    assert [(network["name"], network["nodes"], network["edges"]) for network in chart["networks"]] == [
        ("cancer", 5, 4),
        ("asia", 8, 8),
        ("alarm", 37, 46),
    ]
    assert [(row["role"], row["values"]) for row in chart["rows"]] == [
        ("model", [None, 0.8, 0.2]),
        ("algorithm", [None, None, None]),
    ]
    assert chart["rows"][0]["intervals"] == [None, [pytest.approx(0.7), 1.0], [pytest.approx(0.1), pytest.approx(0.4)]]


def test_ids_are_paths_of_plain_words(swept):
    assert all(re.fullmatch(r"[a-z0-9_]+(/[a-z0-9_]+(=[a-z0-9_+=]+)?)+", name) for name in charts_by_id(swept))


def test_the_role_is_what_the_manifest_says_whatever_a_model_is_called(tmp_path):
    roles = {"always_no": "model", "reasoner": "cheat", "gpt4": "baseline"}
    for model, role in roles.items():
        put(tmp_path, model, role=role)
    rows = charts_by_id(tmp_path)["corr2cause/scores/f1"]["rows"]
    assert {row["label"]: row["role"] for row in rows} == roles


def made(task, model, variant="default"):
    f1 = (len(model) + len(variant)) / 40
    result = Result("exact", {"exact": {"overall": {"all": scores(f1)}}}, 9, {}, {}, Usage())
    return board_row(task, variant, "closed", model, True, result)


def of_kind(rows, kind):
    return {chart["id"]: chart for chart in charts_of(rows) if chart["kind"] == kind}


@pytest.mark.parametrize(
    ("kind", "task", "variants", "steps", "place"),
    [
        ("names", CAUSALITY, ("default", "names=readable"), ["original", "readable"], ""),
        ("names", CAUSALITY, ("method=2", "method=2,names=readable"), ["original", "readable"], "/method=2"),
        ("directness", CORRELATION, ("kind=direct", "kind=indirect"), ["direct", "indirect"], ""),
    ],
)
def test_runs_that_differ_in_a_setting_alone_make_a_line(kind, task, variants, steps, place):
    runs = [made(task, "gpt4", variant=variant) for variant in variants]
    alone = made(task, "gpt35", variant=variants[1])
    charts = of_kind([*runs, alone], kind)
    chart = charts[f"{task}{place}/{kind}/f1"]
    assert chart["steps"] == steps and chart["title"].startswith("F1 ") and bool(chart["heading"]) == bool(place)
    (row,) = chart["rows"]
    assert row["label"] == "gpt4" and row["role"] == "model"
    assert [point["value"] for point in row["points"]] == [run.result.overall["f1"] for run in runs]
    assert not of_kind([runs[0], alone], kind)


def reply(body):
    draw = random.Random(body["messages"][-1]["content"])
    said, sure = draw.choice(["Yes", "No"]), draw.choice(["60%", "75", "90%", "high"])
    return chat_reply(f"Answer: {said}\nConfidence: {sure}")


@pytest.fixture
def charts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    for model in ("linear", "always_no"):
        evaluate(model=model, task="corr2cause", limit=80, cache="off")
    server = Server(lambda path, body, number: reply(body))
    told = {"model.model": "talker", "model.name": "talker", "model.base_url": server.url}
    evaluate(model="openai", task="corr2cause", prompt="confidence", limit=80, cache="off", **told)
    server.close()

    def of_runs():
        return {chart["source"]: chart for chart in charts_of(find_runs(["results"])) if chart["kind"] == "reliability"}

    return of_runs


def test_a_chart_has_the_runs_that_say_how_likely_yes_is(charts):
    found = json.loads(json.dumps(charts()))
    assert {source: [row["label"].split(" ")[0] for row in chart["rows"]] for source, chart in found.items()} == {
        "probability": ["linear"],
        "stated": ["talker"],
    }
    for row in (found["probability"]["rows"][0], found["stated"]["rows"][0]):
        (run,) = (run for run in find_runs(["results"]) if run.model == row["label"].split(" ")[0])
        answers = [(record.answer, record.labels["published"]) for record in run.records()]
        given = [(a.probability, gold) for a, gold in answers if a.probability is not None]
        if run.model == "talker":
            sure = [(a, gold) for a, gold in answers if a.stated_confidence is not None]
            given = [(a.stated_confidence if a.label == 1 else 1 - a.stated_confidence, gold) for a, gold in sure]
            assert 0 < len(given) < 80  # "high" is no number
        assert sum(one["items"] for one in row["bins"]) == len(given)
        assert row["brier"] == pytest.approx(sum((p - gold) ** 2 for p, gold in given) / len(given))
        if run.model == "linear":
            assert row["brier"] == pytest.approx(run.scores["brier"].value)
            assert row["brier_interval"] == pytest.approx(run.scores["brier"].interval, abs=2e-6)


@pytest.mark.slow
def test_a_run_that_has_lost_its_records_is_named(charts, tmp_path):
    next(path for path in tmp_path.rglob("records.jsonl") if "linear" in str(path)).unlink()
    assert set(charts()) == {"stated"}
    assert any("linear" in note for note in charts()["stated"]["notes"])
