"""Reliability diagrams of runs: probabilities and stated confidence each in a chart of its own."""

from __future__ import annotations

import json
import random

import pytest
from support.openai_server import Server, chat_reply

from harness import evaluate
from harness.charts import as_json, charts_of
from harness.leaderboard.comparable import find_runs


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
        return {
            chart.body["source"]: as_json(chart)
            for chart in charts_of(find_runs(["results"]))
            if chart.kind == "reliability"
        }

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
