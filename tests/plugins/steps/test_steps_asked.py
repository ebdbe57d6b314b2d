"""task=corr2cause/steps: what is asked, how lists are read and scored, where each baseline breaks."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from support.openai_server import KEY, chat_reply, error
from support.thinned import few

from harness import evaluate
from harness.errors import RunStopped
from harness.plugins.steps.command import StepsSettings, job
from harness.plugins.steps.metrics import QUESTIONS
from harness.plugins.steps.models import Arguer
from harness.plugins.steps.questions import read_parts
from harness.prompting.listing import entries, listing
from harness.settings import build
from harness.tasks.corr2cause.text import Premise
from harness.types import Response
from harness.verify import __main__ as verify

ABC = Premise(("A", "B", "C"), frozenset())


def task(**settings):
    target = {"_target_": "harness.plugins.steps.task.Steps", "name": "corr2cause/steps", "prompts": ["asked"]}
    return build({**target, **settings}, "task")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Answer: A - B; B - C", ("A - B", "B - C")),
        ("We see.\n\n**Answer:** A - B, B - C.", ("A - B", "B - C")),
        ("Answer: `A -> B` and `C -> B`", ("A -> B", "C -> B")),
        ("Answer:\n- A - B\n- B - C", ("A - B", "B - C")),
        ("Answer:\n1. A → B\n2. C → B\n", ("A → B", "C → B")),
        ("Answer: (A, B, C), (B, C, D)", ("A, B, C", "B, C, D")),
        ("answers are: A–B", ("A–B",)),
        ("Answer: A - B\n\nWait, once more.\n\nFinal answer: B - C", ("B - C",)),
        ("Answer: none", ()),
        ("Answer: There are none.", ()),
        ("Answer: no triples", ()),
        ("A - B; B - C", None),
        ("The answer is hard to tell.", None),
        ("Answer:", None),
        ("", None),
    ],
)
def test_lists_are_read(reply, expected):
    assert entries(listing(Response(reply))) == expected


def test_yes_and_no_are_read_and_a_list_that_was_cut_off_is_not():
    assert [listing(Response(f"Answer: {word}.")).label for word in ("Yes", "no", "**Yes**")] == [1, 0, 1]
    assert listing(Response("Answer: A - B; B", finish_reason="length")).label is None
    assert entries(listing(Response("Answer: Yes"))) is None


@pytest.mark.parametrize(
    ("question", "words", "parts", "others"),
    [
        ("edges", ("B - A", "b – c", "A - A", "A - F", "A"), {(0, 1), (1, 2)}, 3),
        ("directions", ("A -> B", "C <- B", "C → A"), {(0, 1), (1, 2), (2, 0)}, 0),
        ("directions", ("A ← B",), {(1, 0)}, 0),
        ("triples", ("C - B - A", "A, C, B", "A - B"), {(0, 1, 2), (0, 2, 1)}, 1),
        ("colliders", ("A -> B <- C",), {(0, 1, 2)}, 0),
    ],
)
def test_entries_are_pairs_and_triples(question, words, parts, others):
    assert read_parts(question, words, ABC) == (parts, others)


def test_each_step_opens_with_those_before_it_and_no_answer_stands_in_it():
    items = list(islice(task(limit=20).items(), 40))
    assert [item.groups["step"] for item in items[:5]] == list(QUESTIONS)
    for item in items:
        place = QUESTIONS.index(item.fields["step"])
        assert len(item.fields["earlier"]) == place
        assert "Answer: " not in item.fields["question"].replace('"Answer: ', "")
        assert item.fields["answered"].count("\nAnswer: ") == place
        assert item.fields["premise"] in (*item.fields["earlier"], item.fields["question"])[0]
    assert len({item.id for item in items}) == len(items)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    results = str(tmp_path_factory.mktemp("asked"))
    return {
        (model, given): evaluate(
            model=model, task="corr2cause/steps", given=given, num_nodes=[4], limit=36, results=results
        )
        for model in ("argues_right", "forgets_colliders", "orients_at_random", "argues_wrong")
        for given in ("own", "truth")
    }


def overall(run):
    return run.result.scores["audited"]["overall"]["all"]


def step(run, name):
    return run.result.scores["audited"]["step"][name]


@pytest.mark.parametrize("given", few(["truth", "own"], 1))
def test_each_baseline_breaks_where_it_should(runs, given):
    assert overall(runs["argues_right", given])["step_exact"] == 1 == overall(runs["argues_right", given])["step_own"]
    assert overall(runs["argues_right", given])["first_nowhere"] == 1

    forgets = runs["forgets_colliders", given]
    assert step(forgets, "edges")["step_exact"] == step(forgets, "triples")["step_f1"] == 1
    assert step(forgets, "colliders")["step_recall"] == 0 and step(forgets, "colliders")["step_precision"] is None
    assert overall(forgets)["first_colliders"] > 0.2 and overall(forgets)["first_directions"] == 0

    random = runs["orients_at_random", given]
    assert step(random, "colliders")["step_exact"] == 1 == step(random, "directions")["step_recall"]
    assert step(random, "directions")["step_precision"] < 1
    assert overall(random)["first_directions"] > 0.2 and overall(random)["step_own"] == 1

    wrong = runs["argues_wrong", given]
    assert step(wrong, "answer")["step_exact"] == 1 == overall(wrong)["first_edges"]
    assert step(wrong, "edges")["step_f1"] == 0


def test_the_command_shows_them(runs, tmp_path):
    out = tmp_path / "asked.json"
    parts = job([str(run.folder) for run in runs.values()], StepsSettings(by=("relation",), out=str(out)))
    steps, breaks = parts
    assert len(steps.lines) == 8 and len(breaks.lines) == 8 * 7
    assert {line.cells[1].text for line in steps.lines} == {"its own replies", "the right answers"}
    for line in breaks.lines:
        assert sum(cell.value or 0 for cell in line.cells[3:]) == pytest.approx(1)
    assert json.loads(out.read_text())


def test_a_chain_asks_each_turn_once_and_goes_on_from_its_own_replies(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguer, bodies = Arguer("forgets_colliders", "any"), []

    def reply(path, body, number):
        bodies.append(body)
        users = [message["content"] for message in body["messages"] if message["role"] == "user"]
        return chat_reply(arguer.answer("\n\n".join(users)))

    server = serve(reply)
    settings = {"model.base_url": server.url, "cache.path": str(tmp_path / "answers.sqlite")}
    run = evaluate(model="gpt4", task="corr2cause/steps", num_nodes=[3, 4], limit=6, results=str(tmp_path), **settings)
    items = overall(run).items
    assert items > 6 and len(bodies) == items == len({json.dumps(body["messages"]) for body in bodies})
    longest = max(bodies, key=lambda body: len(body["messages"]))["messages"]
    assert [message["role"] for message in longest] == ["user", "assistant"] * 4 + ["user"]
    assert all(message["content"].startswith("Answer: ") for message in longest[1::2])


@pytest.mark.parametrize(
    "text", few(["", "Answer: Q - R; A - A; " + "A - B - C - D; " * 2000, "Answer: yes", "no idea"], 2)
)
def test_replies_that_are_no_list_are_counted(text, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = serve(lambda path, body, number: chat_reply(text))
    run = evaluate(
        model="gpt4", task="corr2cause/steps", given="truth", num_nodes=[4], limit=3, results=str(tmp_path),
        **{"model.base_url": server.url, "pause": False, "cache.path": str(tmp_path / "answers.sqlite")},
    )  # fmt: skip
    assert step(run, "edges")["step_exact"] == 0 and overall(run)["first_edges"] == 1


def test_an_entry_too_many_is_a_wrong_one(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguer = Arguer("argues_right", "any")
    server = serve(lambda path, body, number: chat_reply(f"{arguer.answer(body['messages'][-1]['content'])}; Q - R"))
    run = evaluate(
        model="gpt4", task="corr2cause/steps", given="truth", num_nodes=[4], limit=3, results=str(tmp_path),
        **{"model.base_url": server.url, "pause": False, "cache.path": str(tmp_path / "answers.sqlite")},
    )  # fmt: skip
    edges = step(run, "edges")
    assert edges["step_recall"] == 1 > edges["step_precision"] and edges["step_exact"] == 0


def test_a_run_that_was_stopped_goes_on_and_is_verified(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguer = Arguer("argues_right", "any")
    stopping = {"after": 9}

    def reply(path, body, number):
        if number > stopping["after"]:
            return error(401, "no more")
        users = [message["content"] for message in body["messages"] if message["role"] == "user"]
        return chat_reply(arguer.answer("\n\n".join(users)))

    server = serve(reply)
    settings = {
        "num_nodes": [3, 4], "limit": 6, "results": str(tmp_path / "results"), "model.base_url": server.url,
        "model.max_concurrency": 1, "cache.path": str(tmp_path / "answers.sqlite"),
    }  # fmt: skip
    with pytest.raises(RunStopped):
        evaluate(model="gpt4", task="corr2cause/steps", **settings)
    stopping["after"] = 1000
    before = len(server.calls)
    run = evaluate(model="gpt4", task="corr2cause/steps", **settings)
    assert overall(run)["step_exact"] == 1 and len(server.calls) - before == overall(run).items - 9
    assert verify.main([str(run.folder)]) == 0
