"""Models that their makers have shut down: the sentences on them, and where they are shown."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from model_sections import FILES, merged, text_of
from support.openai_server import chat_reply, error

from harness.cli import setting_lines
from harness.cost.budget import Budget
from harness.cost.plan import Plan, Totals, plan_lines
from harness.errors import RunStopped
from harness.models.api.families import makers, plan_note, retired_note
from harness.models.api.openai import Chat, Completions
from harness.types import ChatRequest, Message

OPENAI = "https://api.openai.com/v1"
TODAY = date(2026, 11, 22)
REQUEST = ChatRequest((Message("user", "Does A cause B?"),), 16)


@pytest.mark.parametrize(
    ("model", "day"),
    [
        ("gpt-4", "2026-10-23"),
        ("gpt-4-0613", "2026-10-23"),
        ("gpt-4-1106-preview", "2026-10-23"),
        ("gpt-4-turbo", "2026-10-23"),
        ("gpt-3.5-turbo", "2026-10-23"),
        ("gpt-3.5-turbo-1106", "2026-10-23"),
        ("text-davinci-003", "2024-01-04"),
        ("davinci", "2024-01-04"),
        ("claude-2.1", "2025-07-21"),
        ("gemini-1.0-pro", "2025-04-09"),
    ],
)
def test_what_is_gone_is_dated_and_has_a_successor(model, day):
    note = retired_note(model, OPENAI, TODAY)
    assert f"shut {model} down on {day}" in note and re.search(r"\(model=(\w+)\) may stand in", note)[1] in FILES


@pytest.mark.parametrize(
    "name", [name for name in FILES if name.startswith(("gpt3", "gpt4")) and "# source:" not in text_of(name)]
)
def test_the_papers_own_models_stay_on_the_leaderboard(name):
    note = retired_note(merged(name).model, OPENAI, TODAY)
    assert note.endswith("What the papers print of it stays on the leaderboard.")


def test_what_will_go_is_said_before_and_what_stays_is_not():
    assert retired_note("gpt-4o", OPENAI, TODAY) == (
        "OpenAI shuts gpt-4o down on 2027-01-14: gpt-6-luna (model=gpt6_luna) is to stand in for it."
    )
    assert "shut gpt-4o down" in retired_note("gpt-4o", OPENAI, date(2027, 1, 14))
    assert retired_note("gpt-6.1-sol", OPENAI, TODAY) is None
    assert retired_note("davinci-002", OPENAI, TODAY) is None


def test_before_anything_is_asked_only_the_makers_own_server_is_spoken_of():
    assert plan_note("gpt-4", OPENAI, TODAY) is not None
    assert plan_note("openai/gpt-4", "https://openrouter.ai/api/v1", TODAY) is None
    assert plan_note("gpt-4", "http://localhost:8000/v1", TODAY) is None


@pytest.mark.parametrize(
    ("typed", "suggested"), [("gpt40", "gpt4o"), ("gpt4x", "gpt4o"), ("gpt4_turb", "gpt4_turbo"), ("gtp4", "gpt4")]
)
def test_of_equally_near_names_one_that_was_not_shut_down_is_suggested(monkeypatch, typed, suggested):
    monkeypatch.setattr(setting_lines, "_today", lambda: TODAY)
    assert f"{typed!r} (did you mean {suggested!r}?)" in setting_lines.unknown_choice("model", typed, FILES)


def test_a_name_that_a_server_may_have_is_told_how_it_is_written():
    written = "A model of a server is model=openai model.model=mine model.base_url=URL."
    assert setting_lines.unknown_choice("model", "mine", FILES).endswith(written)
    assert written not in setting_lines.unknown_choice("task", "mine", FILES)


def test_every_row_has_a_preset_and_is_reached():
    for rows in makers().values():
        assert re.fullmatch(r"https://\S+ \(20\d\d-\d\d-\d\d\)", rows.source)
        for row in rows.models:
            assert merged(row.preset).model == row.instead
            for glob in row.match:
                name = re.sub(r"\[(.).*?\]", r"\1", glob).replace("*", "")
                assert f" {row.date}:" in retired_note(name, OPENAI, TODAY), f"{glob}: an earlier row takes it"


def test_the_plan_says_it(key):
    plan = Plan(items=2, questions=Totals(calls=2, input=20, output_least=2, output_most=32))
    told = [
        list(plan_lines(plan, replace(merged("gpt4"), base_url=url), None, Budget(), paid=False))
        for url in (OPENAI, "http://localhost:1/v1")
    ]
    assert "shut gpt-4 down on 2026-10-23" in told[0][1]
    assert not any("shut" in line for line in told[1])


@pytest.mark.parametrize(
    "reply",
    [
        error(404, "The model `gpt-4` does not exist or you do not have access to it.", "model_not_found"),
        error(404, "The model `gpt-4` has been deprecated, learn more here: …", "model_not_found"),
        error(400, "gpt-4 is not a valid model ID"),
        error(400, "Model Not Exist", "invalid_request_error"),
        error(410, "gpt-4 has been retired", "model_retired"),
        (400, {"object": "error", "message": "Invalid model: gpt-4", "type": "invalid_model", "code": "1500"}),
    ],
    ids=["OpenAI", "OpenAI, deprecated", "OpenRouter", "DeepSeek", "gone", "Mistral"],
)
@pytest.mark.parametrize("kind", [Chat, Completions])
def test_a_server_that_does_not_know_it_ends_the_run_with_the_date(reply, kind, serve, key):
    server = serve(lambda *_: reply)
    with pytest.raises(RunStopped, match=r"shut gpt-4 down on 2026-10-23: .+leaderboard\. Answers so far are kept\.$"):
        list(kind(name="m", model="gpt-4", base_url=server.url).respond([REQUEST]))
    assert len(server.calls) == 1


def test_another_refusal_says_nothing_of_it(serve, key):
    server = serve(lambda *_: error(404, "No endpoints found that can handle the requested parameters."))
    with pytest.raises(RunStopped) as stopped:
        list(Chat(name="m", model="openai/gpt-4", base_url=server.url).respond([REQUEST]))
    assert "shut" not in str(stopped.value)


def test_it_still_works_where_a_server_serves_it(serve, key):
    server = serve(lambda *_: chat_reply("Yes"))
    (((_, response),),) = replace(merged("gpt4"), base_url=server.url).respond([REQUEST])
    assert response.text == "Yes" and server.calls[0]["model"] == "gpt-4"
