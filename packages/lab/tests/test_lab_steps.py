"""Claims judged one by one: arguments that are right, or wrong in a known way, are found out as what they are."""

from __future__ import annotations

import json

import pytest
from harness_lab.judging import judge
from harness_lab.steps import scores_of
from harness_lab.steps_command import StepsSettings, job
from support.openai_server import chat_reply
from support_lab import argued

from harness import evaluate, load_run
from harness.causal.dag import from_edges
from harness.errors import DataError
from harness.tables.table import Table
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import universe
from harness.tasks.corr2cause.text import LETTERS, premise, read_premise

SETTINGS = {"task": "corr2cause", "split": "all", "num_nodes": [3, 4], "perturbation": "permutation"}


@pytest.fixture
def run(serve, tmp_path, key):
    """Return a function that runs a model whose replies a function of the question writes."""

    def of(write, **more):
        server = serve(lambda path, body, number: chat_reply(write(body["messages"][-1]["content"])))
        model = {"model.base_url": server.url, "model.model": "m", "cache": "off"}
        settings = {**SETTINGS, "limit": 40, "results": str(tmp_path), **model, **more}
        return evaluate(model="openai", prompt="trace", **settings)

    return of


def told(run):
    """Return a run's first row of each table by columns: the shares of claims, and where replies break first."""
    tables = [part for part in job([str(run.folder)], StepsSettings(by=())) if isinstance(part, Table)]
    return [
        {key: cell.value for c, cell in zip(t.columns, t.lines[0].cells, strict=True) for key in (c.name, c.title)}
        for t in tables
    ]


def test_right_arguments_have_no_fault(run):
    right = run(argued)
    values, breaks = told(right)
    assert values["entailed"] == values["argued"] == values["read"] == values["right"] == 1
    assert values["leaps"] == values["right_unsound"] == values["sound_wrong"] == 0
    assert set(scores_of(load_run(right.folder)).supports) == {"follows", "of a class"} and breaks["nowhere"] == 1


def test_who_forgets_colliders_breaks_at_colliders(run, tmp_path):
    forgets = run(lambda words: argued(words, colliders=False))
    values, at = told(forgets)
    assert values["refuted"] > 0 == values["open"] and values["leaps"] > 0  # the premise does not let them follow
    assert at["collider"] > 0 == at["edge"] + at["independence"] + at["direction"]
    out = tmp_path / "steps.json"
    *_, table = [part for part in job([str(forgets.folder)], StepsSettings(out=str(out))) if isinstance(part, Table)]
    groups = [line.cells[1].text for line in table.lines]
    assert groups[:3] == ["all", "relation parent", "relation ancestor"] and json.loads(out.read_text())
    for line in table.lines:
        assert sum(cell.value or 0 for cell in line.cells[3:]) == pytest.approx(1)


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
def test_a_claim_is_judged_by_the_premise_and_by_what_it_names(line, verdict, support):
    before = ("A and B are adjacent", "B and C are adjacent", "A and C are not adjacent")
    reply = "\n".join([*(f"{k}. {claim} [premise]" for k, claim in enumerate(before, start=1)), line])
    judged = judge(reply, read_premise(COLLIDER))
    step = next(one for one in judged.claims if one.claim.number == 4)
    assert (step.verdict, step.support) == (verdict, support)
    assert [one.support for one in judged.claims[:3]] == ["follows"] * 3


@pytest.mark.parametrize("n", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_every_line_of_a_right_argument_follows(n):
    for claim in list(universe([n], split="all", seed=1))[:: 2001 if n == 5 else 20001]:
        item = ItemWriter("varied", 1).item(claim)
        judged = judge(argued(item.fields["input"]), read_premise(item.fields["premise"]))
        assert {one.verdict for one in judged.claims} == {"entailed"}
        assert {one.support for one in judged.claims} <= {"follows", "of a class"}


def test_runs_without_words_are_refused(tmp_path):
    ranked = evaluate(model="hypothesis_only", task="corr2cause", limit=20, results=str(tmp_path))
    with pytest.raises(DataError, match="has claims"):
        job([str(ranked.folder)], StepsSettings())
