"""A key goes to the server and nowhere else. The canary in conftest.py looks at what each of these tests leaves."""

from __future__ import annotations

import base64
import json
import re
import time
import traceback
from html import unescape
from urllib.parse import unquote

import pytest
from openai_server import KEY, chat_reply, error
from raw_server import RawServer, http

from harness.errors import ConfigError, RunStopped
from harness.models.openai import Chat, Completions
from harness.models.secrets import Secret
from harness.types import ChatRequest, Failure, Message

LEAKED = "sk-proj-abcdefghijklmnopqrstuvwxyz"


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=16)


def chat(url: str, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "gpt-4", "base_url": url, "max_wait": 0.1, "attempts": 2, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {"extra": {"api_key": "x"}},
        {"extra": {"headers": {"X-Key": "x"}}},
        {"extra": {"extra_headers": {"Authorization": "x"}}},
        {"extra": {"deep": {"list": [{"password": "x"}]}}},
        {"extra": {"anything": LEAKED}},
        {"extra": {"anything": f"Bearer {LEAKED[3:]}"}},
        {"extra": {"anything": f"before {KEY} after"}},
        {"base_url": f"http://localhost/{LEAKED}/v1"},
        {"base_url": f"http://localhost/v1?key={KEY}"},
        {"endpoint": KEY},
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
    list(chat(server.url, extra=extra).respond([ask("?")]))
    assert extra.items() <= server.calls[0].items()


def test_no_representation_shows_the_key(key):
    for model in (chat("http://localhost/v1"), Completions(name="m", model="x", base_url="http://localhost/v1")):
        assert KEY not in f"{model!r} {model} {vars(model)} {model.identity}"


def test_a_server_that_repeats_the_key_does_not_get_it_into_an_answer_or_a_failure(serve, key):
    def reply(path, body, number):
        text = body["messages"][-1]["content"]
        return error(400, f"bad key {KEY}") if text == "refuse" else chat_reply(f"You sent {KEY}.")

    found = dict(chat(serve(reply).url).respond([ask("refuse"), ask("answer")]))
    assert found[ask("answer")].text == "You sent [the key]."
    assert isinstance(found[ask("refuse")], Failure) and found[ask("refuse")].detail == "400: bad key [the key]"


@pytest.mark.parametrize("page", [{"error": {"message": f"bad key {KEY}"}}, f"<p>bad key {KEY}</p>"])
def test_a_server_that_repeats_the_key_does_not_get_it_into_a_traceback(serve, key, page):
    with pytest.raises(RunStopped) as stopped:
        list(chat(serve(lambda *_: (401, page)).url).respond([ask("?")]))
    assert KEY not in "".join(traceback.format_exception(stopped.value))
    assert "refuses the key" in str(stopped.value)
    assert isinstance(page, str) or "bad key [the key]" in str(stopped.value)


ENCODED = {
    "escaped": "".join(f"\\u{ord(sign):04x}" for sign in KEY),
    "escaped, capitals": "".join(f"\\u{ord(sign):04X}" for sign in KEY),
    "escaped here and there": KEY[:5] + f"\\u{ord(KEY[5]):04x}" + KEY[6:],
    "escaped twice": "".join(f"\\\\u{ord(sign):04x}" for sign in KEY),
    "percent": "".join(f"%{ord(sign):02X}" for sign in KEY),
    "percent twice": "".join(f"%25{ord(sign):02x}" for sign in KEY),
    "entities": "".join(f"&#{ord(sign)};" for sign in KEY),
    "entities in hexadecimal": "".join(f"&#x{ord(sign):x};" for sign in KEY),
    "entities of entities": "".join(f"&amp;#{ord(sign)};" for sign in KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 in a header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64 of user and key": base64.b64encode(f"me:{KEY}".encode()).decode(),
}
CODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]


def decoded(text: str) -> str:
    """A text with its escapes and references undone, until nothing changes."""
    for _ in range(5):
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda sign: chr(int(sign[1], 16)), unescape(unquote(text)))
    return text


@pytest.mark.parametrize("way", ENCODED)
@pytest.mark.parametrize("place", ["answer", "name of a field", "served model", "refusal", "error", "page"])
def test_a_key_that_a_server_repeats_in_another_spelling_is_hidden(key, way, place):
    """In what is answered, recorded or shown; the canary looks at files and outputs for the key as it is."""
    spelt = ENCODED[way]
    bodies = {
        "answer": reply_with("answer", f"You sent {spelt}."),
        "name of a field": reply_with("field", spelt),
        "served model": reply_with("model", spelt),
        "refusal": reply_with("refusal", spelt),
        "error": b'{"error": {"message": "bad key %b", "code": "%b"}}' % (spelt.encode(), spelt.encode()),
        "page": b"<p>bad key %b</p>" % spelt.encode(),
    }
    status = 400 if place in ("error", "page") else 200
    server = RawServer(lambda *_: http(bodies[place], status=status))
    try:
        (outcome,) = dict(chat(server.url, attempts=1).respond([ask("?")])).values()
    finally:
        server.close()
    shown = repr(outcome)
    assert place == "name of a field" or "[the key]" in shown
    assert KEY not in decoded(shown) and KEY[4:] not in decoded(shown)
    assert base64.b64encode(KEY.encode()).decode()[:-4] not in shown


