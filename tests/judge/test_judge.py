"""judge=…: another model reads the replies in which the rules find no answer."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from support import forks
from support.cli_help import sentence
from support.judge_help import MUDDLED, VAGUE, command, judges, replies, words
from support.openai_server import KEY, WAIT, chat_reply, error, wait_for

from harness.errors import ConfigError
from harness.judge import judge_of, judge_prompt, request_to_judge
from harness.storage.runs import load

PLACE, JUDGED_PLACE = (f"results/corr2cause/{variant}/plain/gpt4" for variant in ("limit=60", "limit=60,judge=careful"))


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_a_judge_reads_what_the_rules_cannot(harness, serve, tmp_path):
    server = serve(replies())
    plain = harness(*command(server, judge=False), OPENAI_API_KEY=KEY)
    assert plain.returncode == 0, plain.stderr
    before, asked = load(tmp_path / PLACE), len(server.calls)
    assert 0 < before.result.overall.unreadable < 60
    done = harness(*command(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    # The model is not asked again; the judge is asked once about each reply and statement, and never told the label.
    to_judge = server.calls[asked:]
    assert all(map(judges, to_judge)) and len({words(call) for call in to_judge}) == len(to_judge)
    unread = [line for line in lines(tmp_path / PLACE) if line["answer"]["label"] is None]
    assert len(unread) == before.result.overall.unreadable
    texts = {line["response"]["text"] for line in unread}
    assert texts == {VAGUE, MUDDLED}
    # Its readings stand in the records with its words, and all other records are as before.
    after = load(tmp_path / JUDGED_PLACE)
    by_item = {line["item"]: line for line in lines(tmp_path / JUDGED_PLACE)}
    for line in lines(tmp_path / PLACE):
        now = by_item[line["item"]]
        if line["answer"]["label"] is not None:
            assert now | {"response": None} == line | {"response": None, "judge": now["judge"]}
            continue
        said, label = ("yes", 1) if line["response"]["text"] == VAGUE else ("unreadable", None)
        assert now["answer"] == {"label": label, "probability": None, "span": said, "rule": "judge"}
        assert now["judge"]["response"]["text"] == said
    # Result and table say how many, by whom, and the scores without it.
    judged = after.result.judge
    vague = sum(line["response"]["text"] == VAGUE for line in unread)
    assert (judged.model, judged.replies, judged.yes, judged.no) == ("careful", len(unread), vague, 0)
    assert judged.unreadable == after.result.overall.unreadable == len(unread) - vague
    assert judged.without == before.result.overall
    assert judged.usage.input == 11 * len(to_judge)
    assert f"went to the judge careful: {vague:,} read as Yes" in " ".join(done.stdout.split())
    assert f"Without the judge: F1 {100 * before.scores['f1'].value:.2f}" in " ".join(done.stdout.split())
    verified = harness("results", module="harness.verify")
    assert verified.returncode == 0 and "2 of 2 runs hold." in verified.stdout, verified.stdout
    board = harness("results", "out=-", module="harness.leaderboard")
    assert f"gpt4, limit=60,judge=careful, plain: {len(unread)} replies" in board.stdout
    # What it read is not firm: tables say how many, and how far the scores would move.
    assert after.result.grades["judged"] == vague and "read by the judge. If only" in " ".join(done.stdout.split())
    assert f"{(60 - len(unread)) / (60 - len(unread) + vague):.1%}" in board.stdout and "firm" in board.stdout
    # The plain run is as it was, and a judged one that is run again asks nothing.
    assert load(tmp_path / PLACE).result_json == before.result_json
    asked = len(server.calls)
    assert harness(*command(server), OPENAI_API_KEY=KEY).returncode == 0
    assert len(server.calls) == asked


@pytest.mark.slow
def test_the_plan_and_the_budget_know_of_the_judge(harness, serve, tmp_path):
    server = serve(replies())
    price = [f"{part}.price.{kind}=1" for part in ("model", "judge") for kind in ("input", "output")]
    planned = harness(*command(server, *price, "dry_run=true"), OPENAI_API_KEY=KEY)
    assert "Judge: at most 60 replies judged by careful" in planned.stdout, planned.stdout + planned.stderr
    assert harness(*command(server, *price[:2], judge=False), OPENAI_API_KEY=KEY).returncode == 0
    asked, unread = len(server.calls), load(tmp_path / PLACE).result.overall.unreadable
    planned = harness(*command(server, *price, "dry_run=true"), OPENAI_API_KEY=KEY)
    assert "at most 60 replies judged by careful" in planned.stdout and len(server.calls) == asked
    stopped = harness(*command(server, *price, "budget.requests=3"), OPENAI_API_KEY=KEY)
    assert stopped.returncode == 1 and "budget.requests=3 is reached" in stopped.stderr, stopped.stderr
    assert len(server.calls) == asked + 3
    half = load(tmp_path / JUDGED_PLACE)
    assert not half.complete and half.result.judge.replies == 3
    done = harness(*command(server, *price), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    whole = load(tmp_path / JUDGED_PLACE)
    cost, tokens = whole.result_json["judge"]["cost"], whole.result_json["judge"]["usage"]
    assert whole.complete and cost["answers"] == sum(map(judges, server.calls)) > unread
    assert math.isclose(cost["usd"], (tokens["input"] + tokens["output"]) / 1e6)
    assert whole.result_json["cost"] == load(tmp_path / PLACE).result_json["cost"]
    verified = harness(JUDGED_PLACE, module="harness.verify")
    assert verified.returncode == 0, verified.stdout


def test_a_judge_that_fails_leaves_the_reply_unreadable(harness, serve, tmp_path):
    broken = [True]
    server = serve(replies(lambda asked: error(400, "no") if broken[0] and VAGUE in asked else chat_reply("Yes.")))
    done = harness(*command(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 1 and "bad_request): the same command asks for them" in done.stderr, done.stderr
    run = load(tmp_path / JUDGED_PLACE)
    failed = sum(run.result.judge.failures.values())
    assert not run.complete and failed == run.result.overall.unreadable > 0
    broken[0] = False
    done = harness(*command(server), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / JUDGED_PLACE)
    assert run.complete and run.result.overall.unreadable == 0 and not run.result.judge.failures


@pytest.mark.slow
def test_a_judge_that_cannot_be_reached_is_named_and_so_are_the_replies_that_wait(harness, serve, tmp_path):
    server = serve(replies())
    assert harness(*command(server, judge=False), OPENAI_API_KEY=KEY).returncode == 0
    settings = ["judge.base_url=http://localhost:9/v1"]
    count = load(tmp_path / PLACE).result.overall.unreadable
    stopped = harness(*command(server, *settings), OPENAI_API_KEY=KEY)
    assert stopped.returncode == 1 and "check judge.base_url (http" in stopped.stderr, stopped.stderr
    assert "model.base_url" not in stopped.stderr and "not asked" not in stopped.stdout
    assert f"{count} replies still wait for the judge careful." in stopped.stdout, stopped.stdout
    assert not load(tmp_path / JUDGED_PLACE).complete and load(tmp_path / JUDGED_PLACE).result.judge.waiting == count
    assert "judge.base_url=localhost is no address" in sentence(harness("judge=gpt4", "judge.base_url=localhost"))


@pytest.mark.slow
def test_ctrl_c_while_the_judge_reads_loses_nothing(harness, serve, tmp_path):
    server = serve(replies(), held=70)
    environment = os.environ | {"OPENAI_API_KEY": KEY}
    job = forks.Command("harness", command(server, "judge.max_concurrency=2"), tmp_path, environment)
    server.wait_for_calls(71)
    job.send_signal(2)
    wait_for(lambda: "stopping" in job.output)
    server.held = math.inf
    _, errors = job.communicate(WAIT)
    assert job.returncode == 130, errors
    run = load(tmp_path / JUDGED_PLACE)
    assert not run.complete and run.result.judge.replies == len(server.calls) - 60
    assert harness(*command(server), OPENAI_API_KEY=KEY).returncode == 0
    assert load(tmp_path / JUDGED_PLACE).complete
    assert len({words(call) for call in server.calls}) == len(server.calls)


@pytest.mark.slow
def test_what_cannot_judge_is_refused(harness):
    assert "writes no replies" in sentence(harness("judge=always_yes"))
    assert "no judge 'gpt44'" in sentence(harness("judge=gpt44"))
    assert "choose one with judge=" in sentence(harness("judge.temperature=1"))
    assert "OPENAI_API_KEY" in sentence(harness("judge=gpt4"))


def test_a_judge_that_was_told_to_rank_is_refused(key):
    ranker = {
        "_target_": "harness.models.api.openai.Chat",
        "name": "j",
        "model": "j",
        "base_url": "http://localhost/v1",
    }
    with pytest.raises(ConfigError, match=r"judge\.method=rank: .* leave judge\.method out"):
        judge_of(ranker | {"method": "rank"}, judge_prompt(), asks=True)
    assert judge_of(ranker, judge_prompt(), asks=True).name == "j"


def test_a_long_reply_is_shown_by_its_two_ends():
    request = request_to_judge(judge_prompt(), {"statement": "A causes B"}, "first" + "x" * 10**6 + "last {statement}")
    text = request.messages[-1].content
    assert "first" in text and "last {statement}" in text and "A causes B" in text and len(text) < 50_000
