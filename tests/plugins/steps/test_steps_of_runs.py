"""Runs that argue: each baseline is found out as what it is, in tables, in the figure and in the export."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from support.openai_server import KEY, chat_reply
from support.thinned import few

from harness import evaluate, load_run
from harness.causal.dag import from_edges
from harness.errors import DataError
from harness.plugins.steps.command import StepsSettings, job
from harness.plugins.steps.export import write
from harness.plugins.steps.judging import judge
from harness.plugins.steps.models import Arguer
from harness.plugins.steps.runs import judged_replies
from harness.plugins.steps.scores import breaks_at, counted
from harness.tables.table import Table
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import universe
from harness.tasks.corr2cause.text import LETTERS, premise, read_premise

MODELS = ("argues_right", "forgets_colliders", "orients_at_random", "argues_wrong")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    results = tmp_path_factory.mktemp("argued")
    return {
        model: evaluate(
            model=model, task="corr2cause", prompt="trace", split="all", num_nodes=[3, 4], perturbation="permutation",
            limit=60, results=str(results),
        )
        for model in MODELS
    }  # fmt: skip


def scores_of(run):
    return counted(judged_replies(run))


def shares(run):
    scores = scores_of(run)
    row = scores.scores({})["overall"]["all"]
    return {metric.name: metric.value for metric in row.metrics}, scores


@pytest.mark.slow
def test_right_arguments_have_no_fault(runs):
    values, scores = shares(runs["argues_right"])
    assert values["entailed"] == values["argued"] == values["read"] == values["right"] == values["at nowhere"] == 1
    assert values["leaps"] == values["right_unsound"] == values["sound_wrong"] == 0
    assert not scores.places and set(scores.supports) == {"follows", "of a class"}


def test_who_forgets_colliders_breaks_at_colliders(runs):
    values, scores = shares(runs["forgets_colliders"])
    assert values["at collider"] > 0 and values["at edge"] == values["at independence"] == values["at direction"] == 0
    assert {name.partition(" (")[0] for name in scores.first} == {"no collider"}
    assert {name.rpartition("(")[2] for name in scores.first} == {"refuted)"}
    assert values["leaps"] > 0  # the premise does not let them follow


def test_who_orients_at_random_breaks_at_directions_that_are_open(runs):
    values, scores = shares(runs["orients_at_random"])
    assert values["refuted"] == 0 < values["open"]
    assert values["at direction"] > 0 == values["at edge"] + values["at collider"]
    assert set(scores.first) == {"direct cause (open)"} and values["leaps"] > 0
    assert values["right"] < 1


def test_who_argues_wrong_has_right_answers_on_refuted_chains(runs):
    values, scores = shares(runs["argues_wrong"])
    assert values["right"] == values["right_unsound"] == values["at edge"] == 1
    assert values["sound_wrong"] is None and values["entailed"] < 0.5
    assert Counter(scores.places).most_common(1)[0][0] == 1


def test_the_tables_say_so(runs, tmp_path):
    folders = [str(run.folder) for run in runs.values()]
    out, chart = tmp_path / "steps.json", tmp_path / "steps.svg"
    parts = job(folders, StepsSettings(by=("relation",), out=str(out), chart=str(chart)))
    verdicts, breaks = [part for part in parts if isinstance(part, Table)]
    places = [column.name for column in verdicts.columns]
    rows = {line.cells[0].text: dict(zip(places, line.cells, strict=True)) for line in verdicts.lines}
    assert rows["argues_wrong"]["right_unsound"].text == "100.00" and rows["argues_right"]["entailed"].text == "100.00"
    assert rows["forgets_colliders"]["refuted"].interval is not None
    groups = [line.cells[1].text for line in breaks.lines if line.cells[0].text == "argues_right"]
    assert groups[:3] == ["all", "relation parent", "relation ancestor"]
    for line in breaks.lines:
        assert sum(cell.value or 0 for cell in line.cells[3:]) == pytest.approx(1)
    assert json.loads(out.read_text())
    assert "argues_right" in chart.read_text()


@pytest.mark.slow
def test_steps_with_labels_are_exported(runs, tmp_path):
    place = tmp_path / "steps.jsonl"
    sentence = write(list(runs.values()), str(place))
    rows = [json.loads(line) for line in place.read_text().splitlines()]
    assert len(rows) == 240 and "in 240 replies of 4 runs" in sentence
    for row in rows:
        assert len(row["completions"]) == len(row["labels"]) == len(row["verdicts"]) + 1
        assert row["completions"][-1].startswith("Answer: ") and row["prompt"].startswith("Suppose there is a closed")
        assert row["labels"][:-1] == [verdict == "entailed" for verdict in row["verdicts"]]
    assert all(all(row["labels"]) for row in rows if row["run"]["model"] == "argues_right")
    assert all(row["labels"][-1] and not row["labels"][0] for row in rows if row["run"]["model"] == "argues_wrong")


@pytest.mark.parametrize(
    "text",
    few(["Answer: Yes", "1.", "1. A and", "7. Q and R are adjacent [99]", "1. A and B are adjacent [1]\n" * 300], 3),
)
def test_half_and_endless_replies_are_counted(text, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = serve(lambda path, body, number: chat_reply(text))
    run = evaluate(
        model="gpt4", task="corr2cause", prompt="trace", limit=6, cache="off", results=str(tmp_path),
        **{"model.base_url": server.url, "pause": False},
    )  # fmt: skip
    scores = counted(judged_replies(run))
    assert scores.replies == 6
    assert scores.scores({})["overall"]["all"]["argued"] == ("1. A and B are" in text)
    assert set(scores.supports) <= {"circular"}
    assert scores.unknown == (6 if "Q" in text else 0)


def test_a_sound_chain_may_end_in_the_wrong_answer(runs):
    run = load_run(runs["argues_right"].folder)
    [reply, *_] = judged_replies(run)
    assert breaks_at(reply.judged, right=False) == "last" and breaks_at(reply.judged, right=True) == "nowhere"


COLLIDER = premise(from_edges(3, [(0, 1), (2, 1)]), LETTERS)  # A → B ← C


@pytest.mark.parametrize(
    ("line", "verdict", "support"),
    [
        ("4. B is a collider between A and C [1, 2, premise]", "entailed", "follows"),
        ("4. B is a collider between A and C [1, 2, 3]", "entailed", "leap"),
        ("4. A directly causes B [1]", "entailed", "leap"),
        ("4. A directly causes B [premise]", "entailed", "leap"),
        ("4. A and C are independent [premise]", "entailed", "follows"),
        ("4. A and C are independent [3]", "entailed", "leap"),
        ("4. A and C are dependent given B [premise]", "entailed", "follows"),
        ("4. A and C are adjacent [premise]", "refuted", "leap"),
        ("4. A and C are adjacent [3]", "refuted", "leap"),
        ("4. A and C are adjacent [5]\n5. A and C are not adjacent [premise]", "refuted", "leap"),
        ("4. A causes C [5, 3]\n5. A and C are adjacent [premise]", "refuted", "contradiction"),
        ("4. B does not cause A [6]\n6. A directly causes B [1]", "entailed", "follows"),
        ("4. It is open whether A directly causes B [1]", "refuted", "of a class"),
        ("4. A directly causes B", "entailed", "names nothing"),
        ("4. A directly causes B [8]", "entailed", "names what is not there"),
        ("4. A directly causes B [4]", "entailed", "circular"),
    ],
)
def test_a_step_is_judged_by_the_premise_and_by_what_it_names(line, verdict, support):
    before = ("A and B are adjacent", "B and C are adjacent", "A and C are not adjacent")
    reply = "\n".join([*(f"{k}. {claim} [premise]" for k, claim in enumerate(before, start=1)), line])
    judged = judge(reply, read_premise(COLLIDER))
    step = next(step for step in judged.steps if step.step.number == 4)
    assert (step.verdict, step.support) == (verdict, support)
    assert [step.support for step in judged.steps[:3]] == ["follows"] * 3


@pytest.mark.parametrize("n", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_every_line_of_a_right_argument_follows(n):
    for claim in list(universe([n], split="all", seed=1))[:: 2001 if n == 5 else 20001]:
        item = ItemWriter("varied", 1).item(claim)
        reply = Arguer("argues_right", "any").answer(item.fields["input"])
        judged = judge(reply, read_premise(item.fields["premise"]))
        assert {step.verdict for step in judged.steps} == {"entailed"}
        assert {step.support for step in judged.steps} <= {"follows", "of a class"}


def test_runs_without_words_or_premises_are_refused(tmp_path):
    ranked = evaluate(model="hypothesis_only", task="corr2cause", limit=20, results=str(tmp_path))
    with pytest.raises(DataError, match="has claims"):
        job([str(ranked.folder)], StepsSettings())


def test_runs_about_other_premises_are_left_out_beside_others(runs, tmp_path, capsys):
    other = evaluate(
        model="reasoner",
        task="corr2cause/latent",
        prompt="cot",
        num_nodes=[3],
        draw="all",
        limit=6,
        results=str(tmp_path),
    )
    with pytest.raises(DataError, match="Corr2Cause alone"):
        job([str(other.folder)], StepsSettings())
    job([str(other.folder), str(runs["argues_right"].folder)], StepsSettings())
    assert "Left out" in capsys.readouterr().err