def reply_with(place: str, words: str) -> bytes:
    """A reply as it is sent, byte for byte: no encoder of ours touches the words."""
    message = {"answer": b'"content": "%b"', "refusal": b'"content": null, "refusal": "%b"'}.get(
        place, b'"content": "No"'
    )
    model = b'"%b"' % words.encode() if place == "model" else b'"m"'
    field = b'"%b": 1, ' % words.encode() if place == "field" else b""
    filled = message % words.encode() if b"%b" in message else message
    return b'{%b"model": %b, "choices": [{"message": {%b}, "finish_reason": "stop"}]}' % (field, model, filled)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("page", [False, True])
def test_a_key_in_another_coding_of_letters_is_hidden(key, coding, status, page):
    body = (
        f"<p>bad key {KEY} x</p>" if page else json.dumps(chat_reply(f"You sent {KEY}.") | {"error": f"bad key {KEY}"})
    )
    sent = (b"<html>" if page else b"") + body.encode(coding)  # a page may be a mixture
    server = RawServer(lambda *_: http(sent, status=status))
    try:
        (outcome,) = dict(chat(server.url, attempts=1).respond([ask("?")])).values()
    finally:
        server.close()
    assert KEY not in repr(outcome) and KEY not in re.sub(r"[^\w-]", "", repr(outcome))
    assert "[the key]" in repr(outcome) or (page and status == 200)


@pytest.mark.parametrize("head", [f"X-{KEY}", f"HTTP/1.1 2000 {KEY}\r\nX", f"X: a\0{KEY}\r\nX"])
def test_a_key_in_malformed_http_is_not_quoted(key, head):
    sent = (
        f"{head}: x\r\n\r\n"
        if head.startswith("HTTP")
        else f"HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n{head}: x\r\n\r\n"
    )
    server = RawServer(lambda *_: (sent.encode(),))
    try:
        with pytest.raises(RunStopped) as stopped:
            list(chat(server.url, attempts=1).respond([ask(str(k)) for k in range(20)]))
    finally:
        server.close()
    assert KEY not in "".join(traceback.format_exception(stopped.value))


def test_what_is_no_key_stays_as_it_is():
    secret = Secret(KEY)
    for value in ("100%", "%73k-", "a\\b\\\\c", '"quoted"\n', "&#115;k-", "\u0073k", KEY[:-1], "", "\ud800 %"):
        for text in (json.dumps(value), json.dumps({value: [value]}, ensure_ascii=False)):
            body = text.encode(errors="surrogatepass")
            assert secret.loads(body) == json.loads(body)


@pytest.mark.parametrize(
    "text", ["\\" * 200_000, "%25" * 200_000, "&amp;" * 200_000, (KEY[:-1] + "\\") * 10_000, "&#0" * 100_000]
)
def test_no_text_takes_long_to_look_through(text):
    began = time.process_time()
    Secret(KEY).hidden(text)
    assert time.process_time() - began < 20


def test_a_placeholder_is_a_word_that_replies_may_hold(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    found = dict(chat(serve(lambda *_: chat_reply("There is none.")).url).respond([ask("?")]))
    assert found[ask("?")].text == "There is none."
    assert Secret("none").loads(b'"none"') == "none"


def run(harness, url: str, *more: str, **settings):
    arguments = ("model=gpt4", f"model.base_url={url}", "task.limit=5", "model.max_wait=0.1", "debug=true", *more)
    return harness(*arguments, OPENAI_API_KEY=KEY, **settings)


def test_no_command_writes_the_key(harness, serve):
    """What the fixtures look at: stdout and stderr of every command, and every file it leaves."""
    good, echo = serve(), serve(lambda *_: error(401, f"no {KEY}"))
    # The SDK reads the variable when it is imported.
    assert run(harness, good.url, OPENAI_LOG="debug", fresh=True).returncode == 0
    assert run(harness, good.url).returncode == 0
    assert "[the key]" in run(harness, echo.url, "results=other").stderr
    assert (
        run(harness, serve(lambda *_: error(500, f"no {KEY}")).url, "results=third", "model.attempts=1").returncode == 1
    )
    assert run(harness, serve(lambda *_: chat_reply(KEY)).url, "results=fourth").returncode == 0
    assert run(harness, good.url, "dry_run=true").returncode == 0
    assert run(harness, good.url, "--cfg", "job", "--resolve").returncode == 0
    assert run(harness, good.url, "-m").returncode == 0
    assert run(harness, "http://127.0.0.1:9/v1", "results=fifth").returncode == 1


def test_a_key_in_the_address_of_the_environment_is_refused(harness):
    done = harness("model=gpt4", "debug=true", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"http://u:{KEY}@localhost/v1")
    assert done.returncode == 1 and "looks like a key" in done.stderr
