"""A key goes to the server and nowhere else. The canary in conftest.py looks at what each of these tests leaves."""

from __future__ import annotations

import traceback

import pytest
from support.openai_server import KEY, chat_reply, error
from support.outcomes import asked

from harness.errors import ConfigError, RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import Failure

LEAKED = "sk-proj-abcdefghijklmnopqrstuvwxyz"


def chat(url: str, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "gpt-4", "base_url": url, "attempts": 2, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {"extra": {"api_key": "secretpassword"}},
        {"extra": {"extra_headers": {"Authorization": "secretpassword"}}},
        {"extra": {"deep": {"list": [{"password": "secretpassword"}]}}},
        {"extra": {"anything": LEAKED}},
        {"extra": {"anything": f"Bearer {LEAKED[3:]}"}},
        {"extra": {"anything": f"before {KEY} after"}},
        {"base_url": f"http://localhost/{LEAKED}/v1"},
        {"base_url": f"http://localhost/v1?key={KEY}"},
        {"name": KEY},
        {"api_key_env": LEAKED},
        {"base_url": f"http://me:{KEY}@localhost/v1"},
        {"base_url": "me:secretpassword@localhost/v1"},
        {"base_url": "http://localhost/v1?token=secretpassword"},
    ],
)
def test_settings_that_hold_a_key_are_refused_without_being_shown(key, settings):
    with pytest.raises(ConfigError) as refused:
        chat(**{"url": "http://localhost/v1", **{("url" if k == "base_url" else k): v for k, v in settings.items()}})
    said = "".join(traceback.format_exception(refused.value))
    assert KEY not in said and LEAKED not in said and "secretpassword" not in said
    assert "key" in str(refused.value)


def test_settings_that_only_sound_like_one_are_sent(serve, key):
    server = serve()
    extra = {"prompt_cache_key": "corr2cause", "stop_token_ids": [1], "skip_special_tokens": True, "user": "sk"}
    asked(server.url, "?", extra=extra)
    assert extra.items() <= server.calls[0].items()


def test_no_representation_shows_the_key(key):
    for model in (chat("http://localhost/v1"), Completions(name="m", model="x", base_url="http://localhost/v1")):
        assert KEY not in f"{model!r} {model} {vars(model)} {model.identity}"


def test_a_server_that_repeats_the_key_does_not_get_it_into_an_answer_or_a_failure(serve, key):
    def reply(path, body, number):
        text = body["messages"][-1]["content"]
        return error(400, f"bad key {KEY}") if text == "refuse" else chat_reply(f"You sent {KEY}.")

    found = asked(serve(reply).url, "refuse", "answer")
    assert found["answer"].text == "You sent [the key]."
    assert isinstance(found["refuse"], Failure) and found["refuse"].detail == "400: bad key [the key]"


@pytest.mark.parametrize("page", [{"error": {"message": f"bad key {KEY}"}}, f"<p>bad key {KEY}</p>"])
def test_a_server_that_repeats_the_key_does_not_get_it_into_a_traceback(serve, key, page):
    with pytest.raises(RunStopped) as stopped:
        asked(serve(lambda *_: (401, page)).url, "?")
    assert KEY not in "".join(traceback.format_exception(stopped.value))
    assert "refuses the key" in str(stopped.value)
    assert isinstance(page, str) or "bad key [the key]" in str(stopped.value)


GARBLED = (f"HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\nX-{KEY}: x\r\n\r\n", f"HTTP/1.1 2000 {KEY}\r\nX: x\r\n\r\n",
           f"HTTP/1.1 200 OK\r\nX: a\0{KEY}\r\nX: x\r\n\r\n")  # fmt: skip


@pytest.mark.parametrize("sent", GARBLED)
def test_a_key_in_malformed_http_is_not_quoted(raw, key, sent):
    server = raw(lambda *_: (sent.encode(),))
    with pytest.raises(RunStopped) as stopped:
        asked(server.url, *map(str, range(20)), attempts=1)
    assert KEY not in "".join(traceback.format_exception(stopped.value))


def test_a_placeholder_is_a_word_that_replies_may_hold(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert asked(serve(lambda *_: chat_reply("There is none.")).url, "?")["?"].text == "There is none."


def run(harness, url: str, *more: str, **settings):
    arguments = ("model=gpt4", f"model.base_url={url}", "task.limit=5", "model.max_wait=0.1", "debug=true", *more)
    return harness(*arguments, OPENAI_API_KEY=KEY, **settings)


@pytest.mark.slow
def test_no_command_writes_the_key(harness, serve):
    """What the fixtures look at: stdout and stderr of every command, and every file it leaves."""
    good, echo = serve(), serve(lambda *_: error(401, f"no {KEY}"))
    assert run(harness, good.url, fresh=True).returncode == 0
    assert run(harness, good.url).returncode == 0
    assert "[the key]" in run(harness, echo.url, "results=other").stderr
    assert (
        run(harness, serve(lambda *_: error(500, f"no {KEY}")).url, "results=third", "model.attempts=1").returncode == 1
    )
    unread = run(harness, serve(lambda *_: chat_reply(KEY)).url, "results=fourth")
    assert unread.returncode == 1 and "“[the key]”" in unread.stderr
    assert run(harness, good.url, "dry_run=true").returncode == 0
    assert run(harness, good.url, "--cfg", "job", "--resolve").returncode == 0
    assert run(harness, good.url, "-m").returncode == 0
    assert run(harness, "http://127.0.0.1:9/v1", "results=fifth").returncode == 1


def test_a_key_in_the_address_of_the_environment_is_refused(harness):
    done = harness("model=gpt4", "debug=true", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"http://u:{KEY}@localhost/v1")
    assert done.returncode == 1 and "looks like a key" in done.stderr
