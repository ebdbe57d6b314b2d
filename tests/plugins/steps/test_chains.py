"""Replies to CausalBench's chains of causes: which link is said wrongly first, in tables, figure and page."""

from __future__ import annotations

import re
from itertools import permutations

import networkx as nx
import pytest
from support.openai_server import KEY, chat_reply

from harness import evaluate
from harness.errors import DataError
from harness.plugins.steps.chains import Links, judge_chain, values_of
from harness.plugins.steps.command import StepsSettings, job
from harness.plugins.steps.page import sections
from harness.tables.table import Table
from harness.tasks.causalbench.chains import Chains

QUESTION = "If A causes B, B causes C and D causes E, does A cause E?"
RIGHT = "1. A causes B\n2. B causes C\n3. A causes C\n4. A does not cause E\nAnswer: No"


@pytest.mark.parametrize(
    ("reply", "place", "claims", "links"),
    [
        (RIGHT, "nowhere", 4, 2 / 3),
        ("A causes B, and B causes C, so A causes C.\nAnswer: No", "nowhere", 3, 2 / 3),
        ("A → B → C. D → E. Hence A does not cause E.", "nowhere", 4, 1),
        ("1. A directly causes C", "nowhere", 1, 0),  # an arrow may stand for a way
        ("1. A does not directly cause C", "nowhere", 1, 0),
        ("1. A does not directly cause B", "denied", 1, 0),
        ("1. A causes B\n2. C causes A\n3. A does not cause B", "turned", 3, 1 / 3),
        ("1. A causes B\n2. C causes D\n3. C causes A", "invented", 3, 1 / 3),
        ("1. A does not cause C\n2. C causes D", "denied", 2, 0),
        ("1. A causes F", None, 0, None),
        ("Suppose C causes D. Then A would cause E.\nAnswer: No", None, 0, None),
        ("1. A and B are adjacent\n2. It is open whether C causes D", None, 0, None),
        ("No", None, 0, None),
        ("", None, 0, None),
    ],
)
def test_the_first_wrong_claim_is_found(reply, place, claims, links):
    judged = judge_chain(reply, QUESTION, right=True)
    assert (judged.place, len(judged.claims)) == (place, claims)
    assert values_of(judged)["links"] == (None if links is None else pytest.approx(links))


def test_right_claims_with_a_wrong_answer_break_at_the_last_line():
    assert judge_chain(RIGHT, QUESTION, right=False).place == "last"


def test_every_claim_about_every_chain_is_judged_by_the_ways_of_its_graph():
    for item in Chains("causalbench/cot", ("closed",)).items():
        if int(item.groups["length"]) > 9:
            continue
        links = Links.read(f"{item.fields['question']} Say such as 1. X causes Z")
        graph = nx.DiGraph(links.links)
        assert len(links.links) == item.fields["question"].count(" causes ")
        for a, b in permutations(links.names, 2):
            judged = judge_chain(f"1. {a} causes {b}", item.fields["premise"], right=True)
            there = nx.has_path(graph, a, b)
            assert (judged.place == "nowhere") is there
            assert judge_chain(f"1. {a} does not cause {b}", item.fields["premise"], right=True).place == (
                "denied" if there else "nowhere"
            )


def argue(question, turned):
    """Say every link, one of them the wrong way round in chains of four letters and more; then the right answer."""
    links = Links.read(question)
    pairs = sorted(links.links)
    if turned and len(pairs) > 2:
        pairs[1] = pairs[1][::-1]
    lines = [f"{k}. {a} causes {b}" for k, (a, b) in enumerate(pairs, start=1)]
    a, b = re.search(r"does ([A-Z]) cause ([A-Z])\?", question).groups()
    return "\n".join([*lines, f"Answer: {'Yes' if (a, b) in links.ways else 'No'}"])


@pytest.fixture
def run_of(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def run(reply, prompt="trace"):
        server = serve(lambda path, body, number: chat_reply(reply(body["messages"][-1]["content"])))
        return evaluate(
            model="gpt4", task="causalbench/cot", prompt=prompt, limit=24, cache="off", results=str(tmp_path / prompt),
            **{"model.base_url": server.url},
        )  # fmt: skip

    return run


def test_who_turns_a_link_round_is_found_out_although_the_answers_are_right(run_of, tmp_path):
    run = run_of(lambda question: argue(question, turned=True))
    assert run.scores["accuracy"].value == 1
    parts = job([str(run.folder)], StepsSettings(chart=str(tmp_path / "chart.svg")))
    claims, breaks = [part for part in parts if isinstance(part, Table)]
    row = {column.name: cell.value for column, cell in zip(claims.columns, claims.lines[0].cells, strict=True)}
    assert row["right"] == row["argued"] == 1 and row["right_unsound"] > 0.8 and row["sound_wrong"] == 0
    rows = {line.cells[1].text: [cell.value for cell in line.cells[2:]] for line in breaks.lines}
    assert rows["all"][0] == row["right_unsound"] and rows["all"][1:4] == [0, 0, 0] and "kind reversed" in rows
    assert all(sum(row) == pytest.approx(1) for row in rows.values())
    (remark,) = [part for part in parts if isinstance(part, str)]
    assert "the first wrong claim is mostly C causes B" in remark
    assert "a link turned round" in (tmp_path / "chart.svg").read_text()
    said = [section for *_, section in sections(run)]
    assert len(said) == 24 and {value for one in said for _, value in one.filters} == {"a link turned round", "nowhere"}
    wrong = next(line for one in said for line in one.lines if not line.verdicts[0].good)
    assert wrong.text.endswith("C causes B") and wrong.why == ("The links do not lead from C to B.",)


def test_right_claims_have_no_fault_and_bare_answers_no_claims(run_of):
    run = run_of(lambda question: argue(question, turned=False))
    _, breaks = job([str(run.folder)], StepsSettings(by=("length",)))
    assert breaks.lines[0].cells[-1].value == 1 and breaks.lines[1].cells[1].text.startswith("length ")
    bare = run_of(lambda question: "Yes", prompt="closed")
    with pytest.raises(DataError, match="has claims that can be read"):
        job([str(bare.folder)], StepsSettings())
