"""Requests written as a batch's lines, answered by anybody, and taken in: the same answers as of a live run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cache_help import command, count
from support.openai_server import KEY, chat_reply, error
from support.thinned import few

from harness.models.api.endpoint import BatchSettings
from harness.models.api.openai import Chat, Completions
from harness.plugins.batches.journal import endpoint_from_settings, settings_of
from harness.plugins.batches.lines import LONGEST, outcome_of, read_lines
from harness.types import ChatRequest, ChoiceRequest, Failure, Message

RUN = ("model=gpt4", "task.limit=12")
COMPLETIONS = ("model=openai_completions", "model.model=davinci-002")
RANKING = ("requests", "out.jsonl", *COMPLETIONS, "model.method=rank", "task.limit=2")


def said(body: dict[str, Any]) -> dict[str, Any]:
    """Return what a server says to a call: by its words alone, so that a batch and a live call get the same."""
    words = body["messages"][-1]["content"]
    return chat_reply("Yes" if len(words) % 3 else "No")


def answered(requests: Path, out: Path, of: Callable[[dict[str, Any], int], Any] = lambda line, k: None) -> Path:
    """Answer a file of requests as OpenAI and vLLM do; `of` may give another line, or several, for one."""
    lines = []
    for k, line in enumerate(map(json.loads, requests.read_text().splitlines())):
        response = {"status_code": 200, "request_id": f"r{k}", "body": said(line["body"])}
        usual = {"id": f"batch_req_{k}", "custom_id": line["custom_id"], "response": response, "error": None}
        other = of(usual, k)
        lines += [usual] if other is None else other
    out.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in reversed(lines)))
    return out


@pytest.fixture
def here(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(*arguments: str, out: str = "out.jsonl", run: tuple[str, ...] = RUN) -> str:
    done = command("requests", out, *run, "cache=answers.sqlite", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def taken(*arguments: object, cache: str = "answers.sqlite") -> str:
    done = command("import", *arguments, f"cache={cache}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def records(folder: Path) -> dict[str, Any]:
    """Return what a run has recorded of each item, but for times, and where words stand that several share."""
    (file,) = folder.rglob("records.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        del line["response"]["seconds"]
        line["response"].pop("cached", None)
        for message in line["request"]["messages"]:
            message.pop("text", None)
    return {line["item"]: line for line in lines}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param((), marks=pytest.mark.slow, id="a question"),
        pytest.param(("prompt=cot_two_step",), id="a turn before"),
    ],
)
def test_a_run_of_imported_answers_is_a_live_run(here, serve, harness, more):
    server = serve(lambda path, body, number: said(body))
    run = (f"model.base_url={server.url}", "model=gpt4", "task.limit=12", *more)
    out = written(run=run)
    if more:
        assert "12 of them are turns that the model writes before the question" in out
        assert "12 new, 0 known already" in taken(answered(here / "out.jsonl", here / "done.jsonl"))
        assert "12 answered in answers.sqlite already" not in written(run=run)
    calls = [json.loads(line) for line in (here / "out.jsonl").read_text().splitlines()]
    assert {(call["method"], call["url"]) for call in calls} == {("POST", "/v1/chat/completions")}
    assert len({call["custom_id"] for call in calls}) == 12 and all(len(call["custom_id"]) == 64 for call in calls)
    assert "12 new, 0 known already" in taken(answered(here / "out.jsonl", here / "done.jsonl"))
    assert "Nothing is left to be written" in written(run=run, out="none.jsonl") and not Path("none.jsonl").exists()
    assert server.calls == []

    frozen = harness(*run, "cache=frozen", "cache.path=answers.sqlite", "results=batch")
    live = harness(*run, "cache.path=live.sqlite", "results=live")
    assert frozen.returncode == live.returncode == 0, frozen.stderr + live.stderr
    sent = {json.dumps(body, sort_keys=True) for body in server.calls}
    assert {json.dumps(call["body"], sort_keys=True) for call in calls} <= sent
    assert records(here / "batch") == records(here / "live")


def test_what_is_no_answer_is_counted_and_asked_again(here):
    def faults(line, k):
        def wrong(status, body):
            return [line | {"response": {"status_code": status, "request_id": "", "body": body}}]

        body = line["response"]["body"]
        refused = error(400, "This model's maximum context length is 8192", "context_length_exceeded")[1]
        return {
            0: [line, line],
            1: [line | {"response": None, "error": {"code": "batch_expired", "message": "it took too long"}}],
            2: wrong(0, None),
            3: wrong(400, refused),
            4: wrong(429, error(429, "slow down", "rate_limit_exceeded")[1]),
            5: wrong(200, {"choices": []}),
            6: ["this is no JSON\n"],
            7: [line | {"custom_id": "somebody else's"}],
            8: wrong(200, body | {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}),
            9: [],
            10: [line | {"response": {"body": body}}],
        }.get(k)

    written()
    out = taken(answered(here / "out.jsonl", here / "done.jsonl", faults))
    assert "3 new, 1 known already" in out
    kinds = "1 batch_expired, 1 content_filter, 1 context_length, 1 invalid_reply, 1 rate_limit, 1 server_error"
    assert f"6 failed ({kinds}) and are not stored" in out
    assert "1 answer nothing that was written here and are set apart" in out and "1 lines are none of a batch" in out
    assert command("verify", "cache=answers.sqlite").returncode == 0
    assert "out.jsonl: 9 requests to gpt4" in written()


@pytest.mark.parametrize(
    "endpoint",
    [
        Chat(name="m", model="gpt-5", base_url="http://x/v1", temperature=None, reasoning_effort="low"),
        Chat(name="m", model="m", base_url="http://x/v1", seed=3, top_p=0.5, extra={"provider": {"only": ["a"]}}),
        Chat(name="m", model="m", base_url="http://x/v1", method="rank", batch=BatchSettings(window="48h")),
        Completions(name="m", model="m", base_url="http://x/v1", temperature=None, price={"input": 1.0, "output": 2.0}),
    ],
)
def test_a_model_is_built_again_from_the_settings_beside_its_requests(endpoint):
    assert endpoint_from_settings(settings_of(endpoint)[1]) == endpoint


@pytest.mark.slow
def test_a_batch_of_another_machine_needs_the_settings_of_its_run(here):
    written()
    answered(here / "out.jsonl", here / "done.jsonl")
    assert "0 new, 0 known already; 12 answer nothing" in taken("done.jsonl", cache="other.sqlite")
    out = taken("done.jsonl", *RUN, "model.max_concurrency=3", cache="other.sqlite")
    assert "12 new, 0 known already" in out and count(here / "other.sqlite") == 12
    # Of lines that were set apart nothing has to be imported twice.
    taken("done.jsonl", cache="third.sqlite")
    command("requests", "again.jsonl", *RUN, "cache=third.sqlite")
    (here / "empty.jsonl").write_text('{"custom_id": "another", "response": null, "error": null}\n')
    assert "12 more of what was set apart before" in taken("empty.jsonl", cache="third.sqlite")
    # What comes from elsewhere in the form of an export is imported as ever, in one command with a batch.
    command("export", "export.jsonl", "cache=answers.sqlite")
    assert taken("export.jsonl", "other.sqlite", "done.jsonl", cache="fourth.sqlite").count("\n") == 3


def test_the_file_may_be_named_as_a_run_names_it(here):
    assert "cache=other.sqlite" in command("requests", "out.jsonl", *RUN, "cache.path=other.sqlite").stdout


def test_files_are_cut_by_lines_and_by_megabytes(here):
    assert written("lines=5").count(" requests to gpt4") == 3
    names = ["out.jsonl", "out-2.jsonl", "out-3.jsonl"]
    lines = [(here / name).read_text().splitlines() for name in names]
    assert list(map(len, lines)) == [5, 5, 2] and len({line for file in lines for line in file}) == 12
    written("megabytes=0.005", out="small.jsonl")
    files = list(here.glob("small*.jsonl"))
    assert len(files) > 2 and all(file.stat().st_size < 5000 for file in files)
    assert sum(len(file.read_text().splitlines()) for file in files) == 12
    tiny = command("requests", "tiny.jsonl", *RUN, "cache=answers.sqlite", "megabytes=0.0001")
    assert tiny.returncode == 1 and "more than megabytes=0.0001" in tiny.stderr and not Path("tiny.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    few(
        [
            (["requests", "out.jsonl"], "say whose requests are meant"),
            (["requests", "model=gpt4"], "requests takes one file to write"),
            (["requests", "out.jsonl", "model=always_no"], "batches are lines for the server of an API model"),
            (["requests", "out.jsonl", "model=gtp4"], "gpt4"),
            (["requests", "out.jsonl", "model=gpt4", "task.limt=3"], "did you mean 'task.limit'"),
            (["requests", "out.jsonl", "model=gpt4", f"model.extra.key={KEY}"], "key"),
            (["requests", "folder/", "model=gpt4"], "folder/ is not empty"),
            ([*RANKING, "model.rank=echo"], "ranks by echo"),
            (["import", "requests.jsonl"], "holds requests, not answers"),
        ],
        5,
    ),
)
def test_what_cannot_be_is_one_sentence(here, arguments, sentence):
    (here / "folder" / "more").mkdir(parents=True)
    (here / "requests.jsonl").write_text(json.dumps({"custom_id": "a", "method": "POST", "body": {}}) + "\n")
    done = command(*arguments)
    assert done.returncode == 1 and sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.slow
def test_a_prune_keeps_the_words_of_what_was_written_out(here):
    written()
    first, *_ = (here / "out.jsonl").read_text().splitlines(keepends=True)
    (here / "first.jsonl").write_text(first)
    taken(answered(here / "first.jsonl", here / "one.jsonl"))
    assert "1 answer removed" in command("prune", "model=gpt4", "yes=true", "cache=answers.sqlite").stdout
    assert "11 new" in taken(answered(here / "out.jsonl", here / "done.jsonl"))
    assert command("verify", "cache=answers.sqlite").returncode == 0


def test_a_line_of_any_length_takes_no_more_memory_than_a_reply_may(tmp_path):
    with (tmp_path / "x").open("wb") as file:
        file.write(b'{"custom_id": "1"}\n')
        for _ in range(LONGEST // (1 << 20) + 2):
            file.write(b"x" * (1 << 20))
        file.write(b'\n\n{"custom_id": "2"}')
    with (tmp_path / "x").open("rb") as file:
        assert list(read_lines(file)) == [b'{"custom_id": "1"}\n', None, b'{"custom_id": "2"}']


ASKED = ChatRequest((Message("user", "?"),), 5)
RANKED = ChoiceRequest((Message("user", "?"),), ("Yes", "No"))


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"response": []},
        {"response": {"status_code": "200", "body": {}}},
        {"response": {"status_code": True, "body": None}},
        {"response": {"status_code": 200, "body": "no JSON"}},
        {"response": {"status_code": 200, "body": {"choices": [{"message": {"content": [1]}}]}}},
        {"response": {"status_code": 500, "body": [1, 2]}},
        {"response": None, "error": "words"},
        {"response": None, "error": {"code": 3, "message": {}}},
    ],
)
@pytest.mark.parametrize("request_", [ASKED, RANKED])
def test_a_line_of_any_content_is_a_failure_with_a_name(line, request_):
    for endpoint in (
        Chat(name="m", model="m", base_url="http://x/v1"),
        Completions(name="m", model="m", base_url="http://x/v1"),
    ):
        outcome = outcome_of(line, endpoint, request_)
        assert isinstance(outcome, Failure) and outcome.kind in ("server_error", "invalid_reply"), outcome
